# puzzle: start
# status: refused
from wia_lab import cuda
import numpy as np

exp = np.load
X = exp("/etc/passwd")

@cuda.jit
def square(out: X, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
