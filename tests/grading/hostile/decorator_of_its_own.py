# puzzle: start
# status: refused
from wia_lab import cuda
import numpy as np

def easy(f):
    return 42


@easy
def square(out, a):
    out[0] = a[0]
