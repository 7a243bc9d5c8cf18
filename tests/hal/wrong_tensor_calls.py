"""Public calls of tensors and operations; as in `wrong_device_calls`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import wia_lab.hal as wia

sys.path.insert(0, str(Path(__file__).parent))

from wrong_world import STREAM, Call, its, just, plain, starred

TENSOR_CALLS: dict[str, Call] = {
    "default_stream": (plain(wia.default_stream), {"context": ("context", its("context"))}),
    "empty": (
        plain(wia.empty),
        {
            "context": ("context", its("context")),
            "shape": ("from 0", just((2, 2))),
            "dtype": ("type", just("float32")),
            "memory": ("nothing", just(wia.MemoryKind.DEVICE)),
            "name": ("name", just("t")),
        },
    ),
    "from_numpy": (
        plain(wia.from_numpy),
        {
            "context": ("own context", its("context")),
            "array": ("array", just(np.ones(4))),
            "memory": ("nothing", just(wia.MemoryKind.DEVICE)),
            **STREAM,
            "name": ("name", just("t")),
        },
    ),
    "from_dlpack": (
        plain(wia.from_dlpack),
        {
            "context": ("own context", its("context")),
            "source": ("nothing", just(np.ones(4))),
            "memory": ("nothing", just(wia.MemoryKind.DEVICE)),
            **STREAM,
            "name": ("name", just("t")),
        },
    ),
    "full": (
        plain(wia.full),
        {
            "context": ("own context", its("context")),
            "shape": ("from 0", just((2, 2))),
            "value": ("number", just(1.0)),
            "dtype": ("type", just("float32")),
            "memory": ("nothing", just(wia.MemoryKind.DEVICE)),
            **STREAM,
        },
    ),
    "zeros": (
        plain(wia.zeros),
        {
            "context": ("own context", its("context")),
            "shape": ("from 0", just((2, 2))),
            "dtype": ("type", just("float32")),
            "memory": ("nothing", just(wia.MemoryKind.DEVICE)),
            **STREAM,
        },
    ),
    **{
        name: (
            plain(getattr(wia, name)),
            {"a": ("tensor", its("tensor")), "b": ("operand", its("tensor")), **STREAM},
        )
        for name in ("add", "mul")
    },
    **{
        name: (plain(getattr(wia, name)), {"a": ("any tensor", its("tensor")), **STREAM})
        for name in ("relu", "sigmoid", "contiguous")
    },
    "gelu": (
        plain(wia.gelu),
        {"a": ("any tensor", its("tensor")), "approximate": ("flag", just(False)), **STREAM},
    ),
    "convert": (
        plain(wia.convert),
        {"a": ("any tensor", its("tensor")), "dtype": ("type", just("float64")), **STREAM},
    ),
    "sum": (
        plain(wia.sum),
        {
            "a": ("any tensor", its("tensor")),
            "axis": ("axes", just(0)),
            "keepdims": ("flag", just(False)),
            **STREAM,
        },
    ),
    "max": (
        plain(wia.max),
        {
            "a": ("any tensor", its("tensor")),
            "axis": ("axes", just(0)),
            "keepdims": ("flag", just(False)),
            **STREAM,
        },
    ),
    "softmax": (
        plain(wia.softmax),
        {"a": ("any tensor", its("tensor")), "axis": ("axis", just(0)), **STREAM},
    ),
    **{
        name: (
            plain(getattr(wia, name)),
            {
                "a": (fits, its(of)),
                "b": (fits, its(of)),
                "config": ("none", just(None)),
                **STREAM,
            },
        )
        for name, of, fits in (
            ("matmul", "tensor", "tensor"),
            ("batch_matmul", "stack", "nothing"),
        )
    },
    "MatmulConfig": (
        plain(wia.MatmulConfig),
        {
            "algorithm": ("nothing", just(wia.MatmulAlgorithm.AUTO)),
            "precision": ("nothing", just(wia.Precision.FULL)),
        },
    ),
    "ConvConfig": (
        plain(wia.ConvConfig),
        {
            "padding": ("from 0", just(0)),
            "stride": ("count", just(1)),
            "dilation": ("count", just(1)),
            "groups": ("count", just(1)),
            "algorithm": ("nothing", just(wia.ConvAlgorithm.AUTO)),
            "precision": ("nothing", just(wia.Precision.FULL)),
        },
    ),
    "conv2d": (
        plain(wia.conv2d),
        {
            "x": ("nothing", its("image")),
            "weight": ("nothing", its("image")),
            "config": ("none", just(None)),
            **STREAM,
        },
    ),
    "Pool2dConfig": (
        plain(wia.Pool2dConfig),
        {
            "type": ("nothing", just(wia.PoolType.AVERAGE)),
            "kernel_size": ("count", just(2)),
            "stride": ("size or none", just(1)),
            "padding": ("from 0", just(0)),
            "count_padding": ("flag", just(False)),
        },
    ),
    "pool2d": (
        plain(wia.pool2d),
        {"x": ("nothing", its("image")), "config": ("none", just(None)), **STREAM},
    ),
    "batch_norm": (
        plain(wia.batch_norm),
        {
            "x": ("tensor", its("tensor")),
            **dict.fromkeys(("scale", "bias", "mean", "variance"), ("nothing", its("vector"))),
            "epsilon": ("seconds", just(1e-5)),
            "axis": ("axis", just(1)),
            **STREAM,
        },
    ),
    "reshape": (
        plain(wia.reshape),
        {"a": ("any tensor", its("tensor")), "shape": ("rest", just((2, 8)))},
    ),
    "transpose": (
        plain(wia.transpose),
        {"a": ("any tensor", its("tensor")), "axes": ("none", just((1, 0)))},
    ),
    "slice": (
        plain(wia.slice),
        {
            "a": ("any tensor", its("tensor")),
            "start": ("from 0", just(0)),
            "end": ("from 0", just(2)),
        },
    ),
    "concat": (
        plain(wia.concat),
        {
            "tensors": ("nothing", lambda w: [w.tensor, w.tensor]),
            "axis": ("axis", just(0)),
            **STREAM,
        },
    ),
    "concat of": (
        starred(lambda w, tensor: wia.concat([w.tensor, tensor])),
        {"argument": ("tensor", its("tensor"))},
    ),
}
