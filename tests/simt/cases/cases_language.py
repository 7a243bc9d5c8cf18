"""Types, functions and forms; and what is refused, with the class of the error."""

from __future__ import annotations

import math

import numba
import numba.cuda
import numpy as np
from casebook import Case, register
from numba import int32, njit

from wia_lab import cuda

CASES: list[Case] = []
case = register(CASES)

TABLE = np.array([0.5, 1.5, 4.0], np.float32)
WIDTH = 6


def _launch(kernel, *arguments, block=1):
    kernel[1, block](*arguments)


@case()
def int32_sums_are_int64():
    @cuda.jit
    def kernel(out, a):
        out[0] = a[0] + a[1]
        total = np.int32(0)
        for j in range(2):
            total += a[j]
        out[1] = total

    out = np.zeros(2, np.int64)
    _launch(kernel, out, np.array([2**31 - 10, 20], np.int32))
    return [(out, [2**31 + 10] * 2)]


@case()
def uint64_beside_int64():
    @cuda.jit
    def kernel(out, a, two):
        out[0] = (a[0] - two) / 2.0

    out = np.zeros(1)
    _launch(kernel, out, np.array([2**63 + 2**12], np.uint64), 2)
    return [(out, [float(2**12 - 2 - 2**63) / 2])]  # the difference is an int64, and wraps


@case(float64_arithmetic="warning")
def integer_literal_widens_float32():
    @cuda.jit
    def kernel(out, a):
        out[0] = a[0] + 1
        out[1] = a[0] + a[1]

    out = np.zeros(2)
    _launch(kernel, out, np.array([2.0**25, 1], np.float32))
    return [(out, [2.0**25 + 1, 2.0**25])]


@case(float64_arithmetic="warning")
def accumulator_widens():
    @cuda.jit
    def kernel(out, a):
        total = np.float32(0)
        for j in range(a.size):
            total += a[j] * 0.5
        out[0] = total

    out = np.zeros(1)
    _launch(kernel, out, np.array([2.0**26, 1, 1, 1], np.float32))
    return [(out, [2.0**25 + 1.5])]


@case(division_by_zero="warning")
def division_by_zero():
    @cuda.jit
    def kernel(out, a, b):
        i = cuda.threadIdx.x
        out[i] = a[i] / b[i]

    out = np.zeros(3)
    _launch(kernel, out, np.array([1.0, -1.0, 3.0]), np.array([0.0, 0.0, 2.0]), block=3)
    return [(out, [np.inf, -np.inf, 1.5])]


@case()
def fields_of_records():
    @cuda.jit
    def kernel(a):
        i = cuda.threadIdx.x
        a[i].weight = 2.5
        a[i]["number"] = 3 * i

    a = np.zeros(3, [("weight", np.float32), ("number", np.int32)])
    _launch(kernel, a, block=3)
    return [(a["weight"], [2.5] * 3), (a["number"], [0, 3, 6])]


@case()
def complex_iteration():
    @cuda.jit
    def kernel(out):
        z = c = complex(-0.4, 0.65)
        n = 0
        while abs(z) < 2.0 and n < 60:
            z = z * z + c
            n += 1
        out[0] = n

    z = c = complex(-0.4, 0.65)
    n = 0
    while abs(z) < 2 and n < 60:
        z, n = z * z + c, n + 1
    out = np.zeros(1)
    _launch(kernel, out)
    return [(out, [n])]


@case()
def tuple_of_arrays():
    @cuda.jit
    def kernel(out, arrays, numbers):
        i = cuda.grid(1)
        if i < numbers[0]:
            out[i] = arrays[1][i] - arrays[0][i] * numbers[1]

    out = np.zeros(5, np.int32)
    pair = (np.arange(5, dtype=np.int32), np.full(5, 100, np.int32))
    _launch(kernel, out, pair, (5, 3), block=8)
    return [(out, 100 - 3 * np.arange(5))]


@case()
def constant_table_is_frozen():
    @cuda.jit
    def kernel(out):
        table = cuda.const.array_like(TABLE)
        i = cuda.threadIdx.x
        out[i] = table[i]

    first, second = np.zeros(3, np.float32), np.zeros(3, np.float32)
    _launch(kernel, first, block=3)
    TABLE[1] = 77
    try:
        _launch(kernel, second, block=3)
    finally:
        TABLE[1] = 1.5
    return [(first, [0.5, 1.5, 4]), (second, [0.5, 1.5, 4])]


@case()
def float16_functions():
    @cuda.jit
    def kernel(out, a):
        out[0] = cuda.fp16.hfloor(a[0])
        out[1] = cuda.fp16.hceil(a[0])

    out = np.zeros(2, np.float16)
    _launch(kernel, out, np.array([-2.25], np.float16))
    return [(out, [-3, -2])]


