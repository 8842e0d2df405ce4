"""Calls that take `*inputs`: as many arrays as there are, of which the constructor has an example."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides, module

NETS = """from flax import linen as nn
import jax.numpy as jnp


class Joined(nn.Module):
    n: int = 3

    @nn.compact
    def __call__(self, *inputs):
        x = jnp.concatenate(inputs, axis=-1)
        for _ in range(self.n):
            x = nn.relu(nn.Dense(4)(x))
        return nn.Dense(2)(x)


class Summed(nn.Module):
    norm: bool = True

    @nn.compact
    def __call__(self, *inputs):
        out = 0.0
        for x in inputs:
            if self.norm:
                x = nn.LayerNorm()(x)
            out = out + nn.Dense(2)(x)
        return out


class Named(nn.Module):
    @nn.compact
    def __call__(self, *inputs):
        return sum(nn.Dense(2, name=f"proj_{i}")(x) for i, x in enumerate(inputs))


class Rest(nn.Module):
    @nn.compact
    def __call__(self, x, *rest):
        x = nn.Dense(2)(x)
        for r in rest:
            x = x + nn.Dense(2)(r)
        return x


class All(nn.Module):
    @nn.compact
    def __call__(self, a, b, c):
        y = Joined()(a, b) + Joined(n=1)(*[a, b, c]) + Summed()(a, c) + Rest()(b)
        return y + Rest()(b, a, c) + Named()(a) + Summed(norm=False)(a, b, c)


joined = Joined()
"""


@pytest.mark.parametrize("name", ["Joined", "Summed", "Named", "Rest", "All"])
def test_as_many_as_there_are(name: str) -> None:
    before, after = both_sides("several_arguments", NETS)
    xs = [jax.random.normal(jax.random.key(i), (2, 3 + i)) for i in range(3)]
    linen = getattr(before, name)()
    variables = linen.init(jax.random.key(0), *xs)
    sizes: dict[str, Any] = {"inputs_example": tuple(xs)}
    if name == "Rest":
        sizes = {"in_shape": xs[0].shape, "rest_example": tuple(xs[1:])}
    if name == "All":
        sizes = {"in_example": xs[0], "b_shape": xs[1].shape, "b_example": xs[1], "c_example": xs[2]}
    assert compat.check_equivalence(linen, variables, getattr(after, name)(**sizes, rngs=nnx.Rngs(0)), *xs)


PROGRAM = (
    NETS
    + """

def total(model, *xs):
    import jax

    variables = model.init(jax.random.PRNGKey(0), *xs)
    variables = jax.tree.map(lambda p: jnp.cos(jnp.arange(p.size, dtype=jnp.float32)).reshape(p.shape), variables)
    return f"{float(model.apply(variables, *xs).sum()):.4f}"


a, b = jnp.ones((8, 3)), jnp.arange(40.0).reshape(8, 5) / 40
print(total(Joined(), a, b), total(Joined(n=2), a), total(Summed(), a, b, a), total(Rest(), b, a), total(Rest(), b))
"""
)


def printed(name: str, text: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        module(name, text)
    return out.getvalue()


def test_programs_give_the_example() -> None:
    result = migrate_project([SourceFile.parse(Path("several.py"), "several", PROGRAM)])
    for path, content in result.created.items():
        module(path.stem, content)
    after = result.files[0].after
    assert after is not None and "'rest_example': linen_parity.Example(rest)" in after
    assert printed("several_after", after) == printed("several_before", PROGRAM) and len(printed("again", PROGRAM)) > 20


BEHIND_DEFAULTS = """from flax import linen as nn
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, scale=1.0, *rest):
        return nn.Dense(2)(jnp.concatenate([x, *rest], -1)) * scale


net = Net()
"""


def test_behind_defaults_they_have_no_example() -> None:
    (net,) = migrate_project([SourceFile.parse(Path("net.py"), "net", BEHIND_DEFAULTS)]).classes
    assert str(net.outcome) == "bridged" and net.code == "NNX110"


JOINED = """from flax import linen as nn
import jax.numpy as jnp


class Net(nn.Module):
    @nn.compact
    def __call__(self, *inputs):
        x = jnp.concatenate(list(inputs), -1)
        return nn.Dense(2)(x)
"""


def test_what_is_joined_is_found_by_a_call() -> None:
    before, after = both_sides("joined", JOINED)
    xs = [jax.random.normal(jax.random.key(i), (2, 3 + i)) for i in range(2)]
    variables = before.Net().init(jax.random.key(0), *xs)
    assert compat.check_equivalence(before.Net(), variables, after.Net(inputs_example=xs, rngs=nnx.Rngs(0)), *xs)


HELD = """from flax import linen as nn
import jax


def leaves(x):
    return jax.tree.leaves(x)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, *more):
        return nn.Dense(3)(leaves(x)[0]) + sum(more)


net = Net()
"""


def test_what_they_hold_beside_sizes() -> None:
    before, after = both_sides("held", HELD)
    xs = [jax.random.normal(jax.random.key(i), (2, width)) for i, width in enumerate((5, 3, 3))]
    variables = before.Net().init(jax.random.key(0), *xs)
    new = after.Net(in_example=xs[0], more_example=tuple(xs[1:]), rngs=nnx.Rngs(0))
    assert compat.check_equivalence(before.Net(), variables, new, *xs)
