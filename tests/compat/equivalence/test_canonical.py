"""Each rule of the canonical form: pairs that it makes equal, and near misses that must stay different."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.ad_checkpoint
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from nnx_migrate.compat.equivalence.proof import Proof, prove, trace
from nnx_migrate.compat.equivalence.terms import Terms

X = jax.ShapeDtypeStruct((4, 4), jnp.float32)
H = jax.ShapeDtypeStruct((4, 4), jnp.bfloat16)
F = Callable[..., Any]


def compare(left: F, right: F, *args: Any) -> Proof:
    return prove(trace(left, *args), trace(right, *args))


def scan(f: F, first: Any, xs: Any, **options: Any) -> Any:
    return lax.scan(f, first, xs, **options)


def fibonacci(swapped: bool = False, dead: bool = False, start: tuple[float, float] = (0.0, 1.0)) -> F:
    """Two carries that depend on each other, in either order, with or without one that nobody reads."""

    def run(x: Any) -> Any:
        a, b = x * start[0], x * start[1]

        def step(c: Any, t: Any) -> Any:
            if swapped:
                b, a = c[:2]
                new = (a + b + t, b)
            else:
                a, b = c[:2]
                new = (b, a + b + t)
            return (*new, *([c[2] * 2] if dead else [])), None

        first = (b, a) if swapped else (a, b)
        return scan(step, (*first, *([x] if dead else [])), x)[0][1 if swapped else 0]

    return run


def rounded_sum(rounded: F) -> F:
    """A reduction whose steps are a function of the program's own."""
    return lambda x: lax.reduce(x, jnp.float32(0), lambda a, b: rounded(a + b), (1,))


def counted(extra: int, start: int = 0) -> F:
    """A loop with `extra` further counters that always hold what the first does."""

    def run(x: Any) -> Any:
        def step(c: Any, t: Any) -> Any:
            *counters, y = c
            return (*[i + 1 for i in counters], y + t * counters[-1].astype(jnp.float32)), None

        return scan(step, (*[jnp.int32(start)] * (1 + extra), x[0]), x)[0][-1]

    return run


def shifted(n: int) -> F:
    """A chain of carries, each passing its value to the next: the state needs n rounds to be told apart."""

    def run(x: Any) -> Any:
        def step(c: Any, t: Any) -> Any:
            return (t, *c[:-1]), c[-1]

        return scan(step, tuple(jnp.zeros_like(x[0]) for _ in range(n)), jnp.tile(x, (5, 1)))[1]

    return run


def while_sum(limit: int, step: float = 1.0) -> F:
    return lambda x: lax.while_loop(lambda c: c[0] < limit, lambda c: (c[0] + 1, c[1] * step + x), (0, x))[1]


EQUAL: dict[str, tuple[F, F, Any]] = {
    "jit inlined": (lambda x: jax.jit(jnp.sin)(x), jnp.sin, X),
    "commutative": (lambda x: x.sum(0) * x + x, lambda x: x + x * x.sum(0), X),
    "dead code": (lambda x: (jnp.cos(x), jnp.sin(x))[1], jnp.sin, X),
    "common subexpression": (lambda x: jnp.sin(x) + jnp.sin(x), lambda x: (lambda y: y + y)(jnp.sin(x)), X),
    "unit dimensions": (lambda x: x[:, None, :].reshape(4, 4, 1)[..., 0], lambda x: x, X),
    "keepdims": (lambda x: x / x.sum(1, keepdims=True), lambda x: x / x.sum(1)[:, None], X),
    "convert within reshape": (
        lambda x: x.reshape(16).astype(jnp.float32),
        lambda x: x.astype(jnp.float32).reshape(16),
        H,
    ),
    "exact conversions": (lambda x: x.astype(jnp.float32).astype(jnp.float32), lambda x: x.astype(jnp.float32), H),
    "subtraction": (lambda x: x - x.sum(), lambda x: x + (-x.sum()), X),
    "negation": (lambda x: x - x.mean(0) * 2.0, lambda x: x + (-x.mean(0)) * 2.0, X),
    "negation out of products": (lambda x: (-x) * x.T, lambda x: -(x.T * x), X),
    "negation out of sums": (lambda x: (-x).sum(0), lambda x: -x.sum(0), X),
    "square": (lambda x: x**2, lambda x: x * x, X),
    "flipped comparison": (lambda x: x > x.T, lambda x: x.T < x, X),
    "double transpose": (lambda x: x.T.T, lambda x: x, X),
    "uniform constant": (lambda x: x + np.full((4, 4), 2, np.float32), lambda x: x + 2.0, X),
    "table of constants": (
        lambda x: jnp.where(jnp.tril(jnp.ones((4, 4), bool)), x, -1e9),
        lambda x: jnp.where(np.tril(np.ones((4, 4), bool)), x, -1e9),
        X,
    ),
    "table of floats": (
        lambda x: x * jnp.sin(jnp.arange(4) / 10000 ** (jnp.arange(4) / 4)),
        (lambda table: lambda x: x * table)(jnp.sin(jnp.arange(4) / 10000 ** (jnp.arange(4) / 4))),
        X,
    ),
    "same branches": (lambda x: lax.cond(x[0, 0] > 0, jnp.sin, jnp.sin, x), jnp.sin, X),
    "one split": (lambda x: jnp.split(x, 2, 1)[1], lambda x: x[:, 2:], X),
    "order of carries": (fibonacci(), fibonacci(swapped=True), X),
    "dead carry": (fibonacci(), fibonacci(dead=True), X),
    "equal carries": (counted(0), counted(3), X),
    "invariant carry": (
        lambda x: scan(lambda c, t: ((c[0], c[1] + c[0] * t), None), (x[1], x[0]), x)[0][1],
        lambda x: scan(lambda c, t: (c + x[1] * t, None), x[0], x)[0],
        X,
    ),
    "forwarded input": (lambda x: scan(lambda c, t: (c, t), 0.0, x)[1], lambda x: x, X),
    "unroll": (
        lambda x: scan(lambda c, t: (c * t, c), x[0], x, unroll=2)[1],
        lambda x: scan(lambda c, t: (c * t, c), x[0], x)[1],
        X,
    ),
    "while carries": (
        while_sum(5),
        lambda x: lax.while_loop(lambda c: c[2] < 5, lambda c: (x + c[0], c[1], c[2] + 1), (x, x, 0))[0],
        X,
    ),
    "long chains": (shifted(7), shifted(7), X),
    "functions of reductions": (rounded_sum(jnp.round), rounded_sum(lambda x: jnp.round(x)), X),
}

