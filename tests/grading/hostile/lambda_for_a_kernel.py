# puzzle: start
# status: refused
from wia_lab import cuda
import numpy as np

square = cuda.jit(lambda out, a: None)
