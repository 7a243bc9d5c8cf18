"""The simulator: runs a Numba CUDA kernel on any machine, judges it and counts its accesses."""
