"""The kernel language of WIA-AI-011 (§3.6.2), "OpenCL style": C read into Numba CUDA functions."""

from wia_lab.hal.clike.module import CKernel, translate

__all__ = ["CKernel", "translate"]
