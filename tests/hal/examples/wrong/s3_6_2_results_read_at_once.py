"""MUST GET: race, 'vector_add'. §3.6.2: launches asynchronously, and waits for nothing."""

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
    """The tensors were ready; the result is read while the kernel runs."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    stream, n = context.create_stream(), 1000
    a = wia.from_numpy(context, np.ones(n, np.float32))
    c = wia.empty(context, n)
    context.synchronize()
    kernel = wia.compile_kernel(SOURCE, "vector_add")
    config = wia.LaunchConfig(global_size=(n, 1, 1), local_size=(256, 1, 1))
    wia.launch_kernel_async(kernel, config, a, a, c, n, stream=stream)
    return c.numpy()
