# puzzle: start
# status: refused
from wia_lab import cuda
import numpy as np

while True:
    pass
