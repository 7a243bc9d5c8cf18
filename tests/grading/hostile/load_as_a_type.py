# puzzle: start
# status: refused
from numpy import load as float32
from wia_lab import cuda
X = float32('/etc/passwd')
@cuda.jit
def square(out: X, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
