"""Record what numba-cuda's own compiler says of the typing corpus.

    PYTHON_WITH_NUMBA_CUDA tests/simt/record_typing.py

writes tests/simt/typing_expected.json. It needs no GPU: kernels are compiled to PTX for sm_90.
Types are taken after type inference, refusals from the whole compilation, linking included: a
symbol that neither CUDA nor Numba's device library has is a LinkerError.
"""

from __future__ import annotations

import json
import platform
import re
import sys
import warnings
from pathlib import Path

import numba
import numba.cuda.dispatcher
import numba_cuda
from numba import cuda, types
from numba.cuda.core import typed_passes

sys.path.insert(0, str(Path(__file__).parent))
import typing_tools  # noqa: E402

HERE = Path(__file__).parent
#: Device runtime, and what numba-cuda compiles and links itself (float16, reshape).
_KNOWN_SYMBOLS = re.compile(
    r"vprintf|__assertfail|cudaCG|__nv_|_nbst$|numba_cuda|numba_attempt_nocopy_reshape"
)


class H200:
    """Stands for the current device, which device functions are compiled for."""

    compute_capability = (9, 0)


class Recorder:
    """Keeps the types of one function after inference, before anything is lowered."""

    def __init__(self) -> None:
        self.function: object = None
        self.typemap: dict | None = None
        original = typed_passes.BaseTypeInference.run_pass

        def run_pass(this: object, state: object) -> bool:
            done = original(this, state)
            if state.func_id.func is self.function:
                self.typemap = dict(state.typemap)
            return done

        typed_passes.BaseTypeInference.run_pass = run_pass

    def record(self, function: object, argument_types: tuple, device: bool) -> dict:
        """Types, or the error's class, of one kernel."""
        self.typemap, self.function = None, function
        signature = argument_types if device else types.void(*argument_types)
        answer: dict = {"error": None}
        try:
            ptx, _ = cuda.compile_ptx(function, signature, device=device, cc=(9, 0))
            missing = [
                line
                for line in re.findall(r"\.extern \.func[^;]*?(\w+)\s*\(", ptx)
                if not _KNOWN_SYMBOLS.search(line)
            ]
            if missing:
                answer["error"] = "LinkerError"
                answer["message"] = " ".join(missing)
        except Exception as error:
            answer["error"] = type(error).__name__
            answer["message"] = str(error)[:400]
        if self.typemap is not None:
            answer["types"] = typing_tools.written(self.typemap)
        return answer


def main() -> None:
    """Write the record."""
    warnings.simplefilter("ignore")
    numba.cuda.dispatcher.get_current_device = H200
    recorder = Recorder()
    corpus = typing_tools.load(HERE / "typing_corpus.py", cuda)
    record = {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numba": numba.__version__,
        "numba_cuda": numba_cuda.__version__,
        "kernels": {name: recorder.record(*entry) for name, entry in corpus.KERNELS.items()},
    }
    target = HERE / "typing_expected.json"
    target.write_text(json.dumps(record, indent=1) + "\n")
    refused = sum(1 for each in record["kernels"].values() if each["error"])
    sys.stdout.write(f"{len(record['kernels'])} kernels, {refused} refused: {target}\n")


if __name__ == "__main__":
    main()
