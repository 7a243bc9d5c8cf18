"""MUST GET: InvalidValue, 'give a Pool2dConfig'. §3.6.1: the pool's config is the memory pool's."""

import numpy as np

import wia_lab.hal as wia


def run():
    """The document has two types of this name, with other fields."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    normalized = wia.from_numpy(context, np.ones((1, 1, 4, 4), np.float32))
    return wia.pool2d(normalized, wia.PoolConfig())
