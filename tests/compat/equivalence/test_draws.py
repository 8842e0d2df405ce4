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
