"""The kernel language keeps C's meaning, and says where a text leaves it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wia_lab import simulate
from wia_lab.hal import HalError, KernelError
from wia_lab.hal.kernel import compile_kernel

INTS = [
    ("7 / 2", 3),
    ("-7 / 2", -3),
    ("7 / -2", -3),
    ("x / 2", -3),
    ("x % 3", -1),
    ("7 % -3", 1),
    ("x / y", -3),
    ("x % y", -1),
    ("-x / y", 3),
    ("y - x * 2", 16),
    ("x < y", 1),
    ("!x", 0),
    ("!!x + 1", 2),
    ("~0", -1),
    ("1 << 4", 16),
    ("1 << 33", 2),  # OpenCL C: the count modulo the bits
    ("-8 >> 1", -4),
    ("x & 0xF", 9),
    ("5 ^ 3 | 8", 14),
    ("x < 0 && y > 0", 1),
    ("x > 0 || y < 0", 0),
    ("x < y ? 10 : 20", 10),
    ("(int)2.9f", 2),
    ("(int)-2.9f", -2),
    ("(uchar)300", 44),
    ("(char)200", -56),
    ("017", 15),
    ("-1 < 1u", 0),  # -1 becomes 4294967295
    ("(x, y)", 2),
    ("2147483647 + 1 < 0", 1),
    ("min(x, y) + max(x, y)", -5),
    ("abs(x)", 7),
    ("0x7fffffff", 2147483647),
]
DOUBLES = [
    ("1 / 2", 0.0),
    ("1 / 2.0f", 0.5),
    ("0.1f", float(np.float32(0.1))),
    ("0.1", 0.1),
    ("0.1f + 0.2", float(np.float32(0.1)) + 0.2),
    ("16777216 + 1.0f", 16777216.0),  # a float has 24 bits
    ("4294967295u * 2", 4294967294.0),
    ("sqrt(2.0f)", float(np.float32(math.sqrt(2)))),
    ("pow(2.0, 0.5)", math.sqrt(2)),
    ("fmax(1.5f, -2.0f)", 1.5),
    ("floor(-1.5f)", -2.0),
    ("3000000000", 3e9),
    ("1e3f", 1000.0),
]


def value(kind: str, body: str) -> float:
    """What `body` leaves in out[0], with x = -7 and y = 2."""
    text = f"__kernel void f(__global {kind}* out, int x, int y) {{ {body} }}"
    out = np.zeros(8, {"int": np.int32, "double": np.float64, "uint": np.uint32}[kind])
    simulate(compile_kernel(text).compiled, 1, 1, out, np.int32(-7), np.int32(2))
    return out[0].item()  # type: ignore[no-any-return]


@pytest.mark.parametrize(("text", "expected"), INTS)
def test_integers(text: str, expected: int) -> None:
    """Quotients go towards zero, what is narrow is promoted, comparisons are 0 or 1."""
    assert value("int", f"out[0] = {text};") == expected


@pytest.mark.parametrize(("text", "expected"), DOUBLES)
def test_floats(text: str, expected: float) -> None:
    """A suffix f is single precision, and the wider of two types is the result's."""
    found = value("double", f"out[0] = {text};")
    assert found == pytest.approx(expected, rel=3e-7 if "(" in text else 0, abs=0)


