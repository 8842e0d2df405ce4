"""Initializers under a name of which each pass of a loop has its own: `init = lambda *args: uniform(*args, bound)`."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

HEAD = """import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn


class Net(nn.Module):
    width: int = 8
    depth: int = 3

    @nn.compact
    def __call__(self, x):
"""
BOUND = "bound = 1 / x.shape[-1] if i == 0 else np.sqrt(6 / x.shape[-1]) / 30"
LAMBDA = "init = lambda key, shape, dtype=jnp.float32: jax.random.uniform(key, shape, dtype, bound / 2, bound)"
DEF = "def init(key, shape, dtype=jnp.float32):\n        return jax.random.uniform(key, shape, dtype, bound / 2, bound)"
LOOP = "for i in range(self.depth):\n    "
LAYER = "x = jnp.sin(nn.Dense(self.width, kernel_init=init, bias_init=init)(x))"
BODIES = {
    "a_lambda": f"{LOOP}{BOUND}\n    {LAMBDA}\n    {LAYER}\nreturn x",
    "a_function": f"{LOOP}{BOUND}\n    {DEF}\n    {LAYER}\nreturn x",
    "named_layers": f"{LOOP}{BOUND}\n    {LAMBDA}\n"
    "    x = jnp.sin(nn.Dense(self.width, kernel_init=init, bias_init=init, name=f'layer_{i}')(x))\nreturn x",
    "changed_behind": f"bound = 1 / x.shape[-1]\n{LOOP}{LAMBDA}\n"
    f"    {LAYER}\n    bound = np.sqrt(6 / x.shape[-1]) / 30\nreturn x",
    "under_a_condition": f"{LOOP}{BOUND}\n    {LAMBDA}\n    if self.width > 2:\n        {LAYER}\nreturn x",
    "a_parameter": f"{LOOP}{BOUND}\n    {LAMBDA}\n"
    "    x = jnp.sin(x @ self.param(f'kernel_{i}', init, (x.shape[-1], self.width)))\nreturn x",
}


def _text(body: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in body.splitlines())


@pytest.mark.parametrize("kind", BODIES)
def test_each_pass_has_its_own(kind: str) -> None:
    before, after = both_sides(f"passes_{kind}", _text(BODIES[kind]))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3)), jnp.float32)
    linen, new = before.Net(), after.Net(in_features=3, rngs=nnx.Rngs(0))
    variables = linen.init(jax.random.key(0), x)
    for made in (variables["params"], compat.to_linen(new)["params"]):
        leaves = jax.tree.leaves_with_path(made)
        assert len(leaves) == (3 if kind == "a_parameter" else 6)
        for path, leaf in leaves:
            first = any(str(part).strip("'[]").endswith("_0") for part in path)
            bound = 1 / 3 if first else np.sqrt(6 / 8) / 30
            assert bound / 2 <= float(leaf.min()) and float(leaf.max()) <= bound, (path, bound)
    assert compat.check_equivalence(linen, variables, new, x)


LEFT = {
    "changed_before_the_call": f"{LOOP}bound = 1 / (i + 1)\n    {LAMBDA}\n    bound = 2 * bound\n"
    "    x = nn.Dense(self.width, kernel_init=init)(x)\nreturn x",
    "kept_for_later": f"made = []\n{LOOP}bound = 1 / (i + 1)\n    {LAMBDA}\n"
    "    made.append(nn.Dense(self.width, kernel_init=init))\nfor one in made:\n    x = one(x)\nreturn x",
    "called_behind_the_loop": f"{LOOP}bound = 1 / (i + 1)\n    {LAMBDA}\nreturn nn.Dense(self.width, kernel_init=init)(x)",
    "of_the_pass_before": "init = nn.initializers.ones\n"
    f"{LOOP}bound = 1 / (i + 1)\n    x = nn.Dense(self.width, kernel_init=init)(x)\n    {LAMBDA}\nreturn x",
    "an_inner_loop": f"{LOOP}bound = 1 / (i + 1)\n    {LAMBDA}\n    for j in range(2):\n"
    "        x = nn.Dense(self.width, kernel_init=init)(x)\n        bound = 2 * bound\nreturn x",
    "made_later": f"{LOOP}bound = 1 / (i + 1)\n    {LAMBDA}\n"
    "    x = nn.Dense(self.width, kernel_init=init)(jnp.concatenate([*jnp.split(x, 2, -1)][: i + 1], -1))\nreturn x",
}


@pytest.mark.parametrize("kind", LEFT)
def test_what_another_pass_may_call_is_not_said_so(kind: str) -> None:
    result = migrate_project([SourceFile.parse(Path("net.py"), "net", _text(LEFT[kind]))])
    (plan,) = result.classes
    assert str(plan.outcome) == "bridged", (kind, result.files[0].after)