DIFFERENT: dict[str, tuple[F, F, Any]] = {
    "constant": (lambda x: x + 1e-6, lambda x: x + 1e-5, X),
    "table of constants": (
        lambda x: jnp.where(jnp.tril(jnp.ones((4, 4), bool)), x, -1e9),
        lambda x: jnp.where(np.tril(np.ones((4, 4), bool), 1), x, -1e9),
        X,
    ),
    "table of constants, transposed": (
        lambda x: jnp.where(jnp.tril(jnp.ones((4, 4), bool)), x, -1e9),
        lambda x: jnp.where(np.triu(np.ones((4, 4), bool)), x, -1e9),
        X,
    ),
    "table of floats": (
        lambda x: x * jnp.sin(jnp.arange(4) / 10000 ** (jnp.arange(4) / 4)),
        lambda x: x * jnp.cos(jnp.arange(4) / 10000 ** (jnp.arange(4) / 4)),
        X,
    ),
    "operand order": (lambda x: x / x.T, lambda x: x.T / x, X),
    "subtraction order": (lambda x: x - x.T, lambda x: x.T - x, X),
    "sign": (lambda x: (-x) * x.T, lambda x: x * x.T, X),
    "sign of a maximum": (lambda x: jnp.max(-x), lambda x: -jnp.max(x), X),
    "axis": (lambda x: x.sum(0), lambda x: x.sum(1), X),
    "broadcast axis": (lambda x: x + x.sum(1)[:, None], lambda x: x + x.sum(1)[None], X),
    "transpose": (lambda x: x @ x.T, lambda x: x @ x, X),
    "rounding conversion": (lambda x: x.astype(jnp.bfloat16).astype(jnp.float32), lambda x: x, X),
    "reduction type": (lambda x: jnp.max(x), lambda x: jnp.min(x), X),
    "comparison": (lambda x: x > 0, lambda x: x >= 0, X),
    "branches": (lambda x: lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x), jnp.sin, X),
    "branches swapped": (
        lambda x: lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x),
        lambda x: lax.cond(x[0, 0] > 0, jnp.cos, jnp.sin, x),
        X,
    ),
    "scan length": (
        lambda x: scan(lambda c, _: (c * 2 + x, None), x, None, length=3)[0],
        lambda x: scan(lambda c, _: (c * 2 + x, None), x, None, length=4)[0],
        X,
    ),
    "scan direction": (
        lambda x: scan(lambda c, t: (c * 2 + t, None), x[0], x)[0],
        lambda x: scan(lambda c, t: (c * 2 + t, None), x[0], x, reverse=True)[0],
        X,
    ),
    "output before or after the step": (
        lambda x: scan(lambda c, t: (c + t, c), x[0], x)[1],
        lambda x: scan(lambda c, t: (c + t, c + t), x[0], x)[1],
        X,
    ),
    "first value": (fibonacci(), fibonacci(start=(1.0, 0.0)), X),
    "counter start": (counted(0), counted(0, start=1), X),
    "chain one longer": (shifted(8), shifted(9), X),
    "chain one longer, deep": (shifted(14), shifted(15), X),
    "functions of reductions": (rounded_sum(jnp.round), rounded_sum(jnp.floor), X),
    "while limit": (while_sum(5), while_sum(6), X),
    "while step": (while_sum(5), while_sum(5, 2.0), X),
    "precision": (
        lambda x: jnp.dot(x, x, precision="highest"),
        lambda x: jnp.dot(x, x),
        X,
    ),
    "slice": (lambda x: x[1:3], lambda x: x[0:2], X),
    "reversal": (lambda x: x[::-1], lambda x: x, X),
    "concatenation": (lambda x: jnp.concatenate([x, x + 1]), lambda x: jnp.concatenate([x + 1, x]), X),
    "inner and outer loop variable": (
        lambda x: scan(lambda c, t: (scan(lambda d, u: (d * u + c, None), x[0], x)[0] + t, None), x[0], x)[0],
        lambda x: scan(lambda c, t: (scan(lambda d, u: (d * u + d, None), x[0], x)[0] + t, None), x[0], x)[0],
        X,
    ),
    "callback": (
        lambda x: jax.pure_callback(np.sin, X, x),
        lambda x: jax.pure_callback(np.cos, X, x),
        X,
    ),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal_programs_are_proved(name: str) -> None:
    left, right, x = EQUAL[name]
    proof = compare(left, right, x)
    assert proof.proved, proof


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_programs_are_rejected_and_told_apart(name: str) -> None:
    left, right, x = DIFFERENT[name]
    proof = compare(left, right, x)
    assert not proof.proved and not proof.values_proved
    assert proof.divergences or proof.missing or proof.extra
    if name in ("callback", "precision"):
        return  # not traceable by value, or equal on this processor
    value = np.random.default_rng(0).normal(size=x.shape).astype(np.float32)
    value[1, 1] = 0
    pairs = [(np.asarray(left(v)), np.asarray(right(v))) for v in (value, -value)]
    assert any(a.shape != b.shape or not np.array_equal(a, b) for a, b in pairs), "no control: the two are the same"


