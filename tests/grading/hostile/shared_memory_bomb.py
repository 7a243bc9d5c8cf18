# puzzle: start
# status: graded
from wia_lab import cuda
import numpy as np

@cuda.jit
def square(out, a):
    s = cuda.shared.array(1 << 40, np.float32)
    out[0] = s[0] + a[0]
