"""The front end gives every variable numba-cuda's type, and refuses what numba-cuda refuses.

The expected answers are numba-cuda's own, recorded by `record_typing.py`; where numba-cuda is
installed they are also taken afresh.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import types as pytypes
from pathlib import Path

import pytest
from numba import types

from wia_lab.simt import device_functions, frontend

sys.path.insert(0, str(Path(__file__).parent))  # the tools beside this file
import typing_tools  # noqa: E402

RECORD = json.loads((typing_tools.HERE / "typing_expected.json").read_text())
EXPECTED = RECORD["kernels"]
SAME_BYTECODE = ".".join(platform.python_version_tuple()[:2]) == RECORD["python"]
CORPUS = typing_tools.load(
    typing_tools.HERE / "typing_corpus.py", pytypes.ModuleType("wia_lab.cuda")
)


def answer(name: str) -> dict:
    """What the front end says of a kernel of the corpus, in the form of the record."""
    function, argument_types, device = CORPUS.KERNELS[name]
    try:
        typed = frontend.type_function(function, argument_types, kernel=not device)
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)}
    return {"error": None, "types": typing_tools.written(typed.typemap)}


def test_the_record_covers_the_corpus() -> None:
    """No kernel lacks an answer of numba-cuda, and at least 100 are accepted and 100 refused."""
    assert sorted(EXPECTED) == sorted(CORPUS.KERNELS)
    refused = sum(1 for each in EXPECTED.values() if each["error"])
    assert refused >= 100
    assert len(EXPECTED) - refused >= 100


def names(*, refused: bool) -> list[str]:
    """Kernels that numba-cuda refuses, or accepts."""
    return [name for name, each in EXPECTED.items() if bool(each["error"]) is refused]


@pytest.mark.parametrize("name", names(refused=False))
def test_types_are_numba_cudas(name: str) -> None:
    """Variable by variable; between versions of Python, by the source's variables."""
    found = answer(name)
    assert found["error"] is None, found["message"]
    if SAME_BYTECODE:
        assert found["types"] == EXPECTED[name]["types"]
    else:
        source = typing_tools.by_source_name
        assert source(found["types"]) == source(EXPECTED[name]["types"])


@pytest.mark.parametrize("name", names(refused=True))
def test_refusals_are_numba_cudas(name: str) -> None:
    """The same class of error, whose first line says where and what in one sentence."""
    found = answer(name)
    assert found["error"] == EXPECTED[name]["error"]
    first = found["message"].splitlines()[0]
    code = CORPUS.KERNELS[name][0].__code__
    file, line, rest = first.split(":", 2)
    assert file.endswith(".py") or file == "<string>"
    assert int(line) >= 1
    assert rest.startswith(f" in {code.co_name}, ")
    assert first.endswith(".")
    assert "\x1b" not in first


@pytest.mark.parametrize("kept", range(1, 9))
@pytest.mark.parametrize("name", ["calls_recursion", "calls_mutual_recursion"])
def test_recursion_however_full_the_store_is(name, kept, monkeypatch) -> None:
    """Functions that are being typed stay known, however many were typed before."""
    monkeypatch.setattr(device_functions, "_functions", {})
    monkeypatch.setattr(device_functions, "_FUNCTIONS_KEPT", kept)
    for before in ("calls_local_sum", "calls_returns_argument", name, name):
        found = answer(before)
    assert found["error"] == EXPECTED[name]["error"]
    if name == "calls_mutual_recursion":
        assert "is_odd and is_even call each other" in found["message"].splitlines()[0]


def test_types_without_numba_cuda(tmp_path) -> None:
    """Typing needs neither numba.cuda nor a code generator of it, and imports none."""
    script = (
        "import sys, types\n"
        "from numba import float32\n"
        "from wia_lab.simt import frontend\n"
        "cuda = types.ModuleType('wia_lab.cuda')\n"
        "def k(a):\n"
        "    a[cuda.grid(1)] = cuda.blockDim.x\n"
        "frontend.type_function(k, (float32[::1],))\n"
        "assert not any(m.startswith('numba.cuda') for m in sys.modules)\n"
        "assert not any('nvvm' in m or 'cuda.bindings' in m for m in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.filterwarnings("ignore")  # numba-cuda's own
@pytest.mark.parametrize(
    "every", [29, pytest.param(1, marks=pytest.mark.slow)], ids=["sample", "all"]
)
def test_the_record_is_current(every) -> None:
    """Where numba-cuda is installed: compiled again, a kernel gives what is recorded."""
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    import numba.cuda.dispatcher
    import record_typing

    numba.cuda.dispatcher.get_current_device = record_typing.H200
    recorder = record_typing.Recorder()
    corpus = typing_tools.load(typing_tools.HERE / "typing_corpus.py", numba.cuda)
    for name, entry in list(corpus.KERNELS.items())[::every]:
        today = recorder.record(*entry)
        for answer in (today, known := dict(EXPECTED[name])):
            answer.pop("message", None)
            if answer["error"]:  # how far typing went before it depends on the order of a set
                answer.pop("types", None)
            if not SAME_BYTECODE and "types" in answer:
                answer["types"] = typing_tools.by_source_name(answer["types"])
        assert today == known, name


def test_names_of_numba_cuda_itself() -> None:
    """A learner's `from numba import cuda` gives the same types as `wia_lab.cuda`."""
    pytest.importorskip("numba.cuda", reason="this numba has no numba.cuda")
    corpus = typing_tools.load(typing_tools.HERE / "typing_corpus.py", sys.modules["numba.cuda"])
    for name in ("tiled_matmul", "atomics", "votes", "shuffles", "libdevice_functions"):
        function, argument_types, _ = corpus.KERNELS[name]
        typed = frontend.type_function(function, argument_types)
        found, known = typing_tools.written(typed.typemap), EXPECTED[name]["types"]
        if not SAME_BYTECODE:
            found, known = map(typing_tools.by_source_name, (found, known))
        assert found == known


def test_the_readonly_flag_survives() -> None:
    """A read-only array stays so in the types of what is loaded from it."""
    corpus = CORPUS

    def view(a, out):
        part = a[1:]
        out[0] = part[0]

    typed = frontend.type_function(view, (corpus.f4_ro, corpus.f4))
    assert typed.typemap["part"] == types.Array(types.float32, 1, "C", readonly=True)
