# puzzle: start
# status: crashed
from wia_lab import cuda
import numpy as np
X = (0,)*4096*4096*4096*4096
@cuda.jit
def square(out: X, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
