"""Every reference kernel and every case has the types that numba-cuda's own compiler gives it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numba
import pytest

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("numba_cuda") is None,
        reason="numba-cuda is not installed: it is in the extras cuda12 and cuda13",
    ),
    pytest.mark.filterwarnings("ignore"),  # what numba-cuda warns of is not ours
]

TESTS = Path(__file__).parent.parent
for folder in ("simt", "simt/cases", "kernels"):
    sys.path.insert(0, str(TESTS / folder))


def numba_cudas(kernel, kinds, monkeypatch) -> dict:
    """Types that numba-cuda infers for a kernel, or the name of the error it raises."""
    import typing_tools
    from numba.cuda.core import typed_passes

    from wia_lab.cuda.rebind import compile_ptx

    found: dict = {}
    original = typed_passes.BaseTypeInference.run_pass

    def run_pass(this, state) -> bool:
        done = original(this, state)
        if state.func_id.func.__code__ is kernel.py_func.__code__:
            found.update(state.typemap)
        return done

    monkeypatch.setattr(typed_passes.BaseTypeInference, "run_pass", run_pass)
    try:
        compile_ptx(kernel, kinds, (9, 0))
    except Exception as error:
        return {"error": type(error).__name__}
    return typing_tools.by_source_name(typing_tools.written(found))


def ours(kernel, kinds) -> dict:
    """The same from the simulator's front end."""
    import typing_tools

    from wia_lab.simt import frontend

    try:
        typed = frontend.type_function(kernel.py_func, kinds)
    except Exception as error:
        return {"error": type(error).__name__}
    return typing_tools.by_source_name(typing_tools.written(typed.typemap))


def test_reference_kernels(monkeypatch) -> None:
    """All steps of all ladders, for the arguments of their launches."""
    from test_ladders_compile import launched

    assert len(launched()) > 40
    for name, (kernel, arguments) in launched().items():
        kinds = tuple(numba.typeof(each) for each in arguments)
        with monkeypatch.context() as patch:
            assert ours(kernel, kinds) == numba_cudas(kernel, kinds, patch), name


def test_cases(monkeypatch) -> None:
    """All kernels that the cases launch, also those that both refuse."""
    import test_cases as cases

    from wia_lab.cuda.kernel import ConfiguredKernel
    from wia_lab.simt import launch

    launched: dict = {}
    running: list = []
    call, typed = ConfiguredKernel.__call__, launch._typed

    def calling(configured, *args):
        running.append(configured.kernel)
        return call(configured, *args)

    def typing(py_func, kinds):
        launched[running[-1], kinds] = None
        return typed(py_func, kinds)

    with monkeypatch.context() as patch:
        patch.setattr(ConfiguredKernel, "__call__", calling)
        patch.setattr(launch, "_typed", typing)
        for case in cases.CASES:
            cases.test_case(case)
    assert len(launched) > 60
    for kernel, kinds in launched:
        with monkeypatch.context() as patch:
            expected = numba_cudas(kernel, kinds, patch)
        assert ours(kernel, kinds) == expected, kernel.py_func.__code__
