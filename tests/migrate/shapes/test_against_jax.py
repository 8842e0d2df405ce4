"""Every rule against the truth: the same expression traced by jax, and evaluated over abstract values.

Each expression is evaluated from arguments of unknown rank, of known rank, and of constant shape. A result may say that
it does not know where it is allowed to; it may never be wrong.
"""

from __future__ import annotations

import math
import re

import einops
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from nnx_migrate.migrate.linen.shapes import shapes
from nnx_migrate.migrate.linen.shapes.shape_args import RULES
from nnx_migrate.migrate.linen.values.dims import Dim
from nnx_migrate.migrate.linen.values.values import Array, Const, Int, Real, Shape, ShapeOf, Slice, Tup, Unknown, Value

from .evaluator import concrete, evaluate, number_of
from .expressions import OPEN
from .ranked_expressions import CONSTANT, RANKED

ACTUAL = [
    {"x": (2, 8, 6, 12), "y": (2, 5, 12), "z": (2, 5, 12), "m": (12, 7), "v": (12,), "t": (2, 5), "q": (2, 5, 4, 3)},
    {"x": (3, 9, 7, 24), "y": (4, 1, 24), "z": (4, 6, 24), "m": (24, 5), "v": (24,), "t": (3, 4), "q": (1, 7, 2, 6)},
]
LOCALS = {"h": 4, "n": 3}
KEYS = {"key": jax.ShapeDtypeStruct((2,), jnp.uint32)}
ENV = {"jnp": jnp, "np": np, "lax": lax, "jax": jax, "nn": nn, "math": math, "einops": einops, **LOCALS}


def traced(text: str, actual: dict[str, tuple[int, ...]]) -> object:
    """What the expression gives in a jax trace: arrays as tracers, everything else as Python values."""
    found: list[object] = []

    def run(arrays: dict[str, jax.Array]) -> None:
        found.append(eval(text, {**ENV, **arrays}))

    structs = {k: jax.ShapeDtypeStruct(s, jnp.int32 if k == "t" else jnp.float32) for k, s in actual.items()}
    jax.eval_shape(run, {**structs, **KEYS})
    return found[0]


def check(value: Value, truth: object, actual: dict[str, tuple[int, ...]], text: str) -> bool:
    """Is everything known? Fails if anything that is known is wrong."""
    if isinstance(value, Unknown):
        return False
    if isinstance(value, Tup):
        assert isinstance(truth, tuple | list), text
        assert len(value.items) == len(truth), text
        answers = [check(a, b, actual, text) for a, b in zip(value.items, truth)]  # every item is checked
        return all(answers)
    if isinstance(value, Array):
        expected: tuple[int, ...] = np.shape(truth)  # type: ignore[arg-type]
        return check_shape(value.shape, expected, actual, text)
    if isinstance(value, ShapeOf):
        assert isinstance(truth, tuple | list), text
        return check_shape(value.shape, tuple(truth), actual, text)
    if isinstance(value, Int):
        assert number_of(value.dim, actual, LOCALS) == truth, f"{text}: {value.dim}"
        assert isinstance(truth, int | np.integer), text
        return True
    if isinstance(value, Real):
        dims = [Dim.of(number_of(d, actual, LOCALS) or 0) for d in value.dims]
        assert eval(value.template.format(*[d.value for d in dims]), {"math": math}) == pytest.approx(truth), text
        return True
    assert isinstance(value, Const), text
    assert value.value == truth, text
    return True


def check_shape(shape: Shape, expected: tuple[int, ...], actual: dict[str, tuple[int, ...]], text: str) -> bool:
    got = concrete(shape, actual, LOCALS)
    if got is None:  # of unknown rank: the trailing dimensions that are spelled out must be right
        tail = [None if d is None else number_of(d, actual, LOCALS) for d in shape.dims]
        assert len(tail) <= len(expected), f"{text}: {tail} at the end of {expected}"
        for a, b in zip(tail[::-1], expected[::-1]):
            assert a in (None, b), f"{text}: {tail} at the end of {expected}"
        return False
    assert len(got) == len(expected), f"{text}: {got}, not {expected}"
    for a, b in zip(got, expected):
        assert a in (None, b), f"{text}: {got}, not {expected}"
    return None not in got