STATEMENTS = [
    ("int i = 3; out[0] = i++ * 10 + i;", 34),
    ("int i = 3; out[0] = ++i * 10 + i;", 44),
    ("int i = 3; out[0] = i--; out[0] += i;", 5),
    ("int i = 0; out[i++] = 5; out[i++] = 6; out[0] = i * 100 + out[0] * 10 + out[1];", 256),
    ("int i = 1; out[i++] += 4; out[0] = out[1] * 10 + i;", 42),
    ("int s = 0; for (int i = 0; i < 10; i++) { if (i % 2) continue; s += i; } out[0] = s;", 20),
    ("int s = 0; for (int i = 0; ; i++) { if (i == 4) break; s += i; } out[0] = s;", 6),
    ("int s = 0, i = 5; while (i--) s += i; out[0] = s;", 10),
    ("int n = 0; do { n++; if (n == 2) continue; } while (n < 5); out[0] = n;", 5),
    ("int n = 0; do n++; while (0); out[0] = n;", 1),
    ("int i = 0; if (x > 0 && i++) ; out[0] = i;", 0),
    ("int i = 0; if (x < 0 && i++ == 0) out[0] = 7 + i;", 8),
    ("int i = 0; out[0] = x > 0 ? i++ : (i += 5); out[0] += i;", 10),
    ("int a = 1; { int a = 2; out[1] = a; } out[0] = a * 10 + out[1];", 12),
    ("int a, b; a = b = 4; out[0] = a + b;", 8),
    ("int t[4] = {1, 2}; out[0] = t[0] + t[1] * 10 + t[3] * 100;", 21),
    ("__local int t[2][3]; t[1][2] = 5; out[0] = t[1][2];", 5),
    ("*out = 3; *(out + 1) = 4; out[0] = *out * 10 + *(out + 1);", 34),
    ("int a = 7; a /= 2; a <<= 3; a |= 1; a %= 10; out[0] = a;", 5),
    ("float f = 2.5f; f *= 3; int a = 1; a += f; out[0] = a;", 8),
    ("for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) out[0] += i * j;", 3),
    ("int in = 3, lambda = 4; out[0] = in * lambda;", 12),
    ("out[0] = 5; return; out[0] = 6;", 5),
    ("atomic_add(&out[0], 4); int old = atomic_inc(out); out[0] = out[0] * 10 + old;", 54),
    ("const int n = 2; out[0] = n + 1;", 3),
    ("uint u = 0; u--; out[0] = u / 2 == 2147483647;", 1),
]


@pytest.mark.parametrize(("text", "expected"), STATEMENTS)
def test_statements(text: str, expected: int) -> None:
    """Effects happen once, in C's order; loops, scopes and jumps are C's."""
    assert value("int", text) == expected


def test_functions_constants_and_macros() -> None:
    """A text has helpers, which pass memory on, constants, and names for numbers."""
    text = """#define WIDTH 4
    #define LAST (WIDTH - 1)
    __constant int SCALE = 3;
    int later(int n);
    int twice(int n) { return later(n); }
    int later(int n) { return 2 * n; }
    void put(__global int* to, int at, int what) { to[at] = what; }
    int sign(float v) { if (v < 0) return -1; else return 1; }
    __kernel void f(__global int* out) { put(out, 0, twice(LAST) * SCALE * sign(-2)); }
    """
    out = np.zeros(2, np.int32)
    simulate(compile_kernel(text).compiled, 1, 1, out)
    assert out.tolist() == [-18, 0]


def test_places_and_barriers() -> None:
    """The six names of places, and a block that turns its cells round through local memory."""
    text = """__kernel void turn(__global int* out, __global const int* a) {
        __local int cells[64];
        size_t t = get_local_id(0), n = get_local_size(0);
        cells[t] = a[get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        out[get_group_id(0) * n + t] = cells[n - 1 - t] + 1000 * get_num_groups(0)
            + 100000 * get_global_size(0);
    }"""
    out, a = np.zeros(192, np.int32), np.arange(192, dtype=np.int32)
    report = simulate(compile_kernel(text).compiled, 3, 64, out, a)
    assert not report.hazards
    assert (out == a.reshape(3, 64)[:, ::-1].ravel() + 3000 + 19_200_000).all()


def test_local_memory_of_the_launch() -> None:
    """A __local parameter is the launch's shared memory, and no argument."""
    text = """__kernel void f(__global float* out, __local float* cells) {
        int t = get_local_id(0);
        cells[t] = out[t];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[t] = cells[31 - t];
    }"""
    kernel, out = compile_kernel(text), np.arange(32, dtype=np.float32)
    simulate(kernel.compiled, 1, 32, out, shared_bytes=128)
    assert out.tolist() == list(range(31, -1, -1))
    assert [each.name for each in kernel.parameters] == ["out"]


