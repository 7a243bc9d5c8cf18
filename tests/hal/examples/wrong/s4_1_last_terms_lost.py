"""MUST GET: wrong-value. §4.1: N/16 rounds, rounded down, lose the last products."""

import numpy as np

import wia_lab.hal as wia

SOURCE = """
__kernel void optimized_matmul(
    __global const float* A, __global const float* B, __global float* C, int N
) {
    __local float tile_A[16][16];
    __local float tile_B[16][16];
    float sum = 0.0f;
    int row = get_local_id(0);
    int col = get_local_id(1);
    int y = get_group_id(1) * 16 + row;
    int x = get_group_id(0) * 16 + col;
    for (int tile = 0; tile < N/16; tile++) {
        tile_A[row][col] = y < N ? A[y * N + tile * 16 + col] : 0.0f;
        tile_B[row][col] = x < N ? B[(tile * 16 + row) * N + x] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++) {
            sum += tile_A[row][k] * tile_B[k][col];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (y < N && x < N) {
        C[y * N + x] = sum;
    }
}
"""


def run():
    """40 ones times 40 ones: 2 rounds add 32 of them."""
    context = wia.Context(wia.open_machine("1xA100")[0])
    a = wia.from_numpy(context, np.ones((40, 40), np.float32))
    c = wia.empty(context, (40, 40))
    config = wia.LaunchConfig(global_size=(40, 40), local_size=(16, 16))
    wia.launch_kernel(wia.compile_kernel(SOURCE), config, a, a, c, 40)
    return set(c.numpy().ravel()), {40.0}
