"""Modules of a dictionary's keys, for arrays of which each has its own width."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat

from .loading import both_sides

TEXT = """from typing import Dict, Sequence, Tuple

import jax.numpy as jnp
from flax import linen as nn


class Encoder(nn.Module):
    width: int = 4

    @nn.compact
    def __call__(self, x, train: bool = False):
        x = nn.relu(nn.Dense(self.width)(x))
        return nn.Dropout(0.5)(x, deterministic=not train)


class Named(nn.Module):
    keys: Sequence[str] = ("a", "b")

    def setup(self):
        self.encoders = {key: Encoder(name=f"enc_{key}") for key in self.keys}
        self.out = nn.Dense(2)

    def __call__(self, obs):
        found = []
        for key in self.keys:
            found.append(self.encoders[key](obs[key]))
        return self.out(jnp.concatenate(found, -1))


class Items(nn.Module):
    keys: Sequence[str] = ("b", "a")

    def setup(self):
        self.encoders = {key: Encoder() for key in self.keys}
        self.out = nn.Dense(2)

    def __call__(self, obs):
        found = [encode(obs[key]) for key, encode in self.encoders.items()]
        return self.out(jnp.concatenate(found, -1))


class OfInput(nn.Module):
    keys: Sequence[str] = ("a", "b")

    def setup(self):
        self.encoders = {key: Encoder() for key in self.keys}

    def __call__(self, obs):
        total = 0.0
        for key, value in obs.items():
            total = total + self.encoders[key](value)
        return total


class Compact(nn.Module):
    keys: Sequence[str] = ("a", "b")

    @nn.compact
    def __call__(self, obs):
        found = []
        for i, key in enumerate(self.keys):
            found.append(Encoder(name=f"enc_{key}")(obs[key]) * (i + 1))
        return nn.Dense(2)(jnp.concatenate(found, -1))


class ByMethod(nn.Module):
    keys: Sequence[str] = ("a", "b")

    def setup(self):
        self.encoders = {key: nn.Dense(4) for key in self.keys}

    def encode(self, key, x):
        return self.encoders[key](x)

    def __call__(self, obs):
        return sum(self.encode(key, obs[key]) for key in self.keys)


class OwnKeys(nn.Module):
    keys: Sequence[str] = ("a", "b")

    def setup(self):
        self.encoders = {key: nn.Dense(4) for key in self.keys}

    def __call__(self, obs):
        total = 0.0
        for key in obs:
            total = total + self.encoders[key](obs[key])
        return total


class Chains(nn.Module):
    keys: Sequence[str] = ("a", "b")

    def setup(self):
        self.encoders = {key: nn.Sequential([nn.Dense(4), nn.relu, nn.Dense(3)]) for key in self.keys}

    def __call__(self, obs):
        return sum(self.encoders[key](obs[key]) for key in self.keys)


class ListOfChains(nn.Module):
    keys: Sequence[str] = ("a", "b")

    def setup(self):
        self.encoders = [nn.Sequential([nn.Dense(4), nn.relu, nn.Dense(3)]) for _ in self.keys]

    def __call__(self, obs):
        total = 0.0
        for key, encode in zip(self.keys, self.encoders):
            total = total + encode(obs[key])
        return total


class OfSizes(nn.Module):
    sizes: Dict[str, Tuple[int, ...]]

    def setup(self):
        self.encoders = {key: nn.Dense(4) if len(size) == 1 else lambda x: x for key, size in self.sizes.items()}

    def __call__(self, obs):
        return jnp.concatenate([encode(obs[key]) for key, encode in self.encoders.items()], axis=-1)


class KeysOfSizes(nn.Module):
    sizes: Dict[str, Tuple[int, ...]]

    def setup(self):
        self.encoders = {key: nn.Dense(4) for key in self.sizes}

    def __call__(self, obs):
        return jnp.concatenate([encode(obs[key]) for key, encode in self.encoders.items()], axis=-1)
"""
OBS = {"a": jnp.linspace(-1, 1, 6).reshape(2, 3), "b": jnp.linspace(0, 1, 10).reshape(2, 5)}
SIZES = {"sizes": {"b": (5,), "a": (3,)}}


@pytest.fixture(scope="module")
def sides() -> Any:
    return both_sides("by_key", TEXT)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        *[(name, {}) for name in ("Named", "Items", "OfInput", "Compact", "ByMethod", "OwnKeys", "Chains", "ListOfChains")],
        ("Named", {"keys": ("b",)}),
        ("OfSizes", SIZES),
        ("OfSizes", {"sizes": {"a": (3, 2), "b": (5,)}}),
        ("KeysOfSizes", SIZES),
    ],
)
def test_each_key_has_its_own_width(sides: Any, name: str, fields: dict[str, Any]) -> None:
    before, after = sides
    linen = getattr(before, name)(**fields)
    obs = {key: OBS[key] for key in fields.get("keys", OBS)}
    variables = linen.init(jax.random.key(0), obs)
    new = getattr(after, name)(**fields, in_example=obs, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, obs)


PARENT = f"""{TEXT}

class Net(nn.Module):
    @nn.compact
    def __call__(self, obs, scale):
        return nn.Dense(1)(Items()(obs) * scale)
"""


def test_what_holds_such_a_class_is_given_the_example() -> None:
    before, after = both_sides("by_key_parent", PARENT)
    linen = before.Net()
    variables = linen.init(jax.random.key(0), OBS, 2.0)
    new = after.Net(in_example=OBS, scale_example=2.0, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, OBS, 2.0)


def test_another_key_raises_as_in_linen(sides: Any) -> None:
    before, after = sides
    new = after.Named(in_example=OBS, rngs=nnx.Rngs(0))
    linen = before.Named()
    variables = linen.init(jax.random.key(0), OBS)
    for call in (lambda: new({"a": OBS["a"]}), lambda: linen.apply(variables, {"a": OBS["a"]})):
        with pytest.raises(KeyError):
            call()
