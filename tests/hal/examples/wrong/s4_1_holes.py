"""MUST GET: KernelError, 'the kernel'. §4.1: three places of the listing are left open."""

import wia_lab.hal as wia


def run():
    """As it stands."""
    wia.compile_kernel("""
__kernel void optimized_matmul(
    __global const float* A, __global const float* B, __global float* C, int N
) {
    __local float tile_A[16][16];
    int row = get_local_id(0);
    int col = get_local_id(1);
    tile_A[row][col] = A[...];
    barrier(CLK_LOCAL_MEM_FENCE);
    C[...] = tile_A[row][col];
}
""")
