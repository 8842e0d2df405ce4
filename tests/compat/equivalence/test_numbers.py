"""What is rated where a proof is out of reach: changed constants, and programs that draw random numbers."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate.compat.equivalence.api import check_equivalence, compare_migrated
from nnx_migrate.compat.equivalence.report import EquivalenceReport, Verdict

X = jax.ShapeDtypeStruct((3, 4), jnp.float32)


class Normed(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.LayerNorm(epsilon=1e-6)(nn.Dense(8)(x))
        return nn.Dense(3)(x)


class NormedNnx(nnx.Module):
    def __init__(self, epsilon: float) -> None:
        rngs = nnx.Rngs(0)
        self.Dense_0, self.Dense_1 = nnx.Linear(4, 8, rngs=rngs), nnx.Linear(8, 3, rngs=rngs)
        self.LayerNorm_0 = nnx.LayerNorm(8, epsilon=epsilon, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.Dense_1(self.LayerNorm_0(self.Dense_0(x)))


def test_another_epsilon_is_different_whatever_the_numbers_say() -> None:
    report = compare_migrated(Normed(), lambda: NormedNnx(1e-5), X, tolerance=1.0)
    assert report["forward"].verdict is report["gradient"].verdict is Verdict.DIFFERENT
    assert "1e-06 in Linen, 1e-05 in NNX" in report["forward"].detail
    assert compare_migrated(Normed(), lambda: NormedNnx(1e-6), X).proved


def test_beyond_the_tolerance_is_different_and_the_output_shown_is_the_one_beyond() -> None:
    class Scaled(NormedNnx):
        def __call__(self, x: Any) -> Any:
            return super().__call__(x) * (1 + jnp.exp(self.Dense_0.bias[...]).sum() * 1e-4)

    report = compare_migrated(Normed(), lambda: Scaled(1e-6), X)
    for check in (report["forward"], report["gradient"]):
        assert check.verdict is Verdict.DIFFERENT
        beyond = [d for d in check.differences if d["maximum"] > d["tolerance"] * d["scale"]]
        assert beyond and any(d["output"] in check.detail for d in beyond)


class Drops(nn.Module):
    @nn.compact
    def __call__(self, x: Any, train: bool = True) -> Any:
        x = nn.Dropout(0.5)(nn.Dense(8)(x), deterministic=not train)
        return nn.Dropout(0.25)(nn.relu(nn.Dense(8)(x)), deterministic=not train)


class DropsNnx(nnx.Module):
    def __init__(self, form: str) -> None:
        rngs = nnx.Rngs(0)
        self.Dense_0, self.Dense_1 = nnx.Linear(4, 8, rngs=rngs), nnx.Linear(8, 8, rngs=rngs)
        self.one, self.two = nnx.Dropout(0.5, rngs=rngs), nnx.Dropout(0.25, rngs=rngs)
        self.form = form

    def __call__(self, x: Any, train: bool = True) -> Any:
        x = self.Dense_0(x)
        if self.form == "no proof":
            x = (x * 0.5) * 2.0
        x = self.one(x, deterministic=not train)
        x = nnx.gelu(self.Dense_1(x)) if self.form == "gelu" else nnx.relu(self.Dense_1(x))
        if self.form == "flat":
            return self.two(x.reshape(-1), deterministic=not train).reshape(x.shape)
        if self.form == "one for all":
            return self.two(x, deterministic=not train) * self.two(x, deterministic=not train)
        return self.two(x, deterministic=not train)


def drawn(form: str) -> EquivalenceReport:
    return compare_migrated(Drops(), lambda: DropsNnx(form), X, rngs=["dropout"], train=True)


def test_draws_are_proved_where_the_programs_are_the_same() -> None:
    assert drawn("same").proved


def test_draws_are_run_with_the_keys_of_linen() -> None:
    report = drawn("no proof")
    assert report["forward"].verdict in (Verdict.BITWISE, Verdict.CLOSE)
    assert report["gradient"].verdict in (Verdict.BITWISE, Verdict.CLOSE)
    assert "Linen's keys" in report["forward"].detail


def test_a_difference_beside_the_draws_is_found() -> None:
    assert drawn("gelu")["forward"].verdict is Verdict.DIFFERENT


def test_draws_of_other_shapes_are_unchecked_with_the_reason() -> None:
    check = drawn("flat")["forward"]
    assert check.verdict is Verdict.UNCHECKED
    assert "cannot be handed to NNX" in check.detail and "[24]" in check.detail


def test_more_draws_are_a_difference() -> None:
    check = drawn("one for all")["forward"]
    assert check.verdict is Verdict.DIFFERENT
    assert "Linen draws 48 random numbers here, NNX 72" in check.detail


@pytest.mark.parametrize("rolled", [True, False])
def test_keys_are_handed_over_within_loops(rolled: bool) -> None:
    """A scan over dropout against the same loop unrolled: other programs, the same draws."""
    from nnx_migrate.compat.equivalence import drawing

    def loop(key: Any, x: Any) -> Any:
        def body(x: Any, key: Any) -> Any:
            return jnp.tanh(x) * jax.random.bernoulli(key, 0.5, x.shape), None

        return jax.lax.scan(body, x, jax.random.split(key, 3))[0]

    def unrolled(key: Any, x: Any) -> Any:
        for i in range(3):
            x = jnp.tanh(x) * jax.random.bernoulli(jax.random.fold_in(key, i + 7), 0.5, x.shape)
        return x

    one, two = (loop, unrolled) if rolled else (unrolled, loop)
    key, x = jax.random.key(0), jnp.arange(8.0)
    left, right = jax.make_jaxpr(one)(key, x), jax.make_jaxpr(two)(key, x)
    a, b = drawing.handed_over(left, [key, x], right, [key, x])
    assert jnp.array_equal(a[0], b[0])
    assert not jnp.array_equal(one(key, x), two(key, x))


class Placed(nn.Module):
    """A parameter that NumPy computes, in float64."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        return x + self.param("places", lambda key: np.linspace(0.0, 1.0, 4))


