# puzzle: start
# status: syntax
from wia_lab import cuda
import numpy as np

@cuda.jit
def square(out, a)
    out[0] = a[0]
