"""Modules that each branch of a flag makes for itself, and names that loops take over from what is lifted."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

HEAD = """from functools import partial
import flax.linen as nn
import jax
import jax.numpy as jnp


class Weigh(nn.Module):
    width: int
    by: float = 1.0

    @nn.compact
    def __call__(self, x, weights=False):
        w = nn.softmax(nn.Dense(x.shape[-1])(x))
        y = nn.Dense(self.width)(w * x) * self.by
        return (y, w) if weights else y


class Net(nn.Module):
    width: int = 4
    by: float = 2.0

    @nn.compact
    def __call__(self, x, weights=False, other=False):
"""
NAMED = """
        x = nn.Dense(6)(x)
        if weights:
            y, w = Weigh(self.width, self.by, name='weigh')(x, weights=True)
        else:
            y, w = Weigh(self.width, self.by, name='weigh')(x), None
        y = Weigh(3)(y)
        return (y, w) if weights else y
"""
NUMBERED = """
        x = Weigh(6)(x)
        if weights:
            y, w = Weigh(self.width)(jnp.tanh(x), weights=True)
        else:
            y, w = Weigh(
                self.width
            )(x), None
        y = Weigh(3)(y)
        return (y, w) if weights else y
"""
THREE = """
        if weights:
            y, w = Weigh(self.width, name='weigh')(x, weights=True)
            y = nn.Dense(2)(y)
        elif other:
            y = nn.Dense(2)(Weigh(self.width, name='weigh')(x + 1))
        else:
            y = nn.Dense(2)(Weigh(self.width, name='weigh')(x))
        return y
"""
EARLY = """
        if weights:
            return Weigh(self.width, name='weigh')(x, weights=True)
        y = jnp.tanh(x)
        return Weigh(self.width, name='weigh')(y)
"""
RAISED = """
        if weights and other:
            raise ValueError('one or the other')
        elif weights:
            return Weigh(self.width, name='weigh')(x, weights=True)[0]
        else:
            return Weigh(self.width, name='weigh')(x)
"""
LAYERS = """
        if other:
            x = nn.Dense(self.width, kernel_init=nn.initializers.normal(0.5), name='into')(x)
        else:
            x = jnp.tanh(nn.Dense(self.width, kernel_init=nn.initializers.normal(0.5), name='into')(x))
        return x
"""


def _is_native(text: str) -> dict[str, str]:
    result = migrate_project([SourceFile.parse(Path("net.py"), "net", text)])
    return {c.qualname.rpartition(".")[2]: f"{c.outcome} {c.reason}" for c in result.classes}


@pytest.mark.parametrize("body", [NAMED, NUMBERED, THREE, EARLY, RAISED, LAYERS])
@pytest.mark.parametrize("flags", [(False, False), (True, False), (False, True)])
def test_a_module_that_each_branch_makes_for_itself_is_one(body: str, flags: tuple[bool, bool]) -> None:
    before, after = both_sides("branches", HEAD + body)
    assert issubclass(after.Net, nnx.Module)
    linen, x = before.Net(), jnp.arange(10.0).reshape(2, 5) / 10
    variables = linen.init(jax.random.key(0), x)
    new = after.Net(in_features=5, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, x, *flags)


UNLIKE = {
    "given something else": """
        if weights:
            return Weigh(self.width, 2.0, name='weigh')(x)
        return Weigh(self.width, 3.0, name='weigh')(x)
""",
    "what it is given changes on the way": """
        if weights:
            k = self.by
            return Weigh(self.width, k, name='weigh')(x)
        else:
            k = self.by + 1
            return Weigh(self.width, k, name='weigh')(x)
""",
    "one computed name": """
        if weights:
            return Weigh(self.width, 2.0, name=f'weigh_{self.width}')(x)
        return Weigh(self.width, 3.0, name=f'weigh_{self.width}')(x)
""",
    "one computed name in a loop": """
        for i in range(2):
            if weights:
                x = Weigh(self.width, 2.0, name=f'weigh_{i}')(x)
            else:
                x = Weigh(self.width, 3.0, name=f'weigh_{i}')(x)
        return x
""",
    "shapes under one computed name": """
        if weights:
            return nn.Dense(3, name=f'weigh_{self.width}')(x)
        return nn.Dense(4, name=f'weigh_{self.width}')(x)
