"""Lists of modules that a compact method makes in a loop and gives to another module: ensembles, experts, branches."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

PARTS = """from typing import Sequence
from flax import linen as nn


class Block(nn.Module):
    n: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.n)(x)


class PreNorm(nn.Module):
    fn: nn.Module

    @nn.compact
    def __call__(self, x):
        return self.fn(nn.LayerNorm()(x))


class Together(nn.Module):
    fns: Sequence[nn.Module]

    @nn.compact
    def __call__(self, x):
        y = 0
        for i, fn in enumerate(self.fns):
            y = y + (i + 1) * fn(x)
        return y


class Net(nn.Module):
    n: int = 2

    @nn.compact
    def __call__(self, x):
"""

GIVEN = {
    "a display": "        return Together([Block(4) for _ in range(self.n)])(x)",
    "a name": "        fns = [Block(4) for _ in range(self.n)]\n        return Together(fns)(x)",
    "appended": """        fns = []
        for _ in range(self.n):
            fns.append(PreNorm(Block(4)))
        return Together(tuple(fns))(x)""",
    "one after another": """        x = Together([Block(4) for _ in range(self.n)])(x)
        return Together([Block(4) for _ in range(self.n + 1)])(x)""",
    "between others": """        x = Block(4)(x)
        if self.n > 1:
            x = Together([Block(4) for _ in range(self.n)])(x)
        return Block(4)(x)""",
    "none at all": """        x = Block(4)(x)
        return x + Together([Block(4) for _ in range(self.n - 2)])(x)""",
    "in every pass": """        for k in range(2):
            x = Together([Block(4) for _ in range(k + 1)])(x)
        return x""",
    "to two": """        fns = [Block(4) for _ in range(self.n)]
        return Together(fns)(x) + 2 * Together(fns)(x)""",
    "by a function": """        def branch(y):
            return Together([PreNorm(Block(4)) for _ in range(self.n)])(y)
        return branch(x) + 2 * branch(x)""",
    "in lists": """        layers = []
        for _ in range(2):
            layers.append([
                Together([PreNorm(Block(4)) for _ in range(self.n)]),
                Together([PreNorm(Block(4)) for _ in range(self.n)]),
            ])
        for a, b in layers:
            x = a(x) + x
            x = b(x) + x
        return x""",
}


@pytest.mark.parametrize("body", GIVEN.values(), ids=GIVEN.keys())
def test_what_a_loop_makes_is_given(body: str) -> None:
    before, after = both_sides("given_lists", f"{PARTS}{body}\n")
    x = jax.random.normal(jax.random.key(0), (2, 4))
    variables = before.Net().init(jax.random.key(1), x)
    assert compat.check_equivalence(before.Net(), variables, after.Net(in_features=4, rngs=nnx.Rngs(0)), x)


OTHERWISE = {
    "turned": "        fns = [Block(4) for _ in range(self.n)]\n        fns.reverse()",
    "without one": "        fns = [Block(4) for _ in range(self.n)]\n        fns.pop()",
    "a part": "        fns = [Block(4) for _ in range(self.n)][1:]",
    "twice": "        fns = [Block(4) for _ in range(self.n)] * 2",
    "picked": "        fns = [Block(4) for i in range(self.n) if i % 2]",
    "under a condition": """        fns = []
        for i in range(self.n):
            if i:
                fns.append(Block(4))""",
    "from the end": "        fns = []\n        for i in range(self.n):\n            fns.insert(0, Block(4))",
    "of two loops": "        fns = [Block(4) for _ in range(self.n)] + [Block(4) for _ in range(self.n)]",
    "of unlike widths": "        fns = [Block(4 + i) for i in range(self.n)]",
    "and more": "        fns = [Block(4) for _ in range(self.n)]\n        fns.append(Block(4))",
    "of a number that changes": """        n = self.n + 2
        for k in range(2):
            n = n - 1
            fns = [Block(4) for _ in range(n)]
            n = n - 1
            x = Together(fns)(x)""",
}


@pytest.mark.parametrize("body", OTHERWISE.values(), ids=OTHERWISE.keys())
def test_what_is_not_the_last_of_the_list_stays_linen(body: str) -> None:
    source = SourceFile.parse(Path("net.py"), "net", f"{PARTS}{body}\n        return Together(fns)(x)\n")
    (net,) = [c for c in migrate_project([source]).classes if c.qualname == "net.Net"]
    assert str(net.outcome) == "bridged" and net.code