def abstract(text: str, how: str, actual: dict[str, tuple[int, ...]]) -> Value:
    names: dict[str, Value] = {"key": Unknown("a key")}
    for name, sizes in actual.items():
        if how == "open":
            names[name] = Array(Shape.argument(name))
        elif how == "ranked":
            names[name] = Array(Shape.ranked(name, len(sizes)))
        else:
            names[name] = Array(Shape.of(*sizes))
    for name, number in LOCALS.items():
        names[name] = Int(Dim.of(number) if how == "constant" else Dim.local(name))
    return evaluate(text, names)


@pytest.mark.parametrize("text", [*OPEN, *RANKED, *CONSTANT])
def test_against_jax(text: str) -> None:
    ran = 0
    for actual in ACTUAL:
        try:
            truth = traced(text, actual)
        except (TypeError, ValueError, einops.EinopsError, IndexError):
            continue  # these sizes do not fit the expression
        ran += 1
        for how in ("constant", "ranked", "open"):
            value = abstract(text, how, actual)
            known = check(value, truth, actual, f"{how}: {text}")
            needed = how == "constant" or (how == "ranked" and text not in CONSTANT) or text in OPEN
            assert known or not needed, f"{how}: {text}: not known: {value}"
    assert ran, f"{text} runs with no sizes of the test"


OTHER_RANKS = [
    {"x": (24,), "y": (5, 12), "t": (5,), "q": (4, 3), "v": (12, 4)},
    {"x": (12, 12), "y": (12,), "t": (2, 3, 4), "m": (12,)},
    {"x": (2, 6, 12), "v": (3, 12)},
    {"x": (2, 3, 4, 6, 12), "y": (2, 3, 5, 12), "q": (3, 2, 5, 4, 3)},
]


@pytest.mark.parametrize("text", [*OPEN, *RANKED, *CONSTANT])
def test_what_is_said_without_ranks_holds_for_every_rank(text: str) -> None:
    for other in OTHER_RANKS:
        actual = {**ACTUAL[0], **other}
        try:
            truth = traced(text, actual)
        except Exception:  # this rank does not fit the expression
            continue
        if any(0 in np.shape(leaf) for leaf in jax.tree.leaves(truth)):
            continue  # sizes are at least 1
        try:
            check(abstract(text, "open", actual), truth, actual, text)
        except IndexError:
            # A size that does not exist. Slices of shapes are taken to have the items that they name, so that the
            # size raises when it is computed: loud, not wrong.
            assert re.search(r"shape\[-?\d*:-?\d*\]|block_diag", text), text
        except AssertionError:
            assert re.fullmatch(r"x\.shape\[-?\d*:-?\d*\]", text), text


@pytest.mark.parametrize("text", [*OPEN, *RANKED])
def test_implied_ranks_are_the_ranks(text: str) -> None:
    actual = ACTUAL[0]
    with shapes.implied_ranks() as found:
        abstract(text, "open", actual)
    for argument, rank in found.items():
        assert rank == len(actual[argument]), f"{text}: {argument} has rank {rank}"


@pytest.mark.parametrize(
    "text, argument, rank",
    [
        ("x.transpose(0, 2, 1)", "x", 3),
        ("jnp.einsum('bhqk,bkhd->bqhd', x, y)", "y", 4),
        ("einops.rearrange(x, 'b h w c -> b c h w')", "x", 4),
        ("x[..., None].transpose(0, 1, 3, 2)", "x", 3),
        ("jnp.concatenate([x, jnp.zeros((2, 3, 4))], axis=-1)", "x", 3),
    ],
)
def test_ranks_that_operations_imply(text: str, argument: str, rank: int) -> None:
    names: dict[str, Value] = {name: Array(Shape.argument(name)) for name in "xy"}
    with shapes.implied_ranks() as found:
        evaluate(text, names)
    assert found[argument] == rank


