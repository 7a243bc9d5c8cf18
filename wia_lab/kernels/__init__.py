"""Reference Numba CUDA kernels, one module a topic."""
