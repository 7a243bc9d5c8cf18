# make lab    set up all and open the workbook in JupyterLab
# make test   set up all and run every check and test that needs no GPU
# Each makes .venv on the first call and again only when the locks have changed.

PYTHON ?= python3
ifeq ($(OS),Windows_NT)
  PYTHON := python
  BIN := .venv/Scripts
else
  BIN := .venv/bin
endif
DIR ?= my-notebooks

.PHONY: lab test setup setup-dev lint types unit notebooks format slow clean

lab: setup
	$(BIN)/python -m wia_lab start $(DIR)

test: setup-dev lint types notebooks unit

setup:
	@$(PYTHON) tools/setup_venv.py base

setup-dev:
	@$(PYTHON) tools/setup_venv.py dev

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup-dev
	$(BIN)/mypy

notebooks: setup-dev
	$(BIN)/python -m wia_lab build --check

unit: setup-dev
	$(BIN)/python -m wia_lab doctor --warm --quiet
	$(BIN)/python -m pytest -n auto -m "not slow and not gpu"

slow: setup-dev
	$(BIN)/python -m pytest -m "slow and not gpu"

format: setup-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv build dist
