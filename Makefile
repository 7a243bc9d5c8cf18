# make lab    set up all and open the workbook in JupyterLab
# make test   set up all and run every check and test that needs no GPU
# make test-cuda   the same for what differs where numba-cuda is installed; needs no GPU either
# Each makes its environment on the first call and again only when the locks have changed.

PYTHON ?= python3
ifeq ($(OS),Windows_NT)
  PYTHON := python
  BIN := .venv/Scripts
  CUDA_BIN := .venv-cuda/Scripts
else
  BIN := .venv/bin
  CUDA_BIN := .venv-cuda/bin
endif
DIR ?= my-notebooks
WITH_NUMBA_CUDA := tests/cuda tests/kernels tests/simt/test_cases.py tests/simt/test_frontend.py tests/simt/test_frontend_forms.py \
  tests/simt/test_language_refused.py tests/simt/test_typing.py

.PHONY: lab test test-cuda setup setup-dev setup-cuda lint types unit notebooks mutants format slow clean

lab: setup
	$(BIN)/python -m wia_lab start $(DIR)

test: setup-dev lint types notebooks mutants unit

test-cuda: setup-cuda
	$(CUDA_BIN)/python -m wia_lab doctor --warm --quiet
	$(CUDA_BIN)/python -m pytest -n auto -m "not slow and not gpu" $(WITH_NUMBA_CUDA)

setup:
	@$(PYTHON) tools/setup_venv.py base

setup-dev:
	@$(PYTHON) tools/setup_venv.py dev

setup-cuda:
	@$(PYTHON) tools/setup_venv.py cuda

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup-dev
	$(BIN)/mypy

notebooks: setup-dev
	$(BIN)/python -m wia_lab build --check

# The kill rate: every wrong answer of tests/mutants must get its diagnosis
mutants: setup-dev
	$(BIN)/python -m wia_lab doctor --warm --quiet
	$(BIN)/python -m wia_lab check --mutants

unit: setup-dev
	$(BIN)/python -m wia_lab doctor --warm --quiet
	$(BIN)/python -m pytest -n auto -m "not slow and not gpu"

slow: setup-dev
	$(BIN)/python -m pytest -m "slow and not gpu"

format: setup-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv .venv-cuda build dist
