# puzzle: start
# status: refused
from wia_lab import cuda
import numpy as np
jit = np.vectorize
@jit
def square(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