@case()
def cube_root_below_zero():
    @cuda.jit
    def kernel(out, a):
        i = cuda.threadIdx.x
        out[i] = cuda.cbrt(a[i])

    out = np.zeros(2)
    _launch(kernel, out, np.array([-64.0, 0.125]), block=2)
    return [(np.round(out, 12), [-4, 0.5])]


@case()
def function_calls_itself():
    @cuda.jit(device=True)
    def fibonacci(n):
        if n < 2:
            return n
        return fibonacci(n - 1) + fibonacci(n - 2)

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = fibonacci(i)

    out = np.zeros(12, np.int64)
    _launch(kernel, out, block=12)
    return [(out, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89])]


@case()
def kernel_called_by_a_kernel():
    @cuda.jit
    def double(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] *= 2

    @cuda.jit
    def kernel(a):
        double(a)
        double(a)
        double(a)

    a = np.arange(7, dtype=np.int32)
    _launch(kernel, a, block=8)
    return [(a, 8 * np.arange(7))]


@case()
def njit_function_of_a_row():
    @njit
    def last(row):
        return row[row.size - 1]

    @cuda.jit
    def kernel(out, a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            out[i] = last(a[i])

    a, out = np.arange(10.0).reshape(5, 2), np.zeros(5)
    _launch(kernel, out, a, block=6)
    return [(out, a[:, 1])]


@case()
def module_from_a_closure():
    def make(gpu):
        @gpu.jit
        def kernel(out):
            i = gpu.grid(1)
            if i < out.size:
                out[i] = i * i

        return kernel

    out = np.zeros(5, np.int32)
    _launch(make(cuda), out, block=8)
    return [(out, [0, 1, 4, 9, 16])]


@case()
def numba_dot_cuda():
    @cuda.jit
    def kernel(out):
        i = numba.cuda.grid(1)
        own = numba.cuda.local.array(1, numba.int32)
        own[0] = i + 1
        if i < out.size:
            out[i] = own[0]

    out = np.zeros(3, np.int32)
    _launch(kernel, out, block=4)
    return [(out, [1, 2, 3])]


@case(error="TypingError")
def shared_shape_from_the_block():
    @cuda.jit
    def kernel(out):
        n = cuda.blockDim.x
        tile = cuda.shared.array((n, n), np.float32)
        out[0] = tile[0, 0]

    _launch(kernel, np.zeros(1, np.float32))


@case(error="TypingError")
def shared_shape_from_an_expression():
    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array(WIDTH * 2, np.float32)
        out[0] = tile[0]

    _launch(kernel, np.zeros(1, np.float32))


@case(error="TypingError")
def shared_shape_from_a_list():
    @cuda.jit
    def kernel(out):
        tile = cuda.shared.array([2, 3], np.float32)
        out[0] = tile[0, 0]

    _launch(kernel, np.zeros(1, np.float32))


@case(error="TypingError")
def f_string():
    @cuda.jit
    def kernel(a):
        print(f"{a[0]} is first")

    _launch(kernel, np.zeros(1))


@case(error="TypingError")
def complex64_of_two_parts():
    @cuda.jit
    def kernel(out):
        out[0] = np.complex64(0.5, 1.5).imag

    _launch(kernel, np.zeros(1, np.float32))


@case(error="KeyError")
def slice_changed_in_place():
    @cuda.jit
    def kernel(a):
        a[1:] *= 2.0

    _launch(kernel, np.ones(4))


@case(error="TypingError")
def ceiling_as_an_index():
    @cuda.jit
    def kernel(a, x):
        a[math.ceil(x)] = 1

    _launch(kernel, np.zeros(3), 0.5)


@case(error="KeyError")
def ufunc_that_has_no_lowering():
    @cuda.jit
    def kernel(a):
        a[0] = np.sqrt(a[0])

    _launch(kernel, np.ones(1))


@case(error="TypingError")
def local_array_returned():
    @cuda.jit(device=True)
    def make(n):
        own = cuda.local.array(n, int32)
        own[0] = n
        return own

    @cuda.jit
    def kernel(out):
        out[0] = make(4)[0]

    _launch(kernel, np.zeros(1, np.int32))


@case(error="CudaAPIError")
def block_too_large():
    @cuda.jit
    def kernel(out):
        out[cuda.threadIdx.x] = 1

    _launch(kernel, np.zeros(1500), block=1500)


@case(error="NumbaRuntimeError")
def list_in_a_kernel():
    @cuda.jit
    def kernel(out):
        parts = [1, 2, 3]
        out[0] = parts[0]

    _launch(kernel, np.zeros(1))


@case(error="UnsupportedBytecodeError")
def import_in_a_kernel():
    @cuda.jit
    def kernel(out):
        import cmath

        out[0] = cmath.pi

    _launch(kernel, np.zeros(1))
