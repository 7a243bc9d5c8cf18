"""MUST GET: out-of-bounds, 'A'. §4.1: whole tiles only, and threads for all of them."""

import numpy as np

import wia_lab.hal as wia
from wia_lab import simulate

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
        tile_A[row][col] = A[y * N + tile * 16 + col];
        tile_B[row][col] = B[(tile * 16 + row) * N + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; k++) {
            sum += tile_A[row][k] * tile_B[k][col];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[y * N + x] = sum;
}
"""


def run():
    """40 × 40 in tiles of 16: the third row of blocks begins inside and ends outside."""
    a, c = np.ones(1600, np.float32), np.zeros(1600, np.float32)
    return simulate(wia.compile_kernel(SOURCE).compiled, (3, 3), (16, 16), a, a, c, np.int32(40))
