"""Classes that a decorator lifts stay Linen; what contains them has their modules under Linen's names."""

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

STACKED = "variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=3"
PROGRAM = """import functools
from flax import linen as nn


def stacked(cls):
    return nn.vmap(cls, STACKED)


BY_NAME = functools.partial(nn.vmap, STACKED)


DECORATORS
class Block(nn.Module):
    w: int = 4

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.w)(x)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(Block()(x)) + Block()(x).sum() + Block(name="own")(x).sum()
""".replace("STACKED", STACKED)


@pytest.mark.parametrize(
    "decorators,label",
    [
        (f"@functools.partial(nn.vmap, {STACKED})", "VmapBlock"),
        ("@nn.remat", "CheckpointBlock"),
        ("@nn.jit\n@nn.remat", "JitCheckpointBlock"),
    ],
)
def test_names_of_decorated_classes(decorators: str, label: str) -> None:
    text = PROGRAM.replace("DECORATORS", decorators)
    result = migrate_project([SourceFile.parse(Path("net.py"), "net", text)])
    net = next(c for c in result.classes if c.qualname == "net.Net")
    assert str(net.outcome) == "native", net.reason
    for path, content in result.created.items():
        module(path.stem, content)
    before, after = module(f"{label}_before", text), module(f"{label}_after", result.files[0].after or "")
    x = jnp.ones((2, 3))
    variables = before.Net().init(jax.random.key(0), x)
    assert set(variables["params"]) == {f"{label}_0", f"{label}_1", "Dense_0", "own"}
    new = after.Net(**{a.name: eval(a.origin, {"x": x}) for a in net.added_arguments}, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(before.Net(), variables, new, x)


@pytest.mark.parametrize("decorator", ["@stacked", "@BY_NAME"])
def test_a_decorator_that_gives_names_of_its_own_leaves_the_class_linen(decorator: str) -> None:
    result = migrate_project([SourceFile.parse(Path("net.py"), "net", PROGRAM.replace("DECORATORS", decorator))])
    net = next(c for c in result.classes if c.qualname == "net.Net")
    assert str(net.outcome) == "bridged" and net.code == "NNX130" and decorator[1:] in net.reason
