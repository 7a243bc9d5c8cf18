"""MUST GET: wrong-value. §4.1: "coalesced", it says, but neighbours in a warp differ in the row."""

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
    """Sectors of a load request: 16 rows of the tile are 16, and two whole rows would be 4."""
    a, c = np.ones(1024, np.float32), np.zeros(1024, np.float32)
    kernel = wia.compile_kernel(SOURCE).compiled
    counted = simulate(kernel, (2, 2), (16, 16), a, a, c, np.int32(32)).counters
    return counted.global_load_sectors / counted.global_load_requests, 4.0
