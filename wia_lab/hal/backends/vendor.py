"""What the vendor's libraries compute: products by CuPy's cuBLAS, convolutions by PyTorch's cuDNN.

Both are found where they are installed, and imported when they first compute.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wia_lab.hal.backends.hardware_streams import HardwareStream
    from wia_lab.hal.ops.operation import Operation

CONVOLUTION = "conv2d"


def lacks(operation: Operation) -> str:
    """Why the operation cannot be had from them; empty where it can."""
    if operation.name != CONVOLUTION:
        there = importlib.util.find_spec("cupy")
        return "" if there else "CuPy, by which cuBLAS is called, is not installed"
    if importlib.util.find_spec("torch") is None:
        return "PyTorch, by which cuDNN is called, is not installed"
    if any(0 in each.shape for each in operation.inputs):
        return "PyTorch refuses a convolution of nothing"
    if any(stride < 0 for each in operation.inputs for stride in each.strides):
        return "PyTorch has no tensors that go backwards through memory"
    return ""


def compute(
    stream: HardwareStream, device: int, operation: Operation, arrays: Sequence[Any]
) -> None:
    """Put it in the stream; `arrays` are those of numba-cuda, the output last."""
    made_by = _convolution if operation.name == CONVOLUTION else _product
    made_by(stream, device, operation, *arrays)


def _product(
    stream: HardwareStream, device: int, operation: Operation, a: Any, b: Any, out: Any
) -> None:
    del operation  # which has no options
    cupy = importlib.import_module("cupy")
    make = getattr(cupy.cuda.Stream, "from_external", None)
    shown = make(stream) if make else cupy.cuda.ExternalStream(int(stream.pointer), device)
    with cupy.cuda.Device(device), shown:
        cupy.matmul(cupy.asarray(a), cupy.asarray(b), out=cupy.asarray(out))


def _convolution(
    stream: HardwareStream, device: int, operation: Operation, x: Any, weight: Any, out: Any
) -> None:
    torch = importlib.import_module("torch")
    shown = torch.cuda.ExternalStream(int(stream.pointer), device=device)
    # TF32 would keep 10 bits of a float32's 23
    exactly = torch.backends.cudnn.flags(enabled=True, benchmark=False, allow_tf32=False)
    with torch.no_grad(), torch.cuda.stream(shown), exactly:
        image, taps, result = (
            torch.as_tensor(each, device=f"cuda:{device}") for each in (x, weight, out)
        )
        options = {name: operation.options[name] for name in ("stride", "padding", "dilation")}
        made = torch.nn.functional.conv2d(
            image, taps, groups=operation.options["groups"], **options
        )
        result.copy_(made)
