"""Calls that hand all that they are given on: `__call__(self, *args, **kwargs)` returns `self.forward(*args, **kwargs)`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

NETS = """from flax import linen as nn
import jax.numpy as jnp


class Critic(nn.Module):
    n: int = 4

    def setup(self):
        self.net = nn.Dense(self.n)
        self.drop = nn.Dropout(0.5)

    def __call__(self, *args, **kwargs):
        \"\"\"As `forward`.\"\"\"
        return self.forward(*args, **kwargs)

    def forward(self, obs: jnp.ndarray, act, deterministic: bool = True, *, scale=2.0):
        return self.drop(self.net(jnp.concatenate([obs, act], -1)), deterministic=deterministic) * scale


class Compact(nn.Module):
    @nn.compact
    def forward(self, obs, act):
        return nn.Dense(3)(jnp.concatenate([obs, act], -1))

    def __call__(self, *xs):
        return self.forward(*xs)


class Both(nn.Module):
    def setup(self):
        pair = nn.vmap(
            Critic, in_axes=None, out_axes=1, variable_axes={"params": 1}, split_rngs={"params": True}, axis_size=2
        )
        self.pair = pair(3)
        self.one = Critic()
        self.other = Compact()

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def forward(self, obs, act):
        one = self.one(obs, act=act, scale=0.5).sum() + self.other(obs, act).sum()
        return self.pair(obs, act).sum(1) + one


critics = [Critic(), Critic(5)]
"""


@pytest.mark.parametrize("name", ["Critic", "Compact", "Both"])
def test_it_says_what_the_method_takes(name: str) -> None:
    before, after = both_sides("forwarded_calls", NETS)
    obs, act = jax.random.normal(jax.random.key(0), (2, 3)), jax.random.normal(jax.random.key(1), (2, 5))
    linen = getattr(before, name)()
    variables = linen.init(jax.random.key(0), obs, act)
    sizes: dict[str, Any] = {"in_features": 3, "act_features": 5}
    new = getattr(after, name)(**sizes, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, obs, act)


DERIVED = """from flax import linen as nn


class Base(nn.Module):
    def setup(self):
        self.net = nn.Dense(2)

    def __call__(self, *args):
        return self.forward(*args)

    def forward(self, obs, act):
        return self.net(obs + act.mean())


class Wider(Base):
    def forward(self, obs, act, more=1.0):
        return self.net(obs + act.sum() * more)
"""


def test_where_a_derived_class_takes_something_else_it_stays() -> None:
    result = migrate_project([SourceFile.parse(Path("derived.py"), "derived", DERIVED)])
    assert "def __call__(self, *args):" in (result.files[0].after or "")
    assert {c.qualname: str(c.outcome) for c in result.classes} == {"derived.Base": "native", "derived.Wider": "bridged"}


KEEPS = {
    "another order": "    def __call__(self, *args, **kwargs):\n        return self.forward(*args[::-1], **kwargs)",
    "more": "    def __call__(self, *args, **kwargs):\n        return self.forward(*args, **kwargs, scale=1)",
    "a name of its own": "    def __call__(self, x, *args):\n        return self.forward(x, *args)",
    "another's": "    def __call__(self, *args):\n        return self.net.forward(*args)",
}


@pytest.mark.parametrize("call", KEEPS.values(), ids=KEEPS.keys())
def test_other_calls_keep_their_arguments(call: str) -> None:
    text = (
        "from flax import linen as nn\n\n\nclass Net(nn.Module):\n    def setup(self):\n        self.net = nn.Dense(2)\n\n"
        f"{call}\n\n    def forward(self, x, scale=2):\n        return self.net(x) * scale\n"
    )
    result = migrate_project([SourceFile.parse(Path("net.py"), "net", text)])
    assert call.splitlines()[0] in (result.files[0].after or text)
