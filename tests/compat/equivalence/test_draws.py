"""Programs that draw random numbers and cannot be proved: what is different, what is equal when run, what nobody can say."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import linen as nn
from flax import nnx
from nnx_migrate import compat


class Noisy(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.Dense(4, name="d")(x)
        noise = jax.random.normal(self.make_rng("noise"), x.shape)
        return (x + noise) + 2.0 * x


class Native(nnx.Module):
    """Its noise is drawn by `how`; the sums are in another order, so that nothing is proved."""

    def __init__(self, how: Any, *, rngs: nnx.Rngs | None) -> None:
        self.d = nnx.Linear(3, 4, rngs=rngs or nnx.Rngs(0))
        self.rngs, self.how = rngs, how

    def __call__(self, x: Any) -> Any:
        x = self.d(x)
        return x + (self.how(self.rngs, x.shape) + 2.0 * x)


def _rows(rngs: Any, shape: Any) -> Any:
    return jax.vmap(lambda key: jax.random.normal(key, shape[1:]))(jax.random.split(rngs.noise(), shape[0]))


WAYS: list[Any] = [
    ("as Linen does", lambda rngs, shape: jax.random.normal(rngs.noise(), shape), "close", "Linen's keys"),
    ("scaled", lambda rngs, shape: 1.5 * jax.random.normal(rngs.noise(), shape), "different", "same draws"),
    ("another distribution", lambda rngs, shape: jax.random.uniform(rngs.noise(), shape), "different", "same draws"),
    ("one row for all", lambda rngs, shape: jax.random.normal(rngs.noise(), shape[1:]), "different", "8 random numbers"),
    ("row by row", _rows, "unchecked", "with 2 keys"),
    ("a constant key", lambda rngs, shape: jax.random.normal(jax.random.key(3), shape), "different", "a constant key"),
]


@pytest.mark.parametrize("how,verdict,said", [way[1:] for way in WAYS], ids=[way[0] for way in WAYS])
def test_draws(how: Any, verdict: str, said: str) -> None:
    x = jnp.ones((2, 3))
    variables = Noisy().init({"params": jax.random.key(0), "noise": jax.random.key(1)}, x)
    report = compat.check_equivalence(Noisy(), variables, Native(how, rngs=nnx.Rngs(0)), x, rngs=["noise"])
    check = report["forward"]
    assert (check.verdict.value, said in check.detail) == (verdict, True), check.detail


def test_a_module_without_streams_has_constant_keys_only() -> None:
    x = jnp.ones((2, 3))
    variables = Noisy().init({"params": jax.random.key(0), "noise": jax.random.key(1)}, x)
    model = Native(WAYS[-1][1], rngs=None)
    report = compat.check_equivalence(Noisy(), variables, model, x, rngs=["noise"])
    assert report["forward"].verdict.value == "different" and "a constant key" in report["forward"].detail


class Twice(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        y = nn.Dropout(0.5, deterministic=False)(x)
        z = nn.Dropout(0.5, deterministic=False)(nn.Dense(3, name="d")(x))
        return (y + z) + 2.0 * x


class Swapped(nnx.Module):
    """Draws its two masks in the other order, and adds up in another one."""

    def __init__(self, rate: float) -> None:
        rngs = nnx.Rngs(0)
        self.d = nnx.Linear(3, 3, rngs=rngs)
        self.drop = nnx.Dropout(rate, deterministic=False, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        z = self.drop(self.d(x))
        return self.drop(x) + (z + 2.0 * x)


@pytest.mark.parametrize("rate,verdict", [(0.5, "unchecked"), (0.4, "different")])
def test_draws_of_another_order_do_not_make_training_different(rate: float, verdict: str) -> None:
    from nnx_migrate.compat.equivalence.training import check_training

    x = jnp.ones((4, 3))
    variables = Twice().init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, x)
    checks = check_training(Twice(), variables, lambda: Swapped(rate), [x], {}, streams=["dropout"], steps=2)
    assert checks[-1].name == "2 steps" and checks[-1].verdict.value == verdict, checks


class TwoStreams(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.Dropout(0.5, deterministic=False)(nn.Dense(3, name="d")(x))
        return x + jax.random.normal(self.make_rng("noise"), x.shape)


class TwoStreamsNative(nnx.Module):
    def __init__(self, masks: str, noise: str, rngs: nnx.Rngs) -> None:
        self.d = nnx.Linear(3, 3, rngs=rngs)
        self.drop = nnx.Dropout(0.5, deterministic=False, rngs=rngs, rng_collection=masks)
        self.rngs, self.noise = rngs, noise

    def __call__(self, x: Any) -> Any:
        x = self.drop(self.d(x))
        return x + jax.random.normal(self.rngs[self.noise](), x.shape)


@pytest.mark.parametrize(
    "masks,noise,proved",
    [
        ("dropout", "noise", True),
        ("noise", "dropout", False),  # exchanged
        ("dropout", "dropout", False),  # a caller that keeps the noise fixed would not get what he asks for
        ("params", "noise", False),
        ("masks", "gaussian", True),  # names of its own
    ],
)
def test_streams_answer_to_their_names(masks: str, noise: str, proved: bool) -> None:
    x = jnp.ones((2, 3))
    keys = dict(zip(("params", "dropout", "noise"), jax.random.split(jax.random.key(0), 3)))
    variables = TwoStreams().init(keys, x)
    names = {"params": 0, "dropout": 1, "noise": 2, "masks": 3, "gaussian": 4}
    streams = ["dropout", "noise"]
    native = TwoStreamsNative(masks, noise, nnx.Rngs(**names))
    check = compat.check_equivalence(TwoStreams(), variables, native, x, rngs=streams)["forward"]
    assert check.verdict.value == ("proved" if proved else "different"), check.detail
    assert proved or "drawn from the stream" in check.detail
    # One stream for all, as nnx.Rngs(0) gives it, may stand for each.
    alone = TwoStreamsNative(masks, noise, nnx.Rngs(0))
    assert compat.check_equivalence(TwoStreams(), variables, alone, x, rngs=streams).proved


def test_masks_under_a_mesh_are_proved() -> None:
    """nnx.Dropout reshards its mask to a layout that names no axis, which says nothing over Auto axes."""
    x = jax.ShapeDtypeStruct((4, 8), jnp.float32)
    mesh = jax.sharding.AbstractMesh((2, 4), ("data", "model"))
    drop = nn.Dropout(0.1, deterministic=False)
    options: Any = {"rngs": ["dropout"], "mesh": mesh}
    report = compat.compare_migrated(drop, lambda: nnx.Dropout(0.1, deterministic=False, rngs=nnx.Rngs(0)), x, **options)
    assert report.proved, report
    report = compat.compare_migrated(drop, lambda: nnx.Dropout(0.2, deterministic=False, rngs=nnx.Rngs(0)), x, **options)
    assert not report.proved, report


class LinenFourier(nn.Module):
    seed: int = 42

    def setup(self) -> None:
        one, two = jax.random.split(jax.random.PRNGKey(self.seed))
        self.freqs = jax.random.normal(one, (4,)) * 16 + jax.random.uniform(jax.random.fold_in(two, 3), (4,))

    def __call__(self, x: Any) -> Any:
        return jnp.sin(x[:, None] * (2 * jnp.pi * self.freqs)[None, :])


class NnxFourier(nnx.Module):
    def __init__(self, seed: int = 42) -> None:
        one, two = jax.random.split(jax.random.PRNGKey(seed))
        self.freqs = jax.random.normal(one, (4,)) * 16 + jax.random.uniform(jax.random.fold_in(two, 3), (4,))

    def __call__(self, x: Any) -> Any:
        return jnp.sin(x[:, None] * (2 * jnp.pi * self.freqs)[None, :])


@pytest.mark.parametrize("seed, verdict", [(42, "proved"), (43, "different")])
def test_draws_of_a_key_that_the_code_spells_are_constants(seed: int, verdict: str) -> None:
    report = compat.check_equivalence(LinenFourier(), {}, NnxFourier(seed), jnp.linspace(0.0, 1.0, 5))
    assert report["forward"].verdict.value == verdict, str(report)