""",
    "what is given under one computed name changes": """
        for i in range(2):
            if weights:
                k = 1
                x = Weigh(self.width, self.by * k, name=f'weigh_{i}')(x)
            else:
                k = 2
                x = Weigh(self.width, self.by * k, name=f'weigh_{i}')(x)
        return x
""",
    "what it is given is changed in one branch": """
        options = {"by": self.by}
        if weights:
            options["by"] = 3.0
            return Weigh(self.width, options["by"], name='weigh')(x)
        else:
            return Weigh(self.width, options["by"], name='weigh')(x)
""",
    "what it is given is updated in one branch": """
        options = {"by": self.by}
        if weights:
            options.update(by=3.0)
            return Weigh(self.width, options["by"], name='weigh')(x)
        return Weigh(self.width, options["by"], name='weigh')(x)
""",
    "a condition makes one of its kind": """
        if Weigh(2)(x).shape[-1] > 1 and weights:
            return Weigh(self.width)(x)
        else:
            return Weigh(self.width)(x + 1)
""",
    "a function makes one of its kind": """
        def into(y):
            return Weigh(3)(y)

        if weights:
            return Weigh(self.width)(into(x))
        y = into(x)
        return Weigh(self.width)(y)
""",
    "another of its kind comes first in one branch": """
        if weights:
            y = Weigh(self.width)(Weigh(5)(x))
            y = Weigh(7)(y)
        else:
            y = Weigh(7)(x)
        return y
""",
}


@pytest.mark.parametrize("which", UNLIKE)
def test_modules_that_are_unlike_stay_two(which: str) -> None:
    found = _is_native(HEAD + UNLIKE[which])["Net"]
    assert found.startswith("bridged"), found


COMPUTED = """
        for i in range(2):
            if weights:
                x = Weigh(self.width, self.by, name=f'weigh_{i}')(x)
            else:
                x = Weigh(self.width, self.by, name=f'weigh_{i}')(x + 1)
        return x
"""


@pytest.mark.parametrize("flag", [False, True])
def test_what_is_made_alike_under_one_computed_name_is_one(flag: bool) -> None:
    before, after = both_sides("computed", HEAD + COMPUTED)
    linen, x = before.Net(), jnp.arange(10.0).reshape(2, 5) / 10
    variables = linen.init(jax.random.key(0), x)
    assert compat.check_equivalence(linen, variables, after.Net(in_features=5, rngs=nnx.Rngs(0)), x, flag)


SHADOWED = """import flax.linen as nn
from flax.linen import partitioning

remat = partitioning.remat


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, mask=None, flag: bool = True):
        return x + nn.Dense(self.width)(nn.LayerNorm()(x)), None


class Blocks(nn.Module):
    width: int = 4
    depth: int = 2
    saved: str = ''
    scanned: bool = False

    @nn.compact
    def __call__(self, x, mask=None, flag: bool = True):
        block = Block
        if self.saved != '':
            block = remat(Block, static_argnums=(2,), prevent_cse=not self.scanned)
        if self.scanned:
            over = (nn.broadcast, nn.broadcast)
            lifted = nn.scan(
                block, variable_axes={'params': 0}, split_rngs={'params': True},
                in_axes=(nn.broadcast, nn.broadcast), length=self.depth,
            )
            x, _ = lifted(self.width, name='scan')(x, mask, flag)
        else:
            blocks = [block(self.width, name=str(i)) for i in range(self.depth)]
            LOOP
        return x
"""
LOOPS = [
    "for block in blocks:\n                x, _ = block(x, mask, flag)",
    "for block in blocks: x = block(x, mask, flag)[0]",
]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("fields", [{}, {"saved": "all"}, {"scanned": True}, {"saved": "all", "scanned": True}])
def test_a_loop_may_take_the_name_of_what_is_lifted(loop: str, fields: dict[str, object]) -> None:
    before, after = both_sides("shadowed", SHADOWED.replace("LOOP", loop))
    linen, x = before.Blocks(**fields), jnp.ones((2, 4))
    variables = linen.init(jax.random.key(0), x)
    assert compat.check_equivalence(linen, variables, after.Blocks(**fields, in_features=4, rngs=nnx.Rngs(0)), x)
