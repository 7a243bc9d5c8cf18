"""Full-size inputs, float64 references and vendor libraries on a GPU, by PyTorch.

Nothing here is imported without a GPU: PyTorch is no dependency of the package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wia_lab.kernels.convolution import HALO, TAPS
from wia_lab.kernels.ladder import ceil_div
from wia_lab.kernels.reduction import BLOCK
from wia_lab.kernels.rows import EPSILON
from wia_lab.kernels.stencil import ALPHA
from wia_lab.kernels.vector import FACTOR


def full_arguments(topic: str, size: tuple[int, ...]) -> list[Any]:
    """A topic's arguments as PyTorch tensors on the GPU, random, the output first."""
    import torch  # noqa: PLC0415 - hardware only

    torch.manual_seed(11)

    def made(*shape: int) -> Any:
        return torch.empty(shape, device="cuda").uniform_(-1, 1)

    def empty(*shape: int) -> Any:
        return torch.empty(shape, device="cuda")

    if topic == "vector-add":
        return [empty(*size), made(*size), made(*size)]
    if topic == "axpy":
        return [empty(*size), made(*size), made(*size), empty(*size)]
    if topic == "convolution":
        return [empty(*size), made(*size), made(TAPS)]
    if topic == "transpose":
        return [empty(*reversed(size)), made(*size)]
    if topic in {"copy", "stencil"}:
        return [empty(*size), made(*size)]
    if topic == "reduction":
        return [empty(1), made(*size).abs_(), empty(ceil_div(size[0], BLOCK))]
    if topic == "scan":
        return [empty(*size), made(*size).abs_(), empty(ceil_div(size[0], BLOCK))]
    if topic == "softmax":
        return [empty(*size), made(*size) * 20]
    if topic == "layer-norm":
        return [empty(*size), made(*size) + 3, made(size[1]), made(size[1])]
    if topic == "histogram":
        data = torch.randint(0, 256, size, dtype=torch.uint8, device="cuda")
        return [torch.zeros(256, dtype=torch.int32, device="cuda"), data]
    if topic.startswith("matmul"):
        m, n, k = size
        kind = torch.float16 if topic.endswith("float16") else torch.float32
        return [empty(m, n), made(m, k).to(kind), made(k, n).to(kind)]
    batch, inputs, outputs, rows, columns = size
    images, weights = made(batch, inputs, rows, columns), made(inputs, 3, 3, outputs)
    whole = (batch, outputs, rows, columns)
    if topic == "convolution-2d":
        return [empty(*whole), images, weights]
    if topic == "conv-norm-relu-pool":
        pooled = empty(batch, outputs, rows // 2, columns // 2)
        return [pooled, images, weights, made(outputs), made(outputs), empty(*whole), empty(*whole)]
    raise KeyError(f"no full-size arguments for the topic {topic!r}")


def full_reference(topic: str, tensors: list[Any]) -> Any:
    """What the output, or its first images, must hold: float64, by PyTorch."""
    import torch  # noqa: PLC0415 - hardware only
    from torch.nn import functional  # noqa: PLC0415 - hardware only

    _, a, *rest = tensors
    if topic == "vector-add":
        return a.double() + rest[0]
    if topic == "axpy":
        return a.double() * float(FACTOR) + rest[0]
    if topic == "copy":
        return a.double()
    if topic == "transpose":
        return a.T.double()
    if topic == "convolution":
        padded = functional.pad(a, (HALO, HALO))
        weights = rest[0].tolist()
        total = torch.zeros(a.shape, dtype=torch.float64, device="cuda")
        for k in range(TAPS):
            total.add_(padded[k : k + a.numel()].double(), alpha=weights[k])
        return total
    if topic == "stencil":
        wide = functional.pad(a.double(), (1, 1, 1, 1))
        around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
        return a + float(ALPHA) * (around - 4 * a.double())
    if topic == "reduction":
        return a.double().sum().reshape(1)
    if topic == "scan":
        return a.double().cumsum(0)
    if topic == "softmax":
        return a.double().softmax(1)
    if topic == "layer-norm":
        factors = [each.double() for each in rest]
        return functional.layer_norm(a.double(), a.shape[1:], *factors, eps=float(EPSILON))
    if topic == "histogram":
        return torch.bincount(a, minlength=256).double()
    if topic.startswith("matmul"):
        return a.double() @ rest[0].double()
    made = functional.conv2d(a[:1].double(), _as_torch(rest[0]).double(), padding=1)
    if topic == "convolution-2d":
        return made
    scale, shift = (each.double()[:, None, None] for each in rest[1:3])
    return functional.max_pool2d((made * scale + shift).relu(), 2)


def _as_torch(weights: Any) -> Any:
    """Weights (inputs, 3, 3, outputs) as PyTorch wants them: (outputs, inputs, 3, 3)."""
    return weights.permute(3, 0, 1, 2).contiguous()


def vendor(topic: str, tensors: list[Any]) -> Callable[[], Any]:
    """cuBLAS's matrix product or cuDNN's convolution of the same tensors, TF32 off.

    cuDNN chooses its fastest algorithm by trying them. The fused block's four layers are held
    against cuDNN's convolution alone.
    """
    import torch  # noqa: PLC0415 - hardware only

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    if topic.startswith("matmul"):
        out = torch.empty(tensors[0].shape, dtype=tensors[1].dtype, device="cuda")
        return lambda: torch.mm(tensors[1], tensors[2], out=out)
    images, weights = tensors[1], _as_torch(tensors[2])
    return lambda: torch.nn.functional.conv2d(images, weights, padding=1)
