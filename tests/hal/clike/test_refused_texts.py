"""What the kernel language has not, and what C has not: one sentence with line and column."""

from __future__ import annotations

import numpy as np
import pytest

import wia_lab.hal as wia
from wia_lab.errors import HazardError
from wia_lab.hal import LaunchConfig, compile_kernel, launch_kernel

BODIES = {
    "const is written": ("const int a = 3;\n a = 4; o[0] = a;", "line 3, column 2: a is const"),
    "const in a loop": ("for (const int a = 0; a < 3; a++) o[a] = 1;", "line 2, .*: a is const"),
    "declared twice": ("int a = 1; int a = 2; o[0] = a;", "line 2, column 16: a is declared twice"),
    "declared like a parameter": ("int o = 2;", "line 2, column 5: o is declared twice"),
    "in its own value": ("int x = x + 1; o[0] = x;", "column 5: x stands in its own first value"),
    "sizeof": ("o[0] = sizeof(int);", "column 8: sizeof is outside .*: write the number of bytes"),
    "typedef": ("typedef int num; num a = 1;", "column 13: typedef is outside the kernel language"),
    "enum": ("enum { A, B }; o[0] = B;", "line 2, column 1: enum is outside the kernel language"),
    "switch": ("switch (o[0]) { default: o[1] = 3; }", "line 2, column 1: switch is outside"),
    "vector": ("float4 v = 0;", "line 2, column 1: float4 is outside the kernel language: use one"),
    "place in braces": ("int a[3] = {[1] = 5};", "line 2, column 5: a: its values are numbers"),
    "block as a value": ("o[0] = ({1;});", "line 2, .*: a block is outside .* as a value"),
    "division by zero": ("o[0] = 1 / 0;", "line 2, column 8: / by zero has no value"),
    "function as a value": ("o[0] = f;", "line 2, column 8: f is a function: call it, as f"),
    "no end of a comment": ("o[0] = 1; /* so", "line 2, column 11: this comment has no end"),
    "operator of another language": (
        "o[0] === 1;",
        "invalid expression: look for operators that C",
    ),
    "printf": ('printf("%d", o[0]);', 'line 2, column 8: "%d" is text, which kernels have none of'),
    "unknown after a macro": ("o[ONE]=y;", "line 2, column 8: y is not declared"),
    "no value yet": ("int a; o[0] = a;", "^k: the kernel's text, line 2: a is not defined"),
}


@pytest.mark.parametrize("name", BODIES)
def test_in_a_body(name: str) -> None:
    body, message = BODIES[name]
    text = (
        f"#define ONE 1\nint f(int a) {{ return a; }}\n__kernel void k(__global int *o) {{\n{body}"
    )
    with pytest.raises(wia.KernelError, match=message.replace("line 3", "line 5")
                       .replace("line 2", "line 4")) as caught:  # fmt: skip
        compile_kernel(f"{text}\n}}")
    assert "\n" not in str(caught.value)


TEXTS = {
    "parameters of old": (
        "__kernel void k(o) __global int *o; { o[0] = 1; }",
        "line 1, column 17: a parameter has a type and a name, as in int n",
    ),
    "two parameters of a name": (
        "__kernel void k(__global int *o, int o) { }",
        "o is declared twi",
    ),
    "a constant parameter": (
        "__kernel void k(__global int *o, const int n) {\n n = 1;\n}",
        "line 2, column 2: n is const: it is never written",
    ),
    "attribute": (
        "__kernel __attribute__((reqd_work_group_size(16,1,1))) void k(__global int *o) { }",
        "line 1, column 10: __attribute__ is outside the kernel language: leave it out",
    ),
    "calls itself": (
        "int f(int a) {\n return a ? a * f(a - 1) : 1;\n}\n__kernel void k(__global int *o) { }",
        "line 2, column 17: f calls itself here: use a loop instead",
    ),
    "by way of another": (
        "int g(int a);\nint f(int a) {\n return g(a);\n}\nint g(int a) { return f(a); }\n"
        "__kernel void k(__global int *o) { o[0] = f(1); }",
        "line 3, column 9: f calls itself here",
    ),
    "macros in a circle": (
        "#define A B\n#define B A\n__kernel void k(__global int *o) { o[0] = A; }",
        "line 3, column 43: A is not declared",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_in_a_text(name: str) -> None:
    text, message = TEXTS[name]
    with pytest.raises(wia.KernelError, match=message) as caught:
        compile_kernel(text)
    assert "\n" not in str(caught.value)


def test_lines_of_windows() -> None:
    """A text with carriage returns is the same text."""
    compile_kernel("__kernel void k(__global int *o) {\r\n  o[0] = 1; // one\r\n}\r\n")


@pytest.mark.virtual("hazards are found on virtual machines")
def test_before_the_beginning() -> None:
    """An index below zero is outside, as in C; it does not count from the end, as in Python."""
    kernel = compile_kernel(
        "__kernel void k(__global int *o, __global const int *a) {\n"
        "  int i = get_global_id(0);\n  o[i] = a[i - 1];\n}"
    )
    with wia.Context(wia.open_machine("1xH100")[0]) as context:
        out, a = (wia.from_numpy(context, np.arange(4, dtype=np.int32)) for _ in range(2))
        with pytest.raises(HazardError, match=r"line 3: thread 0 of block 0 reads a\[-1\], but a"):
            launch_kernel(kernel, LaunchConfig(1, 4), out, a)
