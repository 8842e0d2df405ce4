"""Initializers under a name, which functions of the program make of sizes, and sizes that a loop leaves for its next."""

from __future__ import annotations

from pathlib import Path

import jax
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

HEAD = """from typing import Sequence
import jax
import jax.numpy as jnp
from flax import linen as nn


def full(n, extra=0.0):
    def init(key, shape, dtype=jnp.float32):
        return jnp.full(shape, n + extra, dtype)

    return init


def either(n, mode="in"):
    if mode == "in":
        c = n
    elif mode == "out":
        c = 2 * n
    else:
        raise ValueError(mode)
    return lambda key, shape, dtype: jnp.full(shape, c, dtype)


class Net(nn.Module):
    widths: Sequence[int] = (3, 4, 5)
    flag: bool = True
    k: int = 3

    @nn.compact
    def __call__(self, x):
"""
BODIES = {
    "named_twice": """init = full(x.shape[-1])
x = nn.Dense(4, bias_init=init)(x)
init = full(x.shape[-1], extra=self.k)
x = nn.Dense(5, bias_init=init)(x)
return nn.Dense(6, bias_init=init)(x)
""",
    "by_a_condition": """if self.flag:
    init = full(x.shape[-1])
else:
    init = either(x.shape[-1], mode="out")
return nn.Dense(4, bias_init=init)(nn.Dense(2)(x))
""",
    "of_each_pass": """n = x.shape[-1]
for f in self.widths:
    init = full(n)
    x = nn.Dense(f, bias_init=init)(x)
    n = f
return nn.Dense(2, bias_init=full(n))(x)
""",
    "counted": """n = x.shape[-1]
for i, (f, (a, b)) in enumerate(zip(self.widths, ((1, 2), (3, 4), (5, 6)))):
    units = (i + a) * n
    n = f
    x = nn.Dense(f, bias_init=full(units))(x)
    x = nn.Dense(b, bias_init=full(n))(x)
return nn.Dense(2, bias_init=full(units))(x)
""",
    "swapped": """n = x.shape[-1]
m = n
for f in self.widths:
    n, m = m, f
    x = nn.Dense(f, bias_init=full(n))(x)
return nn.Dense(2, bias_init=full(m))(x)
""",
    "nested": """n = x.shape[-1]
for f in self.widths:
    for g in (1, 2):
        x = nn.Dense(f * g, bias_init=full(n))(x)
        n = g
    n = n + f
return x
""",
    "of_a_field": """n = x.shape[-1]
for f in self.widths:
    x = nn.Dense(f, bias_init=full(n))(x)
    if f > 3:
        n = self.k
return x
""",
}


def _program(body: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in body.splitlines())


def _biases(params: object) -> dict[str, np.ndarray]:
    leaves = jax.tree_util.tree_leaves_with_path(params)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves if "bias" in str(path)}


@pytest.mark.parametrize("name", BODIES)
def test_the_constructor_makes_the_initializer_of_the_sizes_that_it_knows(name: str) -> None:
    linen, migrated = both_sides(f"initializers_{name}", _program(BODIES[name]))
    x = jax.random.normal(jax.random.key(0), (7, 6))
    for fields in ({}, {"flag": False}, {"widths": (4, 2), "k": 7}):
        model = linen.Net(**fields)
        variables = model.init(jax.random.key(1), x)
        native = migrated.Net(**fields, in_features=6, rngs=nnx.Rngs(0))
        expected, found = _biases(variables["params"]), _biases(compat.to_linen(native)["params"])
        assert expected.keys() == found.keys()
        assert all(np.array_equal(expected[key], found[key]) for key in expected)
        compat.assert_equivalent(model, variables, native, x)


@pytest.mark.parametrize(
    "body",
    [
        "init = full(float(x.mean()))\nreturn nn.Dense(4, bias_init=init)(x)",
        "init = full(x.max())\nreturn nn.Dense(4, bias_init=init)(x)",
        "sizes = [x.shape[-1]]\ninit = full(*sizes)\nsizes.append(2)\nreturn nn.Dense(4, bias_init=init)(x)",
        "n = x.mean()\nfor f in self.widths:\n    x = nn.Dense(f, bias_init=full(n))(x)\n    n = f\nreturn x",
    ],
)
def test_what_arrays_hold_is_left_to_the_call(body: str) -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", _program(body))])
    (net,) = result.classes
    assert str(net.outcome) == "bridged" and "known only when the module is called" in net.reason
