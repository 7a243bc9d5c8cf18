"""What an expression of C is in the Python text, and arithmetic on such values as C has it."""

from __future__ import annotations

from dataclasses import dataclass

from wia_lab.hal.clike.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    UINT,
    ULONG,
    Memory,
    Scalar,
    Type,
    common,
    promoted,
)

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
BITWISE = ("&", "|", "^")


@dataclass(frozen=True, slots=True)
class Value:
    """Python text without effects, its type, and its value where that is known now."""

    text: str
    type: Type
    constant: int | None = None

    @property
    def scalar(self) -> Scalar:
        """Its type, known to be a number's."""
        assert isinstance(self.type, Scalar)
        return self.type

    @property
    def is_number(self) -> bool:
        """Whether it is one."""
        return isinstance(self.type, Scalar)

    @property
    def is_simple(self) -> bool:
        """Whether writing it twice costs nothing."""
        return self.constant is not None or self.text.isidentifier()


def integer(number: int, kind: Scalar = INT) -> Value:
    """A constant."""
    text = str(number) if kind is INT else f"{kind.cast}({number})"
    return Value(text if number >= 0 or kind is not INT else f"({number})", kind, number)


def literal(kind: str, text: str) -> Value:
    """A constant as written; its suffix, and where that says nothing its size, gives the type."""
    lower = text.lower()
    if kind in ("float", "double", "long double") and lower.startswith("0x"):
        digits = lower.rstrip("fl")  # behind the p stand decimal digits
        single = digits != lower and lower.endswith("f")
        single_or_double = FLOAT if single else DOUBLE
        return Value(f"{single_or_double.cast}({float.fromhex(digits)!r})", single_or_double)
    if kind in ("float", "double", "long double"):
        if lower.endswith("f"):
            return Value(f"float32({lower[:-1]})", FLOAT)
        return Value(f"float64({lower.rstrip('l')})", DOUBLE)
    digits = lower.rstrip("ul")
    suffix = lower[len(digits) :]
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") and digits != "0" else 10
    number = int(digits, base)
    for candidate in (INT, UINT, LONG, ULONG):
        if (candidate.is_signed and "u" in suffix) or (candidate.bits < 64 and "l" in suffix):
            continue
        if candidate is UINT and base == 10 and "u" not in suffix:
            continue  # a decimal constant without u is never unsigned
        if number < 1 << (candidate.bits - candidate.is_signed):
            return integer(number, candidate)
    raise OverflowError(text)


def converted(value: Value, kind: Scalar) -> Value:
    """The value as another type."""
    if value.type == kind:
        return value
    if kind is BOOL:
        return truth(value)
    if value.constant is not None and not kind.is_float:
        return integer(_wrapped(value.constant, kind), kind)
    return Value(f"{kind.cast}({value.text})", kind)


def truth(value: Value) -> Value:
    """Whether the value is not zero."""
    return value if value.type is BOOL else Value(f"({value.text} != 0)", BOOL)


def negated(value: Value) -> Value:
    """Whether it is zero."""
    return Value(f"(not {truth(value).text})", BOOL)


def unary(operator: str, value: Value) -> Value:
    """+x, -x, ~x and !x."""
    if operator == "!":
        return negated(value)
    kind = promoted(value.scalar)
    operand = converted(value, kind)
    if operator == "+":
        return operand
    if operand.constant is not None:
        number = -operand.constant if operator == "-" else ~operand.constant
        return integer(_wrapped(number, kind), kind)
    return Value(f"{kind.cast}({operator}{operand.text})", kind)


def compared(operator: str, left: Value, right: Value) -> Value:
    """A comparison, once both sides have met in one type."""
    kind = common(left.scalar, right.scalar)
    texts = converted(left, kind).text, converted(right, kind).text
    return Value(f"({texts[0]} {operator} {texts[1]})", BOOL)


def shifted(operator: str, left: Value, right: Value) -> Value:
    """A shift: of the left side's type, by the count modulo its bits (OpenCL C §6.3.j)."""
    kind = promoted(left.scalar)
    base, mask = converted(left, kind), kind.bits - 1
    if right.constant is not None:
        count = str(right.constant & mask)
    else:
        count = f"({converted(right, INT).text} & {mask})"
    if base.constant is not None and right.constant is not None:
        by = right.constant & mask
        number = base.constant << by if operator == "<<" else base.constant >> by
        return integer(_wrapped(number, kind), kind)
    return Value(f"{kind.cast}({base.text} {operator} {kind.cast}({count}))", kind)


def arithmetic(operator: str, left: Value, right: Value) -> Value:
    """+, -, *, /, %, &, | and ^; the operands of a signed / and % stand in it twice."""
    kind = common(left.scalar, right.scalar)
    a, b = converted(left, kind), converted(right, kind)
    if a.constant is not None and b.constant is not None and not kind.is_float:
        known = _folded(operator, a.constant, b.constant)
        if known is not None:
            return integer(_wrapped(known, kind), kind)
    if kind.is_float or operator in ("+", "-", "*", *BITWISE):
        return Value(f"{kind.cast}({a.text} {operator} {b.text})", kind)
    if not kind.is_signed:
        python = "//" if operator == "/" else "%"
        return Value(f"{kind.cast}({a.text} {python} {b.text})", kind)
    return _truncated(operator, a, b, kind)


def _truncated(operator: str, a: Value, b: Value, kind: Scalar) -> Value:
    """A quotient rounded towards zero, where Python's goes down; its remainder."""
    if b.constant is not None and b.constant > 0:
        down = f"({a.text} < 0)"
    else:
        down = f"(({a.text} < 0) != ({b.text} < 0))"
    inexact = f"(({a.text} % {b.text}) != 0)"
    if operator == "/":
        return Value(f"{kind.cast}({a.text} // {b.text} + ({down} & {inexact}))", kind)
    return Value(f"{kind.cast}({a.text} % {b.text} - ({down} & {inexact}) * {b.text})", kind)


def _folded(operator: str, a: int, b: int) -> int | None:
    if operator in ("/", "%"):
        if b == 0:
            return None  # told where it is done
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if operator == "/" else a - quotient * b
    return {
        "+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b,
    }[operator]  # fmt: skip


def _wrapped(number: int, kind: Scalar) -> int:
    """As many bits of it as the type has."""
    if kind is BOOL:
        return int(number != 0)
    low = number & ((1 << kind.bits) - 1)
    return low - (1 << kind.bits) if kind.is_signed and low >> (kind.bits - 1) else low


def element(array: Value) -> Memory:
    """The type of an array or pointer."""
    assert isinstance(array.type, Memory)
    return array.type
