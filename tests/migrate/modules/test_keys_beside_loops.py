"""Modules that a call makes where its input has a key, beside others of their class in loops: the call counts them all."""

from __future__ import annotations

import inspect
from pathlib import Path

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

HEAD = """from typing import Dict, Sequence
import jax
import jax.numpy as jnp
from flax import linen as nn
from flax.core import FrozenDict


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Net(nn.Module):
    width: int = 4
    keys: Sequence[str] = ("a", "b")
    wide: bool = False

    @nn.compact
    def __call__(self, obs: Dict):
"""
BODIES = {
    "frozen": """obs = FrozenDict(obs)
xs = []
for key in self.keys:
    y = nn.LayerNorm()(nn.Dense(self.width)(obs[key]))
    for _ in range(2):
        y = nn.tanh(nn.Dense(self.width)(y))
    xs.append(y)
x = jnp.concatenate(xs, -1)
if "state" in obs:
    x = jnp.concatenate([x, nn.LayerNorm()(nn.Dense(7)(obs["state"]))], -1)
for _ in range(3):
    x = nn.relu(nn.Dense(self.width)(x))
return nn.Dense(2)(x)
""",
    "blocks": """width = 8
xs = []
for key in self.keys:
    xs.append(Block(width)(obs[key]))
width = 3
if "state" in obs:
    xs.append(Block(width)(obs["state"]))
x = jnp.concatenate(xs, -1)
if self.wide:
    x = Block(9)(x)
for key in self.keys:
    x = Block(self.width)(x)
return x
""",
    "some_passes": """xs = []
for i, key in enumerate(self.keys):
    norm = nn.LayerNorm() if self.wide else lambda y: y
    if i > 0:
        xs.append(norm(nn.Dense(self.width)(obs[key])))
    else:
        xs.append(norm(obs[key]))
if "state" in obs:
    xs.append(nn.LayerNorm()(nn.Dense(7)(obs["state"])))
return nn.Dense(2)(jnp.concatenate(xs, -1))
""",
    "either": """x = obs["a"]
if "state" not in obs:
    x = nn.Dense(3)(x)
else:
    x = nn.Dense(5)(x) + nn.Dense(5)(obs["state"])
for _ in self.keys:
    x = nn.Dense(4)(x)
return x
""",
}


def _program(body: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in body.splitlines())


def _inputs() -> dict[str, jax.Array]:
    sizes = {"a": 5, "b": 3, "state": 6}
    return {name: jax.random.normal(jax.random.key(size), (2, size)) for name, size in sizes.items()}


@pytest.mark.parametrize("name", BODIES)
def test_what_a_loop_makes_is_counted_with_what_a_key_asks_for(name: str) -> None:
    linen, migrated = both_sides(f"keys_beside_{name}", _program(BODIES[name]))
    whole = _inputs()
    less = {key: x for key, x in whole.items() if key != "state"}
    for obs in (whole, less):
        for fields in ({}, {"keys": ("b",)}, {"keys": ("b", "a", "b"), "width": 2, "wide": True}):
            model = linen.Net(**fields)
            variables = model.init(jax.random.key(1), obs)
            asked = {p for p in inspect.signature(migrated.Net.__init__).parameters if p.endswith("_features")}
            sizes = {name: obs[key].shape[-1] if (key := name.split("_")[1]) in obs else None for name in asked}
            native = migrated.Net(**fields, **sizes, in_example=obs, rngs=nnx.Rngs(0))
            compat.assert_equivalent(model, variables, native, obs)


def test_another_input_asks_for_other_modules_and_raises() -> None:
    _, migrated = both_sides("keys_beside_other", _program(BODIES["frozen"]))
    whole = _inputs()
    native = migrated.Net(in_example={"a": whole["a"], "b": whole["b"]}, rngs=nnx.Rngs(0))
    with pytest.raises(ValueError, match="asks for more"):
        native(whole)


@pytest.mark.parametrize(
    "loop",
    [
        "for i, key in enumerate(self.keys):\n    xs.append(nn.Dense(i + 1)(obs[key]))",
        "for key in self.keys:\n    xs.append(nn.Dense(width)(obs[key]))\n    width = width + 1",
        "for key in self.keys:\n    init = nn.initializers.constant(len(key))\n"
        "    xs.append(nn.Dense(4, bias_init=init)(obs[key]))",
        "xs = [nn.Dense(len(key))(obs[key]) for key in self.keys]",
    ],
)
def test_passes_that_make_unlike_modules_stay_linen_there(loop: str) -> None:
    body = f"xs = []\nwidth = self.width\n{loop}\n"
    body += 'if "state" in obs:\n    xs.append(nn.Dense(7)(obs["state"]))\nreturn nn.Dense(2)(jnp.concatenate(xs, -1))\n'
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", _program(body))])
    (net,) = [c for c in result.classes if c.qualname == "m.Net"]
    assert str(net.outcome) == "bridged"
