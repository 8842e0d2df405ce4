"""Symbolic sizes: equality by meaning, text that evaluates to the same number."""

import pytest
from nnx_migrate.migrate.linen.dims import Dim
from nnx_migrate.migrate.linen.values import Shape

A, B = Dim.local("a"), Dim.local("b")


def test_equal_by_meaning() -> None:
    assert A * 3 + A == 4 * A
    assert (A * B * 4) // (2 * B) == 2 * A
    assert (A // 2) // 2 == A // 4
    assert A - A == Dim.of(0)
    assert A != B


@pytest.mark.parametrize(
    "dim",
    [
        A + 1,
        2 * A - B,
        (A + 1) // 2,
        A * (B // 3),
        (A // B) * B,
        A.ceil_div(2),
        (A + 3) % B,
        A.maximum(B) * 2,
        (A + B) * (A - B),
        -A + 9,
        A * A * 2,
        Dim.cond("a > 3", A, B) + 1,
        A // (B // 2),
        (A - 2) // 2 + 1,
    ],
)
def test_text_means_the_same(dim: Dim) -> None:
    for a in (5, 8, 13):
        for b in (3, 4):
            values = {"a": a, "b": b}

            def number(atom, values=values):  # the reference: substitute numbers, no printing
                return Dim.of(values[atom.args[0]]) if atom.kind == "local" else None

            expected = dim.substitute(number)
            got = eval(dim.text(), {}, values)
            if expected.value is not None:
                assert got == expected.value, dim.text()


def test_shapes() -> None:
    x = Shape.argument("x")
    assert x.dim(-1) == Dim.input("x", -1)
    y = x.replace_last(1, A)
    assert y.dim(-2) == Dim.input("x", -2)
    assert y.replace_last(1, Dim.input("x", -1)).same(x)
    assert not y.same(x)