def test_custom_rules_show_in_the_gradient() -> None:
    @jax.custom_vjp
    def clipped(x: Any) -> Any:
        return jnp.sin(x)

    clipped.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (jnp.clip(g, -1, 1),))
    assert compare(clipped, jnp.sin, X).proved
    total = [lambda x, f=f: f(x).sum() for f in (clipped, jnp.sin)]
    assert not compare(jax.grad(total[0]), jax.grad(total[1]), X).proved


def test_stop_gradient_shows_in_the_gradient() -> None:
    def f(x: Any) -> Any:
        return (lax.stop_gradient(jnp.sin(x)) * x).sum()

    def g(x: Any) -> Any:
        return (jnp.sin(x) * x).sum()

    assert compare(f, g, X).proved
    assert not compare(jax.grad(f), jax.grad(g), X).proved


KEY = jax.ShapeDtypeStruct((), jax.random.key(0).dtype)
normal = jax.random.normal


def test_keys_are_matched_one_to_one() -> None:
    def two(k: Any) -> Any:
        a, b = jax.random.split(k)
        return normal(a, (3,)) + 2 * normal(b, (3,))

    def folded(k: Any) -> Any:
        return normal(jax.random.fold_in(k, 7), (3,)) + 2 * normal(jax.random.fold_in(k, 9), (3,))

    def shared(k: Any) -> Any:
        a = jax.random.fold_in(k, 7)
        return normal(a, (3,)) + 2 * normal(a, (3,))

    assert compare(two, folded, KEY).proved
    assert not compare(two, shared, KEY).proved
    assert not compare(shared, folded, KEY).proved


def test_keys_given_as_arguments_are_not_exchanged() -> None:
    def one(a: Any, b: Any) -> Any:
        return normal(a, (3,)) + 2 * normal(b, (3,))

    def other(a: Any, b: Any) -> Any:
        return normal(jax.random.fold_in(a, 1), (3,)) + 2 * normal(b, (3,))

    assert compare(one, other, KEY, KEY).proved
    assert not compare(one, lambda a, b: one(b, a), KEY, KEY).proved


def test_sums_of_masks_do_not_depend_on_the_order_of_keys() -> None:
    def one(k: Any) -> Any:
        a, b = normal(jax.random.fold_in(k, 1), (3,)), normal(jax.random.fold_in(k, 2), (3,))
        return a + b, a

    def other(k: Any) -> Any:
        a, b = normal(jax.random.fold_in(k, 5), (3,)), normal(jax.random.fold_in(k, 3), (3,))
        return b + a, a

    assert compare(one, other, KEY).proved


