# ruff: noqa: PGH004
# ruff: noqa
"""Small kernels over the whole language, each with argument types; the front end's specification.

Kernels read the global `cuda`, which whoever loads this file sets (`wia_lab.cuda` or numba-cuda).
`KERNELS` maps a name to (function, argument types, device); a device function may return a value.
What numba-cuda says of each is recorded in `typing_expected.json` by `record_typing.py`. The linter
is off: much of this is what nobody should write.
"""

from __future__ import annotations

import cmath
import math
import operator
from collections import namedtuple
from enum import IntEnum

import numpy as np
from numba import (
    boolean,
    complex64,
    complex128,
    float32,
    float64,
    from_dtype,
    int8,
    int16,
    int32,
    int64,
    njit,
    types,
    uint8,
    uint16,
    uint32,
    uint64,
)

cuda = None  # set by whoever loads this file
KERNELS = {}

float16 = types.float16
b1, u1, u2, u4, u8 = boolean[::1], uint8[::1], uint16[::1], uint32[::1], uint64[::1]
i1, i2, i4, i8 = int8[::1], int16[::1], int32[::1], int64[::1]
f2, f4, f8 = float16[::1], float32[::1], float64[::1]
c8, c16 = complex64[::1], complex128[::1]
f4_2, f4_3, f8_2 = float32[:, ::1], float32[:, :, ::1], float64[:, ::1]
f4_f, f4_a = float32[::1, :], float32[:, :]
f4_ro = types.Array(float32, 1, "C", readonly=True)

POINT = np.dtype([("x", np.float32), ("y", np.float32), ("n", np.int32)], align=True)
NESTED = np.dtype([("p", POINT), ("v", np.float32, (3,))], align=True)
point = from_dtype(POINT)
point_array = types.Array(point, 1, "C")
nested_array = types.Array(from_dtype(NESTED), 1, "C")

TILE = 16
SHAPE = (4, 8)
WEIGHTS = np.array([0.25, 0.5, 0.25], np.float32)
TABLE = np.arange(12, dtype=np.int32).reshape(3, 4)
SCALE = np.float32(1.5)
NAME = "x"
Pair = namedtuple("Pair", ("left", "right"))
pair_type = types.NamedTuple((int64, float32), Pair)


class Colour(IntEnum):
    RED = 1
    BLUE = 2


def case(*argument_types, device=False):
    """Add a kernel to the corpus."""

    def decorate(function):
        assert function.__name__ not in KERNELS, function.__name__
        KERNELS[function.__name__] = (function, argument_types, device)
        return function

    return decorate


@njit
def half_of(x):
    return x / 2


@njit
def clamp(x, low=0, high=255):
    return min(max(x, low), high)


@njit
def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


@njit
def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


@njit
def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


@njit
def store(array, index, value):
    array[index] = value


@njit
def two(x):
    return x, x * 2.0


@njit
def add_all(*values):
    total = 0
    for value in values:
        total += value
    return total


@njit
def local_sum(n):
    buffer = cuda.local.array(8, float32)
    for i in range(8):
        buffer[i] = n
    total = float32(0)
    for i in range(8):
        total += buffer[i]
    return total


@njit
def returns_local():
    buffer = cuda.local.array(8, float32)
    return buffer


@njit
def returns_argument(array):
    return array


def plain(x):
    return x + 1


def make_adder(amount):
    @njit
    def adder(x):
        return x + amount

    return adder


add_three = make_adder(3)


# Indices ------------------------------------------------------------------------------------------


@case(f4, f4, f4)
def vector_add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@case(i4)
def all_indices(out):
    x = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    y = cuda.threadIdx.y + cuda.blockIdx.y * cuda.blockDim.y
    z = cuda.threadIdx.z + cuda.blockIdx.z * cuda.blockDim.z
    w = cuda.gridDim.x * cuda.gridDim.y * cuda.gridDim.z
    lane = cuda.laneid
    warp = cuda.warpsize
    out[x] = y + z + w + lane + warp


@case(f4_2)
def grid_two(out):
    x, y = cuda.grid(2)
    w, h = cuda.gridsize(2)
    out[x, y] = w * h


@case(f4_3)
def grid_three(out):
    x, y, z = cuda.grid(3)
    out[x, y, z] = cuda.gridsize(1)
    size = cuda.gridsize(3)
    out[0, 0, 0] = size[2]


@case(f4)
def dim3_as_value(out):
    t = cuda.threadIdx
    out[t.x] = t.y


@case(f4, int64)
def grid_needs_literal(out, n):
    out[cuda.grid(n)] = 1


@case(f4)
def grid_of_four(out):
    i = cuda.grid(4)
    out[0] = i[0]


