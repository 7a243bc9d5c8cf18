# puzzle: start
# status: refused
from wia_lab import cuda
import numpy as np

@cuda.jit("exit(),")
def square(out, a):
    out[0] = a[0]