def test_a_key_that_changes_in_a_loop_is_not_one_that_does_not() -> None:
    def fresh(k: Any) -> Any:
        return scan(lambda c, key: (c * 2 + normal(key, (3,)), None), jnp.zeros(3), jax.random.split(k, 4))[0]

    def carried(k: Any) -> Any:
        def step(c: Any, _: Any) -> Any:
            x, key = c
            key, use = jax.random.split(key)
            return (x * 2 + normal(use, (3,)), key), None

        return scan(step, (jnp.zeros(3), k), None, length=4)[0][0]

    def repeated(k: Any) -> Any:
        use = jax.random.fold_in(k, 3)
        return scan(lambda c, _: (c * 2 + normal(use, (3,)), None), jnp.zeros(3), None, length=4)[0]

    def stretched(k: Any) -> Any:
        keys = jnp.broadcast_to(jax.random.fold_in(k, 3), (4,))
        return scan(lambda c, key: (c * 2 + normal(key, (3,)), None), jnp.zeros(3), keys)[0]

    assert compare(fresh, carried, KEY).proved
    assert compare(repeated, stretched, KEY).proved
    assert not compare(fresh, repeated, KEY).proved
    assert not compare(carried, stretched, KEY).proved


def test_keys_remember_the_data_that_they_were_folded_with() -> None:
    step = jax.ShapeDtypeStruct((), jnp.int32)

    def by_step(k: Any, i: Any) -> Any:
        return normal(jax.random.fold_in(jax.random.fold_in(k, i), 3), (2,))

    def same(k: Any, i: Any) -> Any:
        return normal(jax.random.fold_in(k, i), (2,))

    assert compare(by_step, same, KEY, step).proved
    assert not compare(by_step, lambda k, i: normal(jax.random.fold_in(k, 1), (2,)), KEY, step).proved


def test_constant_keys_are_values() -> None:
    def seeded(seed: int) -> F:
        return lambda x: x + normal(jax.random.key(seed), (4, 4))

    assert compare(seeded(0), seeded(0), X).proved
    assert not compare(seeded(0), seeded(1), X).proved


def mesh() -> Any:
    return jax.sharding.AbstractMesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def test_sharding_constraints_are_compared_and_told_apart_from_values() -> None:
    spec = jax.sharding.PartitionSpec

    def constrained(*entries: Any) -> F:
        sharding = jax.sharding.NamedSharding(mesh(), spec(*entries))
        return lambda x: lax.with_sharding_constraint(x * 2, sharding) + 1

    assert compare(constrained("data"), constrained("data", None), X).proved
    for other in (constrained("model"), lambda x: x * 2 + 1):
        proof = compare(constrained("data"), other, X)
        assert not proof.proved and proof.values_proved
        assert "only sharding constraints differ" in proof.notes[0]
    assert not compare(constrained("data"), lambda x: x * 3 + 1, X).values_proved


def test_rematerialisation_is_told_apart_from_values_and_policies_are_compared() -> None:
    def body(x: Any) -> Any:
        return jnp.sin(jnp.cos(x))

    plain, remat = body, jax.checkpoint(body)
    dots = jax.checkpoint(body, policy=jax.checkpoint_policies.dots_saveable)
    proof = compare(plain, remat, X)
    assert not proof.proved and proof.values_proved and "rematerialisation" in proof.notes[0]
    assert compare(remat, jax.checkpoint(lambda x: jnp.sin(jnp.cos(x))), X).proved
    assert not compare(remat, dots, X).proved


def test_names_that_policies_go_by_are_compared() -> None:
    def named(name: str) -> F:
        return lambda x: jax.ad_checkpoint.checkpoint_name(jnp.sin(x), name)

    assert compare(named("a"), named("a"), X).proved
    assert not compare(named("a"), named("b"), X).proved


def test_shard_map_bodies_are_compared() -> None:
    def mapped(axis: str, scale: float = 1.0) -> F:
        def local(x: Any) -> Any:
            return lax.psum(x * scale, axis)

        spec = jax.sharding.PartitionSpec(axis)
        return jax.shard_map(local, mesh=mesh(), in_specs=spec, out_specs=jax.sharding.PartitionSpec(), check_vma=False)

    assert compare(mapped("data"), mapped("data"), X).proved
    assert not compare(mapped("data"), mapped("model"), X).proved
    assert not compare(mapped("data"), mapped("data", 2.0), X).proved
    assert not compare(mapped("data"), lambda x: x[:2], X).proved


def test_terms_are_shared() -> None:
    terms = Terms()
    one = terms.make("input", "x", (), ((), "float32"))
    assert terms.make("sin", None, (one,), ((), "float32")) == terms.make("sin", None, (one,), ((), "float32"))
    assert terms.make("sin", None, (one,), ((), "float32")) != terms.make("sin", None, (one,), ((), "bfloat16"))