def test_hazards_name_the_lines_of_the_text() -> None:
    """Comments, apostrophes and macros move no line."""
    text = """// it's an apostrophe
    /* and
       more */
    #define N 64
    __kernel void f(
        __global float* out
    ) {
        __local float cells[N];
        int t = get_local_id(0);
        cells[t] = out[t];
        out[t] = cells[N - 1 - t];
    }"""
    race = simulate(compile_kernel(text).compiled, 1, 64, np.zeros(64, np.float32)).hazards[0]
    assert (race.kind, race.line, race.other_line) == ("race", 11, 10)


OUTSIDE = [
    ("switch (x) { }", "line 2, column 1: switch is outside the kernel language: use if and else"),
    ("goto end; end: ;", "line 2, column 1: goto is outside"),
    ("int *p = a;", "line 2, column 5: p is a pointer: pointers are parameters alone"),
    ("a[0] = 1;", None),
    ("b[0] = 1;", "line 2, column 1: b is const: it is never written"),
    ("b[0]++;", "line 2, column 1: b is const"),
    ("a[1.5f] = 0;", "line 2, column 3: an index is float: make it an int"),
    ("x = foo(1);", "line 2, column 5: foo is no function of the text or of the kernel language"),
    ("a[0] = y;", "line 2, column 8: y is not declared: declare it before its use"),
    ("if (a) return;", "line 2, column 5: a is an array or a pointer: index it, as in a[0]"),
    ("barrier();", "line 2, column 1: barrier takes CLK_LOCAL_MEM_FENCE or"),
    ("__local float t[x];", "line 2, column 15: t: each extent of an array is a constant"),
    ("volatile int y;", "line 2, column 1: volatile is outside the kernel language"),
    ("a[0] = sizeof(x);", "sizeof is outside the kernel language"),
    ("a[0] = get_global_id(3);", "get_global_id takes one axis: write 0, 1 or 2"),
    ("return 1;", "line 2, column 1: return with a value"),
    ("f(a, b, x);", "f is a kernel: kernels are launched"),
    ("x = 1.5f % 2;", "% takes integers, not float"),
    ("a[0] = 1", "line 3, column 1: not C before }"),
    ("{", "ends too soon: close what is open"),
    ("a[0] = b[...];", "is a hole: write what belongs there"),
    ("struct s y;", "type struct is outside the kernel language"),
    ("long long y;", "type long long is outside the kernel language"),
    ("atomic_add(a[0], 1);", "atomic_add takes an address, as in atomic_add(&a[i], 1)"),
    ("#include <x>", "line 2, column 1: #include <x>: of the preprocessor there is #define"),
    ("x + 1 = 2;", "this cannot be assigned to"),
    ("continue;", "continue stands in no loop"),
]


@pytest.mark.parametrize(("body", "message"), OUTSIDE)
def test_outside(body: str, message: str | None) -> None:
    """One sentence, with line and column."""
    text = f"__kernel void f(__global float* a, __global const float* b, int x) {{\n{body}\n}}"
    if message is None:
        compile_kernel(text)
        return
    with pytest.raises(KernelError) as caught:
        compile_kernel(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no __kernel function"),
        ("void f() {}", "has no __kernel function"),
        ("__kernel int f() { return 1; }", "f is a kernel: its type is void"),
        ("struct s { int x; };", "functions and constant numbers"),
        ("__kernel void f(__global float** a) {}", "a pointer to numbers is one pointer"),
        ("__kernel void f(float* a) {}", "a kernel's pointer is __global or __constant"),
        ("__kernel void f(int a, ...) {}", "a parameter has a type and a name"),
        ("__kernel void f(int) {}", "a parameter has a type and a name"),
        ("int g(int x) { if (x) return 1; }\n__kernel void f() {}", "return on every way"),
        ("int g() { return g(); }\n__kernel void f() { g(); }", "g calls itself here"),
        ("__kernel void f() {}\n__kernel void g() {}", "has the kernels f, g: name one"),
        ("__kernel void f() {}\n__kernel void f() {}", "f is defined twice"),
    ],
)
def test_texts_that_are_no_kernel(text: str, message: str) -> None:
    """What surrounds the statements is held to the language too."""
    with pytest.raises(HalError, match=r".") as caught:
        compile_kernel(text)
    assert message in str(caught.value)
