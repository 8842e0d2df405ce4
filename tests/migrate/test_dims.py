"""Symbolic sizes: equality by meaning, text that evaluates to the same number, proofs that hold."""

import itertools
import math
import random

import pytest
from nnx_migrate.migrate.linen.values.dims import (
    Dim,
)
from nnx_migrate.migrate.linen.values.values import (
    Array,
    Const,
    Int,
    Lead,
    Real,
    Shape,
    Tup,
    Unknown,
    Value,
    value_text,
    value_with_rank,
)

A, B, C = Dim.local("a"), Dim.local("b"), Dim.local("c")
H, W = Dim.input("x", -3), Dim.input("x", -2)


def number(dim: Dim, values: dict[str, int]) -> int:
    """The reference: numbers put in for the atoms, nothing printed."""
    found = dim.substitute(lambda atom: Dim.of(values[atom.args[0]]) if atom.kind == "local" else None).value
    assert found is not None
    return found


def test_equal_by_meaning() -> None:
    assert A * 3 + A == 4 * A
    assert (A * B * 4) // (2 * B) == 2 * A
    assert (A // 2) // 2 == A // 4
    assert A - A == Dim.of(0)
    assert A != B
    assert (A - 2) // 2 + 1 == A // 2
    assert A.ceil_div(2) == (A + 1) // 2
    assert A.ceil_div(2).ceil_div(2) == A.ceil_div(4)
    assert (A + B - 1) // B == A.ceil_div(B)
    assert ((A + B) * (A - B)).exact_div(A + B) == A - B
    assert (A * B + A * C) // (B + C) == A
    assert A // B * B != A  # and it must not be
    assert (A * 2).maximum(A) == 2 * A
    assert A.maximum(B).maximum(A) == A.maximum(B) == B.maximum(A)
    assert (3 * A + 7) % 3 == Dim.of(1)
    assert Dim.expr("int({0} * 0.5)", Dim.of(9)) == Dim.of(4)


DIMS = [
    A + 1,
    2 * A - B,
    (A + 1) // 2,
    A * (B // 3),
    (A // B) * B,
    A.ceil_div(2),
    A.ceil_div(7),
    A.ceil_div(B),
    (A + 3) % B,
    A.maximum(B) * 2,
    (A + B) * (A - B),
    -A + 9,
    A * A * 2,
    Dim.cond("a > 3", A, B) + 1,
    A // (B // 2),
    (A - 2) // 2 + 1,
    2 * (A // B) - 3,
    (A * B) // (A * C + A),
    A - (B - C),
    -(A // 2),
    -A * B,
    9 - A // B * B,
    Dim.expr("int({0} * 0.3 + {1})", A + 1, B),
    Dim.expr("{0} ** {1}", A, B) * 2,
    Dim.opaque("a + b") * 2,
    Dim.opaque("-a") * B,
    A.minimum(B).minimum(C),
    A.ceil_div(7) * 2 - 1,
    Dim.opaque("a + b") * 3 * (A - 4) * (B + 1),
    -2 * A.ceil_div(7) * (B - 1) * (C + 2) * (C - 3),
    (A // 4 - 3) * (A // 4 - 3),
    (A - 1) * (B * C + 2) * 5,
    (A - 1) * (B - 2) + 1,
]


@pytest.mark.parametrize("dim", DIMS, ids=str)
def test_text_means_the_same(dim: Dim) -> None:
    for a, b, c in itertools.product((5, 8, 13), (3, 4), (2, 6)):
        values = {"a": a, "b": b, "c": c}

        def change(atom, values=values):
            if atom.kind == "local":
                return Dim.of(values[atom.args[0]])
            if atom.kind == "opaque":
                return Dim.of(eval(atom.args[0], {}, values))
            if atom.kind == "cond":
                return atom.args[1] if eval(atom.args[0], {}, values) else atom.args[2]
            return None

        expected = dim.substitute(change).value
        assert expected is not None
        assert eval(dim.text(), {"math": math}, values) == expected, dim.text()
        assert eval(f"100 - {dim.operand_text()} ** 2", {}, values) == 100 - expected**2


def test_random_arithmetic_agrees_with_python() -> None:
    """Sums, products, quotients and remainders in random nestings: the simplified form has the same value."""
    rng = random.Random(0)
    for _ in range(400):
        dim, text = A, "a"
        for _ in range(rng.randint(1, 6)):
            other, other_text = rng.choice(
                [(A, "a"), (B, "b"), (C, "c"), (Dim.of(2), "2"), (Dim.of(3), "3"), (A + B, "(a + b)")]
            )
            op = rng.choice("+-*/%mMc")
            if op == "+":
                dim, text = dim + other, f"({text} + {other_text})"
            elif op == "-":
                dim, text = dim - other, f"({text} - {other_text})"
            elif op == "*":
                dim, text = dim * other, f"({text} * {other_text})"
            elif op == "/":
                dim, text = dim // other, f"({text} // {other_text})"
            elif op == "%":
                dim, text = dim % other, f"({text} % {other_text})"
            elif op == "c":
                dim, text = dim.ceil_div(other), f"-(-{text} // {other_text})"
            elif op == "m":
                dim, text = dim.minimum(other), f"min({text}, {other_text})"
            else:
                dim, text = dim.maximum(other), f"max({text}, {other_text})"
            text = f"({text})"
        for values in ({"a": 7, "b": 3, "c": 5}, {"a": 12, "b": 1, "c": 2}, {"a": 1, "b": 9, "c": 4}):
            expected = eval(text, {}, values)
            assert number(dim, values) == expected, f"{text} became {dim}"
            assert eval(dim.text(), {}, values) == expected, f"{text} is printed {dim}"


@pytest.mark.parametrize(
    "dim, text",
    [
        (4 * Dim.field("dim"), "4 * self.dim"),
        (Dim.field("features") // Dim.field("num_heads"), "self.features // self.num_heads"),
        (Dim.local("in_features") + Dim.local("out_features"), "in_features + out_features"),
        (Dim.local("z") + Dim.local("a") + 1, "z + a + 1"),
        (Dim.local("z") * Dim.local("a"), "z * a"),
        (9 - A, "9 - a"),
        (A.ceil_div(16), "-(-a // 16)"),
        ((A - 3) // 2 + 1, "(a - 1) // 2"),
        (A // B * C, "(a // b) * c"),
        (Dim.atom("lead", "x", 1, 1), "math.prod(x.shape[1:-1])"),
        (Dim.atom("lead", "x", 0), "math.prod(x.shape)"),
        (64 * (A - 4) * (B - 4), "64 * (a - 4) * (b - 4)"),
        (64 * ((A + 4) // 8 - 4) * ((B + 4) // 8 - 4), "64 * ((a - 28) // 8) * ((b - 28) // 8)"),
        ((A - 4) * (A - 4) * C, "c * (a - 4) * (a - 4)"),
        (C * A * B + C * A, "c * a * b + c * a"),
        ((A + 1) * (B + 1) + 1, "a * b + a + b + 2"),
    ],
)
def test_text_that_a_person_would_write(dim: Dim, text: str) -> None:
    assert dim.text() == text


def test_shapes() -> None:
    x = Shape.argument("x")
    assert x.dim(-1) == Dim.input("x", -1)
    y = x.replace_last(1, A)
    assert y.dim(-2) == Dim.input("x", -2)
    assert y.replace_last(1, Dim.input("x", -1)).same(x)
    assert not y.same(x)
    assert y.dim(0) is None  # x.shape[0] or a: that depends on the rank of x
    assert x.dim(0) == Dim.input("x", 0)
    assert y.with_rank("x", 3) == Shape.of(Dim.input("x", -3), Dim.input("x", -2), A)
    assert y.implied_rank(4) == ("x", 4)
    headed = Shape((), Lead("x", skipped=1, head=(Dim.input("x", 0), Dim.of(1))))
    assert headed.dim(1) == Dim.of(1)
    assert headed.dim(2) == Dim.input("x", 1)
    assert headed.dim(-1) == Dim.by_rank("x", 1, 1, Dim.input("x", -1))  # 1, if x has one dimension
    assert headed.with_rank("x", 1).dim(-1) == Dim.of(1) and headed.with_rank("x", 2).dim(-1) == Dim.input("x", -1)
    assert headed.dim(-2) is None
    assert headed.with_rank("x", 2) == Shape.of(Dim.input("x", -2), 1, Dim.input("x", -1))
    assert headed.implied_rank(4) == ("x", 3)
    assert headed.needs() == ("x",)
    assert value_with_rank(Array(x), "x", 2) == Array(Shape.ranked("x", 2))


def test_sizes_of_shapes() -> None:
    x = Shape.argument("x")
    assert x.expand(2).size() == x.size()
    assert x.replace_last(1, A).size() == Dim.atom("lead", "x", 1) * A
    assert Shape.of(2, None).size() is None
    assert Shape.unknown("x").size() is None


@pytest.mark.parametrize(
    "value, text",
    [
        (Int(4 * A), "4 * a"),
        (Real("(1 / math.sqrt({0}))", (A + 1,)), "1 / math.sqrt((a + 1))"),
        (Real("({0} ** -0.5)", (A,)), "a ** -0.5"),
        (Real("(({0} / {1}) + ({0} * 2.0))", (A, B)), "(a / b) + (a * 2.0)"),
        (Const(None), "None"),
        (Const("x"), "'x'"),
        (Tup((Int(Dim.of(1)), Int(A), Const(0.5))), "(1, a, 0.5)"),
        (Tup((Int(A),)), "(a,)"),
        (Tup((Int(A),), "list"), "[a]"),
        (Tup(()), "()"),
        (Tup((Int(A), Unknown("?"))), None),
        (Array(Shape.of(1)), None),
    ],
)
def test_text_of_values(value: Value, text: str | None) -> None:
    assert value_text(value) == text
