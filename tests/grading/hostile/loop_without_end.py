# puzzle: start
# status: any
from wia_lab import cuda
import numpy as np

@cuda.jit
def square(out, a):
    i = cuda.grid(1)
    while i >= 0:
        out[0] = a[0]
