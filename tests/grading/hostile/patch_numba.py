# puzzle: start
# status: refused
import numba
numba.cuda.jit = lambda f: f
from wia_lab import cuda
import numpy as np


@cuda.jit
def square(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
