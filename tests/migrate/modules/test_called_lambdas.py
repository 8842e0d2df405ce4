"""Lambdas as initializers are written as what they give, or called as they stand where that could be something else."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

COMPACT = """import jax
import jax.numpy as jnp
from flax import linen as nn

SCALE = 3.0


class Net(nn.Module):
    size: int = 4
    scale: float = 0.5

    @nn.compact
    def __call__(self, x):
        w = self.{made}
        return x @ jnp.ones((x.shape[-1], 4)) + (w.value if hasattr(w, "value") else w)
"""

SETUP = """import jax
import jax.numpy as jnp
from flax import linen as nn

SCALE = 3.0


class Net(nn.Module):
    size: int = 4
    scale: float = 0.5

    def setup(self):
        n = self.size
        self.w = self.{made}

    def __call__(self, x):
        return x @ jnp.ones((x.shape[-1], 4)) + (self.w.value if hasattr(self.w, "value") else self.w)
"""

# What is written in a compact method and in setup, and what the constructor says; None: it is called where it stands.
CASES = [
    ("param('w', lambda key: jnp.full((), jnp.log(self.scale)))", "jnp.full((), jnp.log({}scale))"),
    ("param('w', init_fn=lambda key: jnp.full((), SCALE))", "jnp.full((), SCALE)"),
    ("param('w', lambda *_: jnp.arange(1, self.size + 1) * jnp.pi, (self.size,))", "jnp.arange(1, {}size + 1) * jnp.pi"),
    ("param('w', lambda k, s: jnp.zeros(s, jnp.float16), (self.size,))", "jnp.zeros(({}size,), jnp.float16)"),
    (
        "param('w', lambda k, s, d=jnp.float32: jnp.ones(s, d) * self.scale, (self.size,))",
        "jnp.ones(({}size,), jnp.float32) * {}scale",
    ),
    (
        "param('w', lambda k, s, d=jnp.float32: jnp.ones(s, d), (self.size,), jnp.float16)",
        "jnp.ones(({}size,), jnp.float16)",
    ),
    (
        "param('w', lambda k, s: jax.random.normal(k, s) * self.scale, (self.size,))",
        "jax.random.normal(rngs.params(), ({}size,)) * {}scale",
    ),
    ("param('w', lambda k, size: jnp.full(size, self.scale), self.size)", "jnp.full(self.size, {}scale)"),
    ("param('w', lambda k, n: jnp.full(n, n), self.size)", "jnp.full({}size, {}size)"),
    ("variable('stats', 'w', lambda s: jnp.zeros(s), (self.size,))", "jnp.zeros(({}size,))"),
    ("variable('stats', 'w', lambda: jnp.zeros((self.size,)))", "jnp.zeros(({}size,))"),
    ("param('w', lambda k, s: jax.random.normal(k, s) * s[0], (self.size,))", None),  # asked twice
    ("param('w', lambda k, s: jnp.ones(s[0]), (self.size + 0, 1))", None),  # an item of it
    ("param('w', lambda k: jax.random.normal(k, (4,)) + jax.random.uniform(k, (4,)))", None),  # one key, two draws
    ("param('w', lambda k, n: jnp.ones(4) * n, self.size + 1)", None),  # would need brackets
    ("param('w', lambda *a: jnp.ones(a[1]), (self.size,))", None),
    ("param('w', lambda k, n: jnp.array([i * 1.0 for i in range(n)]), self.size)", None),  # names of its own
    ("param('w', lambda k, n: (lambda size: jnp.ones(size))(n), self.size)", None),
]


@pytest.mark.parametrize("form", [COMPACT, SETUP])
@pytest.mark.parametrize("made,said", CASES)
def test_first_values(form: str, made: str, said: str | None) -> None:
    program = form.format(made=made)
    got = migrate_project([SourceFile.parse(Path("m.py"), "m", program)]).files[0].after
    assert got is not None
    (line, *more) = [line for line in got.splitlines() if "self.w = " in line]
    assert not more and ("(lambda" in got) is (said is None), line
    if said is not None:
        assert f"({said.replace('{}', 'self.' if form is SETUP else '')})" in line
    linen, after = module("called_lambdas_before", program).Net(), module("called_lambdas_after", got)
    new = after.Net(**({"in_features": 3} if "in_features" in got else {}), rngs=nnx.Rngs(0))
    x = jnp.arange(6.0).reshape(2, 3)
    variables = linen.init(jax.random.key(0), x)
    assert compat.check_equivalence(linen, variables, new, x)
    new = after.Net(**({"in_features": 3} if "in_features" in got else {}), rngs=nnx.Rngs(0))
    first = jax.tree.leaves(nnx.state(new, nnx.Not(nnx.RngState)))
    for made_there, here in zip(jax.tree.leaves(variables), first, strict=True):
        assert made_there.shape == here.shape and made_there.dtype == here.dtype
        assert "random" in made or jnp.array_equal(made_there, here)