class PlacedNnx(nnx.Module):
    def __init__(self, scale: float = 1.0) -> None:
        self.places = nnx.Param(np.linspace(0.0, scale, 4))

    def __call__(self, x: Any) -> Any:
        return x + self.places[...]


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("traced", [False, True])
def test_arrays_of_numpy_have_the_dtype_that_jax_gives_them(jitted: bool, traced: bool) -> None:
    init = jax.jit(Placed().init) if jitted else Placed().init
    variables = init(jax.random.key(0), jnp.ones((3, 4)))
    assert check_equivalence(Placed(), variables, PlacedNnx if traced else PlacedNnx(), X).proved


def test_half_a_numpy_array_is_different() -> None:
    class Halves(PlacedNnx):
        def __init__(self) -> None:
            self.places = nnx.Param(np.linspace(0.0, 1.0, 4).astype(np.float16))

    variables = Placed().init(jax.random.key(0), jnp.ones((3, 4)))
    report = check_equivalence(Placed(), variables, Halves(), X)
    assert not report.proved and "float32[4] in Linen, float16[4] in NNX" in report["shapes"].detail


class Labelled(nn.Module):
    """Text among the variables, which JAX has no arrays of."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        self.variable("labels", "names", lambda: np.array(["a", "b"]))
        return nn.Dense(2)(x)


class LabelledNnx(nnx.Module):
    def __init__(self) -> None:
        self.Dense_0 = nnx.Linear(4, 2, rngs=nnx.Rngs(0))
        self.names = nnx.variable_type_from_name("labels", allow_register=True)(np.array(["a", "b"]))

    def __call__(self, x: Any) -> Any:
        return self.Dense_0(x)


def test_text_is_no_array_and_said_to_be_unchecked() -> None:
    variables = Labelled().init(jax.random.key(0), jnp.ones((3, 4)))
    report = check_equivalence(Labelled(), variables, LabelledNnx(), X)
    assert report["keys"].verdict is report["shapes"].verdict is Verdict.PROVED
    assert report["forward"].verdict is Verdict.UNCHECKED and "is not a valid JAX array type" in report["forward"].detail


class Number(nn.Module):
    """A parameter that starts as a number of Python's."""

    @nn.compact
    def __call__(self) -> Any:
        return self.param("value", lambda key: 0.5)


class NumberNnx(nnx.Module):
    def __init__(self, value: float = 0.5) -> None:
        self.value = nnx.Param(jnp.asarray(value))

    def __call__(self) -> Any:
        return self.value[...]


def test_a_number_is_the_array_that_jax_makes_of_it() -> None:
    variables = Number().init(jax.random.key(0))
    assert variables == {"params": {"value": 0.5}}
    assert check_equivalence(Number(), variables, NumberNnx()).proved
    assert not check_equivalence(Number(), variables, lambda: NumberNnx(2)).proved  # an integer
