"""MUST GET: InvalidValue, 'takes 4 arguments (a, b, c, n) and got 3'. §3.6.2: set one by one."""

import numpy as np

import wia_lab.hal as wia

SOURCE = """
__kernel void vector_add(
    __global const float* a, __global const float* b, __global float* c, int n
) {
    int gid = get_global_id(0);
    if (gid < n) {
        c[gid] = a[gid] + b[gid];
    }
}
"""


def run():
    """An argument that nobody set is whatever it was."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    a = wia.from_numpy(context, np.ones(256, np.float32))
    config = wia.LaunchConfig(global_size=(256, 1, 1), local_size=(256, 1, 1))
    wia.launch_kernel(wia.compile_kernel(SOURCE, "vector_add"), config, a, a, a)
