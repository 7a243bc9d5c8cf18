"""Kernels that compute operations on tensors on real devices, and the plans that launch them."""

from wia_lab.hal.ops.kernels.plans import Operand, plan

__all__ = ["Operand", "plan"]