@case(f4)
def grid_stride(out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        out[i] = i


@case(f4)
def no_such_name(out):
    out[0] = cuda.no_such_thing


@case(f4)
def keyword_grid(out):
    out[cuda.grid(ndim=1)] = 1


# Arrays -------------------------------------------------------------------------------------------


@case(f4_2, f4_2, f4_2)
def tiled_matmul(a, b, c):
    sa = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    sb = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = float32(0.0)
    for tile in range(a.shape[1] // TILE):
        sa[tx, ty] = a[x, ty + tile * TILE]
        sb[tx, ty] = b[tx + tile * TILE, y]
        cuda.syncthreads()
        for k in range(TILE):
            total += sa[tx, k] * sb[k, ty]
        cuda.syncthreads()
    if x < c.shape[0] and y < c.shape[1]:
        c[x, y] = total


@case(f4)
def shared_kinds(out):
    a = cuda.shared.array(TILE, float32)
    b = cuda.shared.array(SHAPE, dtype=np.float64)
    c = cuda.shared.array((4, 8), int32)
    d = cuda.shared.array(shape=32, dtype=np.uint8, alignment=16)
    e = cuda.shared.array(4, complex64)
    f = cuda.shared.array(4, point)
    g = cuda.shared.array(4, float16)
    h = cuda.shared.array(4, "int16")
    out[0] = a[0] + b[0, 0] + c[1, 1] + d[2] + e[0].real + f[0].x + float32(g[0]) + h[0]


@case(f4)
def shared_of_record_dtype(out):
    a = cuda.shared.array(4, POINT)
    out[0] = a[0].x


@case(f4)
def shared_shape_sum(out):
    a = cuda.shared.array(TILE + 2, float32)
    out[0] = a[0]


@case(f4, int64)
def shared_shape_argument(out, n):
    a = cuda.shared.array(n, float32)
    out[0] = a[0]


@case(f4)
def shared_shape_blockdim(out):
    a = cuda.shared.array(cuda.blockDim.x, float32)
    out[0] = a[0]


@case(f4)
def shared_shape_list(out):
    a = cuda.shared.array([4, 4], float32)
    out[0] = a[0, 0]


@case(f4)
def shared_shape_float(out):
    a = cuda.shared.array(4.0, float32)
    out[0] = a[0]


@case(f4, int64)
def shared_alignment_argument(out, n):
    a = cuda.shared.array(4, float32, n)
    out[0] = a[0]


@case(f4)
def dynamic_shared(out):
    floats = cuda.shared.array(0, float32)
    ints = cuda.shared.array(0, int32)
    tail = floats[8:]
    out[0] = floats[0] + ints[1] + tail[2]


@case(f4)
def local_array(out):
    stack = cuda.local.array(8, int64)
    top = 0
    stack[top] = 3
    grid = cuda.local.array((2, 2), float32)
    grid[0, 1] = stack[top]
    out[0] = grid[0, 1]


@case(f4)
def constant_array(out):
    w = cuda.const.array_like(WEIGHTS)
    t = cuda.const.array_like(TABLE)
    out[0] = w[0] * t[1, 2]


@case(f4)
def global_array(out):
    out[0] = WEIGHTS[1] + TABLE[0, 1] + SCALE


@case(f4)
def store_to_global_array(out):
    WEIGHTS[0] = 1


@case(f4_ro, f4)
def store_to_readonly(a, out):
    a[0] = out[0]


@case(f4_2, f4)
def array_attributes(a, out):
    rows, columns = a.shape
    out[0] = a.size + a.ndim + a.itemsize + a.nbytes + rows + columns + a.strides[0] + len(a)
    last = a.shape[-1]
    out[1] = last


@case(f4_2, f4_f, f4_a, f4)
def layouts(c, f, a, out):
    row = c[0]
    column = c[:, 1]
    part = c[1:3, ::2]
    frow = f[0]
    arow = a[0]
    t = c.T
    shaped = c.reshape((2, 3))
    out[0] = row[0] + column[0] + part[0, 0] + frow[0] + arow[0] + t[0, 0] + shaped[0, 0]


@case(f4_2, f4)
def flattened(a, out):
    flat = a.ravel()
    out[0] = flat[0]


@case(f4_2)
def slice_to_slice(a):
    a[1, :] = a[0, :]


@case(f4_2)
def tuple_to_slice(a):
    a[0, 0:2] = (1, 2)


@case(f4_2)
def slice_fill(a):
    a[0] = 1.0
    a[:, 1] = 2
    a[...] = 0
    view = a[2]
    view.fill(3)


@case(f4_3)
def partial_index(a):
    plane = a[0]
    row = plane[1]
    row[2] = a[0, 1][2] + a[0][1][2]
    index = (1, 2, 3)
    a[index] = a[-1, -1, -1]


@case(f4)
def iterate_array(a):
    total = float32(0)
    for value in a:
        total += value
    for i, value in enumerate(a):
        total += i * value
    for left, right in zip(a, a):
        total += left * right
    a[0] = total


@case(f4_2, f4)
def flat_iteration(a, out):
    total = float32(0)
    for value in a.flat:
        total += value
    out[0] = total


@case(f4_2, f4)
def nd_iteration(a, out):
    for i, j in np.ndindex(a.shape):
        out[0] += a[i, j]
    for (i, j), value in np.ndenumerate(a):
        out[1] += value + i + j


@case(f4)
def bool_index(a):
    a[a > 1] = 0


@case(f4, i4)
def fancy_index(a, index):
    part = a[index]
    a[0] = part[0]


@case(i4, f4)
def view_as(a, out):
    v = a.view(np.float32)
    out[0] = v[0]


@case(f4, f4)
def slice_in_place(a, b):
    a[:] += b[0]


@case(f4_2)
def column_in_place(a):
    a[:, 1] += 1.0


@case(f4, f4)
def whole_array_sum(a, out):
    out[0] = a.sum()


@case(f4, f4)
def whole_array_expression(a, out):
    out[:] = a + 1


@case(f4, f4)
def array_maximum(a, out):
    out[0] = a.max()


@case(f4, f4)
def array_mean(a, out):
    out[0] = a.mean()


@case(f4_2, f4)
def array_transposed(a, out):
    t = a.transpose()
    out[0] = t[0, 0]


@case(f4, f4)
def array_astype(a, out):
    b = a.astype(np.int32)
    out[0] = b[0]


@case(f4, f4)
def array_argmax(a, out):
    out[0] = a.argmax()


@case(f4, f4)
def array_any(a, out):
    out[0] = a.any()


@case(f4, f4)
def array_item(a, out):
    out[0] = a.item()


@case(types.UniTuple(f4, 2), f4)
def tuple_of_arrays(arrays, out):
    out[0] = arrays[0][1] + arrays[1][0]
    for array in arrays:
        out[1] += array[0]


@case(types.Tuple((f4, i4)), f4)
def mixed_tuple_argument(arrays, out):
    first, second = arrays
    out[0] = first[0] + second[0]


@case(types.Tuple((f4, i4)), f4, int64)
def mixed_tuple_by_variable(arrays, out, n):
    out[0] = arrays[n][0]


@case(types.UniTuple(int64, 3), f4, int64)
def tuple_by_variable(t, out, n):
    out[0] = t[n] + t[-1] + len(t)


@case(f4)
def zero_d_shared(out):
    s = cuda.shared.array((), float32)
    out[0] = 1


# Records ------------------------------------------------------------------------------------------


@case(point_array)
def record_attributes(points):
    i = cuda.grid(1)
    p = points[i]
    p.x = p.y + p.n
    points[i].n += 1
    points[i]["y"] = points[i]["x"]


@case(nested_array, f4)
def nested_records(rows, out):
    r = rows[0]
    out[0] = r.p.x + r.v[1]
    r.v[2] = 4


@case(point, f4)
def record_argument(p, out):
    out[0] = p.x + p.n


@case(point_array, f4)
def record_field_array(points, out):
    xs = points["x"]
    ys = points.y
    out[0] = xs[0] + ys[1]


@case(point_array)
def record_whole(points):
    points[0] = points[1]


@case(pair_type, f4)
def named_tuple(pair, out):
    out[0] = pair.left + pair.right + pair[0]
    other = Pair(1, 2.0)
    out[1] = other.right


@case(f4)
def vector_types(out):
    v = cuda.float32x4(1.0, 2.0, 3.0, 4.0)
    w = cuda.float32x4(cuda.float32x2(1, 2), v.x, v.w)
    d = cuda.double2(v.y, v.z)
    n = cuda.int32x3(1, 2, 3)
    out[0] = v.x + w.y + d.x + n.z


# Scalars ------------------------------------------------------------------------------------------


@case(int32, int32, int64[::1])
def int32_arithmetic(a, b, out):
    total = a + b
    product = a * b
    quotient = a // b
    rest = a % b
    power = a**b
    true = a / b
    left = a << b
    right = a >> b
    both = a & b
    either = a | b
    one = a ^ b
    negative = -a
    inverted = ~a
    absolute = abs(a)
    out[0] = total + product + quotient + rest + power + left + right + both + either + one
    out[1] = negative + inverted + absolute + int64(true)


@case(uint8, uint8, uint32, uint64, int64, uint16, int8)
def mixed_integers(a, b, c, d, e, f, g):
    ab = a + b
    inverted = ~a
    negative = -c
    cc = c * c
    ce = c + int32(1)
    c1 = c + 1
    de = d - e
    dd = d - d
    d1 = d + 1
    ff = f * f
    gg = g + g
    fg = f + g
    shift = c << 3
    mask = d & 0xFF


@case(float32, float32, int32, uint8, float64)
def float32_arithmetic(x, y, n, u, d):
    total = x + y
    product = x * y
    quotient = x / y
    floor = x // y
    rest = x % y
    power = x**y
    square = x**2
    half = x**0.5
    with_int = x + n
    with_byte = x * u
    with_literal = x + 1
    with_float = x * 2.0
    with_double = x + d
    larger = max(x, 0)
    larger_32 = max(x, y)
    three = max(x, y, d)
    small = min(n, 3)
    rounded = round(x)
    digits = round(d, 2)
    whole = int(x)
    truth = bool(x)
    negative = -x
    absolute = abs(x)


@case(float16, float16, float32, int8, f2)
def float16_arithmetic(x, y, z, n, out):
    total = x + y
    product = x * y
    quotient = x / y
    negative = -x
    absolute = abs(x)
    less = x < y
    equal = x == n
    wide = x * z
    small = x + n
    single = float32(x)
    back = float16(z)
    same = float(x)
    out[0] = total
    out[1] += x
    root = math.sqrt(x)
    sine = math.sin(x)
    up = math.ceil(x)


@case(float16, f2)
def float16_power(x, out):
    out[0] = x**2


@case(float16, float16, f2, i4)
def float16_functions(x, y, out, n):
    out[0] = cuda.fp16.hfma(x, y, x)
    out[1] = cuda.fp16.hadd(x, y) - cuda.fp16.hmul(x, y)
    out[2] = cuda.fp16.hsqrt(x) + cuda.fp16.hexp(y)
    out[3] = cuda.fp16.hmax(x, y)
    flag = cuda.fp16.hlt(x, y)
    n[0] = flag


@case(boolean, boolean, i4)
def bool_arithmetic(a, b, out):
    total = a + b
    both = a and b
    either = a | b
    negated = not a
    flipped = a ^ b
    out[0] = total + both + either + negated + flipped


@case(complex64, complex128, float32, c8)
def complex_arithmetic(z, w, x, out):
    scaled = z * x
    doubled = z * 2.0
    product = z * w
    size = abs(z)
    conjugate = z.conjugate()
    real = z.real + w.imag
    made = complex(x, 1.0)
    power = z**2
    equal = z == w
    out[0] = scaled
    out[1] = complex64(made)


@case(complex64, c8)
def complex_constructor_two(z, out):
    out[0] = np.complex64(1.0, 2.0)


@case(complex128, f8)
def complex_functions(z, out):
    out[0] = cmath.exp(z).real + cmath.sqrt(z).imag + cmath.phase(z)


@case(int64, f8)
def conversions(n, out):
    a = float32(n)
    b = np.float64(n)
    c = int32(2.5)
    d = np.uint8(n)
    e = np.int64(3)
    f = int(2.5)
    g = float(n)
    h = bool(n)
    i = complex(n)
    j = np.bool_(n)
    k = types.int16(n)
    out[0] = a + b + c + d + e + f + g + h + i.real + j + k


@case(i4, int32)
def integer_methods(out, n):
    out[0] = n.bit_count()


@case(int64, int64, i8)
def comparisons(a, b, out):
    chained = 0 < a < b <= 10
    equal = a == b
    different = a != b
    nothing = not a
    either = a or b
    both = a and b
    out[0] = chained + equal + different + nothing + either + both
    out[1] = 1 if a > b else 2
    out[2] = a if a > b else 2.5


@case(int64, i8)
def divmod_power(a, out):
    q, r = divmod(a, 7)
    out[0] = q + r + pow(a, 2) + a**-1


@case(uint64, int64, f8)
def uint64_meets_int64(a, b, out):
    out[0] = a + b
    out[1] = a > b
    out[2] = a // b


@case(f4)
def enum_values(out):
    out[0] = Colour.RED + Colour.BLUE
    if Colour.RED == Colour.BLUE:
        out[1] = 1


@case(f4, types.none)
def none_argument(out, n):
    if n is None:
        out[0] = 1
    else:
        out[0] = n + 1


# SSA and control flow -----------------------------------------------------------------------------


@case(f4, int64)
def loops(out, n):
    i = 0
    while i < n:
        if out[i] > 3:
            i += 2
            continue
        if out[i] < 0:
            break
        i += 1
    else:
        out[0] = 1
    for j in range(n, 0, -1):
        if j == 3:
            break
    else:
        out[1] = 2
    out[2] = i


@case(f4, float32)
def widening_accumulator(out, x):
    acc = float32(0)
    for i in range(3):
        acc += x * 2.0
    out[0] = acc


@case(f4, int64)
def joined_types(out, n):
    if n > 3:
        v = 1
    else:
        v = 2.5
    out[0] = v


@case(f4, int64)
def shared_or_global(out, n):
    s = cuda.shared.array(8, float32)
    p = s if n > 2 else out
    p[0] = 1


@case(f4, i4, int64)
def cannot_join(out, ints, n):
    if n > 2:
        p = out
    else:
        p = ints
    p[0] = 1


@case(f4, int64)
def unset_on_a_path(out, n):
    if n > 3:
        v = n
    out[0] = v


@case(f4)
def ping_pong(out):
    a = cuda.shared.array(8, float32)
    b = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    for i in range(3):
        b[t] = a[t]
        cuda.syncthreads()
        a, b = b, a
    out[t] = a[t]


@case(f4, int64)
def early_return(out, n):
    if n > 3:
        return
    out[0] = n


@case(f4)
def returns_value(out):
    return out[0]


@case(f4)
def returns_none(out):
    out[0] = 1
    return None


@case(f4, int64)
def swap_and_unpack(out, n):
    a, b = n, 2.0
    a, b = b, a
    (c, d), e = (1, 2), 3
    out[0] = a + b + c + d + e


@case(f4)
def star_unpack(out):
    a, *b = (1, 2, 3)
    out[0] = a


@case(f4)
def nested_loops(out):
    total = 0
    for i in range(4):
        for j in range(i):
            if j == 2:
                continue
            total += i * j
        if total > 100:
            break
    out[0] = total


@case(f4, int32)
def range_kinds(out, n):
    for i in range(n):
        out[i] = i
    for j in range(uint32(4)):
        out[j] = j
    for k in range(cuda.threadIdx.x, 10, cuda.blockDim.x):
        out[k] = k


@case(f4, int64)
def walrus(out, n):
    if (m := n + 1) > 3:
        out[0] = m


@case(f4, int64)
def match_statement(out, n):
    match n:
        case 1:
            out[0] = 1
        case _:
            out[0] = 2


@case(f4)
def dead_branch(out):
    if TILE > 4:
        out[0] = 1
    else:
        out[0] = cuda.no_such_thing


@case(types.Tuple((f4, i4)), f4)
def unrolled_by_cuda(arrays, out):
    for array in cuda.literal_unroll(arrays):
        out[0] += array[0]


# Functions ----------------------------------------------------------------------------------------


@case(f4, int64)
def calls_device_functions(out, n):
    out[0] = half_of(out[0])
    out[1] = half_of(n)
    store(out, 2, clamp(n, high=10))
    a, b = two(out[3])
    out[4] = a + b + add_three(n)
    out[5] = add_all(n, n)


@case(f4, int64)
def calls_with_mixed_arguments(out, n):
    out[5] = add_all(1, 2.5, n)


@case(f4, int64)
def calls_recursion(out, n):
    out[0] = factorial(n)


@case(f4)
def calls_recursion_with_literal(out):
    out[0] = factorial(5)


@case(f4, int32)
def calls_recursion_widening(out, n):
    out[0] = factorial(n)


@case(f4, int64)
def calls_mutual_recursion(out, n):
    out[0] = is_even(n)


@case(f4)
def calls_local_sum(out):
    out[0] = local_sum(3)


@case(f4)
def calls_returns_local(out):
    out[0] = returns_local()[0]


@case(f4)
def calls_returns_argument(out):
    returns_argument(out)[0] = 1


@case(f4)
def calls_plain_function(out):
    out[0] = plain(1)


@case(f4, int64)
def wrong_arity(out, n):
    out[0] = half_of(n, n)


@case(f4, int64)
def closure(out, n):
    def scale(x):
        return x * n

    add = lambda x, y=2: x + y
    out[0] = scale(2) + add(n) + add(1, 3)


@case(f4, float32)
def closure_over_array(out, x):
    def put(i):
        out[i] = x

    put(0)
    put(1)


@case(float32, device=True)
def device_returns(x):
    return x * 2


@case(f4, int64, device=True)
def device_returns_tuple(a, n):
    return a, n, 2.0


@case(int64, device=True)
def device_two_returns(n):
    if n > 3:
        return 1
    return 2.5


@case(int64, device=True)
def device_maybe_none(n):
    if n > 3:
        return 1


@case(f4, int64)
def function_by_condition(out, n):
    f = half_of if n > 2 else add_three
    out[0] = f(n)


# Mathematics --------------------------------------------------------------------------------------


@case(float32, float64, int32, int64, uint8)
def math_functions(x, d, n, m, u):
    a = math.sin(x) + math.cos(x) + math.tan(x)
    b = math.sqrt(d)
    c = math.sqrt(n)
    e = math.exp(m)
    f = math.log(x) + math.log2(x) + math.log10(x) + math.log1p(x)
    g = math.ceil(x)
    h = math.floor(d)
    i = math.trunc(x)
    j = math.pow(x, n)
    k = math.pow(d, d)
    l = math.atan2(x, x)
    o = math.hypot(x, x)
    p = math.fabs(u)
    q = math.isnan(x) or math.isinf(d)
    r, s = math.modf(x)
    t, v = math.frexp(d)
    w = math.ldexp(x, n)
    y = math.fmod(x, x)
    z = math.copysign(d, d)
    aa = math.erf(x) + math.erfc(x) + math.gamma(x) + math.lgamma(x)
    bb = math.degrees(x) + math.radians(d)
    cc = math.exp2(x)
    dd = math.remainder(x, x)
    ee = math.nextafter(d, d)
    ff = math.pi * x
    gg = math.isfinite(m)
    hh = math.tanh(x) + math.asinh(x) + math.expm1(d)
    ii = math.fmod(n, n)


@case(float32)
def math_cbrt(x):
    y = math.cbrt(x)


@case(int64)
def math_gcd(n):
    y = math.gcd(n, 6)


@case(float32)
def math_isqrt(x):
    y = math.isqrt(4)


@case(float32, float64, int32)
def math_constants(x, d, n):
    a = math.pi
    b = math.e * x
    c = math.inf
    e = np.pi + np.float32(d)
    f = np.inf


@case(float32, float64, int64)
def device_intrinsics(x, d, n):
    a = cuda.fma(x, x, x)
    b = cuda.fma(d, d, d)
    c = cuda.popc(n)
    e = cuda.clz(int32(n))
    f = cuda.ffs(n)
    g = cuda.brev(uint32(n))
    h = cuda.cbrt(x)
    i = cuda.selp(n > 3, x, x)
    j = cuda.popc(3)
    k = cuda.brev(n)
    l = cuda.fma(x, d, 1)
    m = cuda.clz(uint8(n))


@case(float32, float64)
def selp_of_two_types(x, d):
    a = cuda.selp(True, x, d)


@case(float32, float64, int32)
def libdevice_functions(x, d, n):
    a = cuda.libdevice.sinf(x)
    b = cuda.libdevice.sin(d)
    c = cuda.libdevice.fast_expf(x)
    e, f = cuda.libdevice.sincosf(x)
    g = cuda.libdevice.rsqrt(x)
    h = cuda.libdevice.popc(n)
    i = cuda.libdevice.fmaf(x, x, x)
    j = cuda.libdevice.float_as_int(x)
    k = cuda.libdevice.mulhi(n, n)
    l, m = cuda.libdevice.frexpf(x)
    o = cuda.libdevice.umulhi(n, 3)


@case(float32)
def libdevice_missing(x):
    a = cuda.libdevice.no_such(x)


@case(float32, f4)
def numpy_sqrt(x, out):
    out[0] = np.sqrt(x)


@case(float32, f4)
def numpy_scalar_ufuncs(x, out):
    out[0] = np.sin(x) + np.exp(x) + np.log(x) + np.floor(x)


@case(float32, f4)
def numpy_arctan2(x, out):
    out[0] = np.arctan2(x, x)


@case(float32, int64, f4)
def numpy_maximum(x, n, out):
    out[0] = np.maximum(x, 2.0)
    out[1] = np.minimum(n, 2)


@case(float32, f4)
def numpy_abs(x, out):
    out[0] = np.abs(x)


@case(float32, f4)
def numpy_add(x, out):
    out[0] = np.add(x, 1)


@case(float32, f4)
def numpy_sign(x, out):
    out[0] = np.sign(x)


@case(float32, f4)
def numpy_isnan(x, out):
    out[0] = np.isnan(x)


@case(float32, f4)
def numpy_power(x, out):
    out[0] = np.power(x, 2)


@case(f4, f4)
def numpy_ufunc_on_array(a, out):
    np.sin(a, out)


@case(f4, f4)
def numpy_allocating_ufunc(a, out):
    b = np.sin(a)
    out[0] = b[0]


@case(f4)
def numpy_zeros(out):
    z = np.zeros(4, np.float32)
    out[0] = z[0]


@case(f4)
def numpy_array(out):
    z = np.array([1, 2, 3])
    out[0] = z[0]


@case(f4, f4)
def numpy_sum(a, out):
    out[0] = np.sum(a)


@case(f4, f4)
def numpy_dot(a, out):
    out[0] = np.dot(a, a)


@case(f4, float32)
def numpy_clip(out, x):
    out[0] = np.clip(x, 0, 1)


@case(f4)
def numpy_random(out):
    out[0] = np.random.random()


@case(f4, float32)
def numpy_where(out, x):
    out[0] = np.where(x > 0, x, 0)


@case(f4, float32)
def operator_functions(out, x):
    out[0] = operator.add(x, 1) + operator.mul(x, x)


# Barriers, warps, atomics -------------------------------------------------------------------------


@case(i4)
def barriers(out):
    cuda.syncthreads()
    a = cuda.syncthreads_count(out[0])
    b = cuda.syncthreads_and(out[0] > 1 and 1)
    c = cuda.syncthreads_or(1)
    cuda.syncwarp()
    cuda.syncwarp(0xFF)
    cuda.threadfence()
    cuda.threadfence_block()
    cuda.threadfence_system()
    cuda.nanosleep(100)
    out[0] = a + b + c


@case(i4)
def barrier_counts_bool(out):
    out[0] = cuda.syncthreads_count(out[0] > 1)


@case(i4, int32, int64, float32, float64)
def shuffles(out, i, l, f, d):
    a = cuda.shfl_sync(0xFFFFFFFF, i, 0)
    b = cuda.shfl_up_sync(-1, l, 1)
    c = cuda.shfl_down_sync(0xFFFFFFFF, f, 16)
    e = cuda.shfl_xor_sync(0xFFFFFFFF, d, out[0])
    g = cuda.shfl_sync(0xFFFFFFFF, 3, 0)
    out[0] = a + b + c + e + g


@case(i4, uint32)
def shuffle_uint32(out, u):
    out[0] = cuda.shfl_sync(0xFFFFFFFF, u, 0)


@case(i4, float16)
def shuffle_float16(out, h):
    out[0] = cuda.shfl_sync(0xFFFFFFFF, h, 0)


@case(i4, int32)
def votes(out, i):
    a = cuda.all_sync(0xFFFFFFFF, i > 2)
    b = cuda.any_sync(0xFFFFFFFF, i)
    c = cuda.eq_sync(0xFFFFFFFF, i == 3)
    d = cuda.ballot_sync(0xFFFFFFFF, True)
    e = cuda.activemask()
    f = cuda.lanemask_lt()
    g = cuda.match_any_sync(0xFFFFFFFF, i)
    h, j = cuda.match_all_sync(0xFFFFFFFF, i)
    out[0] = a + b + c + d + e + f + g + h + j


@case(i4, float32)
def vote_on_float(out, x):
    out[0] = cuda.all_sync(0xFFFFFFFF, x)


@case(i4, int64, float64)
def matches(out, n, d):
    out[0] = cuda.match_any_sync(0xFFFFFFFF, n) + cuda.match_any_sync(0xFFFFFFFF, d)


@case(i4, u4, f4, f8, i8, u8, f4_2)
def atomics(i, u, f, d, l, ul, m):
    a = cuda.atomic.add(i, 0, 1)
    b = cuda.atomic.sub(u, 0, 1)
    c = cuda.atomic.max(f, cuda.threadIdx.x, 2.0)
    e = cuda.atomic.min(d, 0, 2)
    g = cuda.atomic.nanmax(f, 0, 1)
    h = cuda.atomic.nanmin(d, 0, 1)
    j = cuda.atomic.and_(i, 0, 1)
    k = cuda.atomic.or_(l, 0, 1)
    n = cuda.atomic.xor(ul, 0, 1)
    o = cuda.atomic.inc(u, 0, 10)
    p = cuda.atomic.dec(ul, 0, 10)
    q = cuda.atomic.exch(i, 0, 5)
    r = cuda.atomic.cas(i, 0, 1, 2)
    s = cuda.atomic.compare_and_swap(i, 1, 2)
    t = cuda.atomic.add(m, (0, 1), 1.0)
    v = cuda.atomic.add(m, (cuda.threadIdx.x, 1), 1)


@case(u1)
def atomic_on_bytes(u):
    cuda.atomic.add(u, 0, 1)


@case(i4)
def atomic_inc_signed(i):
    cuda.atomic.inc(i, 0, 10)


@case(f4)
def atomic_and_float(f):
    cuda.atomic.and_(f, 0, 1)


@case(f4)
def atomic_shared(out):
    s = cuda.shared.array(4, int32)
    cuda.atomic.add(s, 0, 1)
    cuda.syncthreads()
    out[0] = s[0]


@case(f4_2)
def atomic_wrong_index(m):
    cuda.atomic.add(m, 0, 1)


@case(f4)
def cooperative(out):
    g = cuda.cg.this_grid()
    out[0] = g.sync()
    cuda.cg.this_grid().sync()


@case(f4, f4)
def cache_hints(a, out):
    x = cuda.ldcg(a, 0) + cuda.ldca(a, 1) + cuda.ldcs(a, 2) + cuda.ldlu(a, 3) + cuda.ldcv(a, 4)
    cuda.stcg(out, 0, x)
    cuda.stcs(out, 1, x)
    cuda.stwb(out, 2, x)
    cuda.stwt(out, 3, x)


# Printing, exceptions, and what the device has not ------------------------------------------------


@case(f4, int64)
def prints(out, n):
    print(n)
    print("i", n, out[0], 1.5)
    print()


@case(f4, int64)
def print_fstring(out, n):
    print(f"i={n}")


@case(f4)
def print_array(out):
    print(out)


@case(f4, int64)
def print_percent(out, n):
    print("i=%d" % n)


@case(f4)
def print_tuple(out):
    print((1, 2))


@case(f4, int64)
def print_bool(out, n):
    print(n > 3)


@case(f4, complex64)
def print_complex(out, z):
    print(z)


@case(f4, int64)
def print_separator(out, n):
    print(n, sep="")


@case(f4, int64)
def asserts(out, n):
    assert n > 0
    assert n < 10, "too large"
    out[0] = n


@case(f4, int64)
def raises(out, n):
    if n > 3:
        raise ValueError("too large")
    if n > 2:
        raise ValueError
    if n > 1:
        raise RuntimeError("x", 1)


@case(f4, int64)
def raises_dynamic(out, n):
    raise ValueError(n)


@case(f4)
def try_except(out):
    try:
        out[0] = 1
    except Exception:
        out[0] = 2


@case(f4)
def try_finally(out):
    try:
        out[0] = 1
    finally:
        out[0] = 2


@case(f4)
def with_statement(out):
    with open("x") as f:
        out[0] = 1


@case(f4)
def list_literal(out):
    values = [1, 2, 3]
    out[0] = values[1]


@case(f4)
def list_comprehension(out):
    out[0] = sum([i * i for i in range(3)])


@case(f4)
def list_append(out):
    values = []
    values.append(1)
    out[0] = values[0]


@case(f4)
def list_iterated(out):
    for i in [1, 2, 3]:
        out[i] = i


@case(f4)
def dict_literal(out):
    d = {1: 2}
    out[0] = d[1]


@case(f4)
def dict_call(out):
    d = dict()
    d[1] = 2
    out[0] = d[1]


@case(f4)
def set_literal(out):
    s = {1, 2}
    out[0] = len(s)


@case(f4)
def generator_expression(out):
    out[0] = sum(i for i in range(3))


@case(f4)
def yields(out):
    yield out[0]


@case(f4)
def string_literal(out):
    s = "abc"
    out[0] = len(s)


@case(f4)
def string_global(out):
    if NAME == "x":
        out[0] = 1


@case(f4)
def string_concatenation(out):
    s = "abc" + NAME
    out[0] = len(s)


@case(f4, int64)
def str_call(out, n):
    s = str(n)
    out[0] = len(s)


@case(f4)
def import_inside(out):
    import math as m

    out[0] = m.pi


@case(f4)
def class_inside(out):
    class Inner:
        pass

    out[0] = 1


@case(f4)
def global_statement(out):
    global TILE
    TILE = 3
    out[0] = TILE


@case(f4)
def delete_variable(out):
    x = 1
    del x
    out[0] = 1


@case(f4)
def undefined_name(out):
    out[0] = not_defined


@case(f4, int64)
def attribute_of_int(out, n):
    out[0] = n.no_such


@case(f4)
def unknown_method(out):
    out.sort_of()


@case(f4)
def sorts(out):
    out.sort()


@case(f4)
def copies_array(out):
    b = out.copy()
    out[0] = b[0]


@case(f4, int64)
def isinstance_call(out, n):
    if isinstance(n, int):
        out[0] = 1


@case(f4, int64)
def hash_call(out, n):
    out[0] = hash(n)


@case(f4, int64)
def in_tuple(out, n):
    if n in (1, 2, 3):
        out[0] = 1


@case(f4)
def in_range(out):
    if 3 in range(5):
        out[0] = 1


@case(f4, int64)
def sum_of_tuple(out, n):
    out[0] = sum((n, 2, 3))


@case(f4)
def map_call(out):
    for x in map(half_of, (1, 2)):
        out[0] = x


@case(f4)
def reversed_range(out):
    for i in reversed(range(3)):
        out[i] = i


@case(f4, int64)
def tuple_grows(out, n):
    t = (n, 1) + (2,)
    out[0] = t[2]
    u = t[1:]
    out[1] = u[0]
    if t == (1, 2, 3):
        out[2] = 1


@case(f4)
def min_of_tuple(out):
    out[0] = min((1, 2, 3))


@case(f4)
def star_call(out):
    args = (1, 2)
    out[0] = add_all(*args)


@case(f4, int64)
def nested_tuple(out, n):
    t = ((n, 1.0), (2, 3))
    out[0] = t[0][1] + t[1][0]


@case(f4, int64)
def slice_object(out, n):
    s = slice(1, n)
    part = out[s]
    part[0] = s.start


@case(f4)
def complex_array_store(out):
    out[0] = 1j


@case(f4)
def float_index(out):
    out[1.5] = 1


@case(f4_2)
def too_many_indices(a):
    a[0, 0, 0] = 1


@case(f4, i4)
def mixed_index_types(a, b):
    a[b[0]] = 1
    a[cuda.threadIdx.x] = 2
    a[uint8(3)] = 3
    a[True] = 4


@case(f4)
def datetime_use(out):
    d = np.timedelta64(1, "s")
    out[0] = 1


# Every ufunc and every array method, one kernel each -----------------------------------------------


def unary_ufunc(function):
    def kernel(x, out):
        out[0] = function(x)

    return kernel


def binary_ufunc(function):
    def kernel(x, out):
        out[0] = function(x, x)

    return kernel


def add_ufunc(name, kind, out):
    function = getattr(np, name)
    make = {1: unary_ufunc, 2: binary_ufunc}[function.nin]
    KERNELS[f"ufunc_{name}_{kind}"] = (make(function), (kind, out), False)


UFUNCS = (
    "absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_or "
    "bitwise_xor cbrt ceil conjugate copysign cos cosh deg2rad degrees divide divmod equal exp "
    "exp2 expm1 fabs float_power floor floor_divide fmax fmin fmod gcd greater greater_equal "
    "heaviside hypot invert isfinite isinf isnan lcm ldexp left_shift less less_equal log log10 "
    "log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor maximum "
    "minimum mod modf multiply negative nextafter not_equal positive power rad2deg radians "
    "reciprocal remainder right_shift rint sign signbit sin sinh spacing sqrt square subtract "
    "tan tanh true_divide trunc"
).split()
for _name in UFUNCS:
    for _kind, _out in ((float32, f4), (int64, i8), (complex64, c8)):
        add_ufunc(_name, _kind, _out)


def method(name, *args):
    """A kernel that calls a method of an array and drops its result."""
    source = f"def kernel(a):\n    r = a.{name}({', '.join(args)})\n"
    scope = {"np": np}
    exec(source, scope)
    KERNELS[f"method_{name}_{len(args)}"] = (scope["kernel"], (f4_2,), False)


for _name in (
    "all any argmax argmin argsort conj conjugate copy cumprod cumsum diagonal dot flatten item "
    "max mean min nonzero prod ptp ravel sort std sum take tobytes tolist trace transpose var"
).split():
    method(_name)
for _name, _args in (
    ("reshape", ("6",)),
    ("reshape", ("2", "3")),
    ("view", ("np.int32",)),
    ("astype", ("np.int32",)),
    ("sum", ("0",)),
    ("fill", ("1",)),
    ("repeat", ("2",)),
    ("clip", ("0", "1")),
    ("round", ("1",)),
    ("searchsorted", ("1",)),
    ("swapaxes", ("0", "1")),
):
    method(_name, *_args)


def attribute(name):
    """A kernel that reads an attribute of an array."""
    source = f"def kernel(a):\n    r = a.{name}\n"
    scope = {}
    exec(source, scope)
    KERNELS[f"attribute_{name}"] = (scope["kernel"], (f4_2,), False)


for _name in (
    "T base ctypes data dtype flags flat imag itemsize nbytes ndim real shape size strides".split()
):
    attribute(_name)


def numpy_function(name, *args):
    """A kernel that calls a NumPy function on an array."""
    source = f"def kernel(a):\n    r = np.{name}({', '.join(args)})\n"
    scope = {"np": np}
    exec(source, scope)
    KERNELS[f"numpy_{name}_{len(args)}"] = (scope["kernel"], (f4_2,), False)


for _name in (
    "all any argmax argmin argsort array_equal asarray ascontiguousarray average copy cumsum "
    "diff empty_like flatnonzero full_like isclose max mean median min nanmax nonzero ones_like "
    "prod ravel shape size sort std sum transpose unique var zeros_like"
).split():
    numpy_function(_name, "a")
for _name in "allclose concatenate cross dot inner isclose matmul outer stack vdot".split():
    numpy_function(_name, "a", "a")
for _name in "arange empty eye identity ones zeros".split():
    numpy_function(_name, "4")