def test_unpacking_tells_the_rank() -> None:
    shape = shapes.attribute(Array(Shape.argument("x")), "shape")
    with shapes.implied_ranks() as found:
        items = shapes.unpack(shape, 4)
    assert found == {"x": 4}
    assert items == tuple(Int(Dim.input("x", i)) for i in range(-4, 0))
    assert shapes.unpack(Tup((Const(1), Const(2))), 3) is None
    first, rest, last = shapes.unpack_star(shape, 0, 2) or ((), Unknown(), ())
    assert first == () and last == (Int(Dim.input("x", -2)), Int(Dim.input("x", -1)))
    assert shapes.method(Array(Shape.argument("x")), "reshape", [rest, *[]], {}) == Array(rest.shape)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text, needs",
    [
        ("x.T", ("x",)),
        ("x.mean(axis=(1, 2))", ("x",)),
        ("x[..., :h].shape[0]", ("x",)),
        ("x @ y", ("x", "y")),
        ("jnp.zeros((*x.shape[:-1], h)).reshape(x.shape[0], -1, 2).swapaxes(1, 2).shape[3]", ()),
    ],
)
def test_unknown_names_the_arguments_whose_ranks_are_needed(text: str, needs: tuple[str, ...]) -> None:
    names: dict[str, Value] = {name: Array(Shape.argument(name)) for name in "xy"}
    value = evaluate(text, {**names, "h": Int(Dim.local("h"))})
    assert isinstance(value, Unknown)
    assert set(needs) >= set(getattr(value, "arguments", ())) and bool(needs) == bool(getattr(value, "arguments", ()))


def test_never_raises() -> None:
    """Operations on values of the wrong kind say so."""
    wrong: list[Value] = [Const("a"), Const(None), Unknown("?"), Tup((Const("a"),)), Int(Dim.local("n")), Slice()]
    for name in [*RULES, "numpy.nothing", "unheard.of"]:
        for value in wrong:
            for args in ([], [value], [value, value], [value] * 3):
                assert isinstance(shapes.call(name, args, {}), Value)
            assert isinstance(shapes.call(name, [], {"axis": value, "x": value, "a": value}), Value)
    for a in wrong:
        for b in wrong:
            for op in ("+", "-", "*", "/", "//", "%", "**", "@", "<<", "|"):
                assert isinstance(shapes.binary(op, a, b), Value)
            for op in ("==", "!=", "<", ">=", "is", "is not", "in", "not in"):
                assert isinstance(shapes.compare(op, a, b), Value)
            assert isinstance(shapes.index(a, b), Value)
        for op in ("-", "+", "not", "~"):
            assert isinstance(shapes.unary(op, a), Value)
        for name in ("reshape", "sum", "set", "upper", "nothing"):
            assert isinstance(shapes.method(a, name, wrong, {}), Value)
        assert isinstance(shapes.attribute(a, "shape"), Value)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("x.shape[-1] == h", None),
        ("x.shape[-1] == x.shape[-1] + 1", False),
        ("x.shape[-1] >= 1", True),
        ("h >= 0", None),  # a field may be negative: -1 for "none"
        ("h > 0", None),
        ("x.shape == x.shape", True),
        ("x[..., None].shape == x.shape", None),
        ("(1, h) == (1, h)", True),
        ("(1, h) == (2, h)", False),
        ("(1, h) != (1, h, 1)", True),
        ("x is None", False),
        ("x is not None", True),
        ("None is None", True),
        ("h is None", False),
        ("h == None", False),
        ("'a' == 'b'", False),
        ("'a' in ('a', 'b')", True),
        ("h in (1, 2)", None),
        ("not h", None),
        ("not ()", True),
        ("len(x.shape) == 4", None),
        ("x.ndim > 0", None),
        ("0.5 > 0.0", True),
    ],
)
def test_comparisons_only_where_certain(text: str, expected: bool | None) -> None:
    value = evaluate(text, {"x": Array(Shape.argument("x")), "h": Int(Dim.field("h"))})
    if expected is None:
        assert isinstance(value, Unknown)
    else:
        assert value == Const(expected)
