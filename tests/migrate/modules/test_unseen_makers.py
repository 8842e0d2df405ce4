"""Layers that are made where no class shows it, and lists of which nothing says how many items they have."""

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

MAKERS = """import functools
from flax import linen as nn

LAYERS = {'plain': nn.Dense, 'without': functools.partial(nn.Dense, use_bias=False)}
thin = functools.partial(nn.Dense, use_bias=False)
"""
NET = """from flax import linen as nn
from makers import make


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(make(4)(x))
"""


@pytest.mark.parametrize(
    "make",
    [
        "lambda n: nn.Dense(n)",
        "lambda n: LAYERS['without'](n)",
        "lambda *args: LAYERS['plain'](*args)",
        "lambda n: LAYERS.get('plain')(n)",
        "lambda n: thin(n)",
        "lambda n: getattr(nn, 'Den' + 'se')(n)",
        "lambda n: functools.partial(nn.Dense, n)()",
    ],
)
def test_a_class_that_calls_a_lambda_of_another_file_stays_linen(make: str) -> None:
    files = {"makers": f"{MAKERS}make = {make}\n", "net": NET}
    result = migrate_project([SourceFile.parse(Path(f"{n}.py"), n, text) for n, text in files.items()])
    (net,) = result.classes
    assert str(net.outcome) == "bridged" and "make" in net.reason


REDUCED = """import functools
import jax.numpy as jnp
from flax import linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, xs):
        product = functools.reduce(lambda a, b: a * b, [x.reshape(-1) for x in xs if x.shape[-1] == 1], jnp.ones(()))
        w = self.param("w", nn.initializers.ones, product.shape)
        return (w * product).sum()
"""


@pytest.mark.parametrize("shapes", [[(2, 3), (2, 4)], [(3, 1), (3, 1), (2, 4)]])
def test_what_is_reduced_may_be_nothing(shapes: list[tuple[int, ...]]) -> None:
    before, after = both_sides("reduced", REDUCED)
    xs = [jnp.ones(shape) * 2 for shape in shapes]
    linen = before.Net()
    variables = linen.init(jax.random.key(0), xs)
    new = after.Net(in_example=xs, rngs=nnx.Rngs(0))
    assert new.w[...].shape == variables["params"]["w"].shape
    assert compat.check_equivalence(linen, variables, new, xs)


CHANGED = """from flax import linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        ones = [1] * (x.ndim - 2)
        ones[0] = 3
        return nn.Conv(4, ones)(x)
"""


def test_a_list_that_changes_is_not_said_as_it_began() -> None:
    result = migrate_project([SourceFile.parse(Path("net.py"), "net", CHANGED)])
    (net,) = result.classes
    assert str(net.outcome) == "native" and "ones[0] = 3" in (result.files[0].after or "").partition("def __call__")[0]
    before, after = both_sides("changed_list", CHANGED)
    x = jnp.ones((2, 8, 6))
    variables = before.Net().init(jax.random.key(0), x)
    assert compat.check_equivalence(before.Net(), variables, after.Net(in_shape=x.shape, rngs=nnx.Rngs(0)), x)
    with pytest.raises(ValueError, match="3 dimensions"):  # the length of the list is guessed with the rank
        after.Net(in_shape=(2, 8, 8, 6), rngs=nnx.Rngs(0))


PAIRS = """from flax import linen as nn


class Into(nn.Module):
    size: int

    def setup(self):
        self.norm = nn.LayerNorm()
        self.dense = nn.Dense(self.size)

    def __call__(self, x):
        return self.dense(self.norm(x))


class Net(nn.Module):
    size: int = 4
    depth: int = 2
    bias: bool = True

    def setup(self):
        self.norm = nn.LayerNorm()
        self.layers = [PAIR for i in range(self.depth)]

    METHOD

    def __call__(self, x):
        for first, second in self.layers:
            x = first(x) + x
            x = second(x) + x
        return self.norm(x)
"""


PLAIN = """def _pair(self):
        return (Into(self.size), nn.Dense(self.size, use_bias=self.bias))"""
NUMBERED = """def _pair(self, i, bias=True):
        return Into(self.size), nn.Dense(self.size, use_bias=bias and i > 0)"""
NAMED = """def _pair(self, i, bias):
        size = self.size
        into = Into(size)
        return [into, nn.Dense(size, use_bias=bias)]"""
WAYS = [
    ("self._pair()", PLAIN),
    ("self._pair(i)", NUMBERED),
    ("self._pair(i, bias=self.bias)", NUMBERED),
    ("self._pair(i, self.bias)", NAMED),
]


@pytest.mark.parametrize("pair, method", WAYS)
@pytest.mark.parametrize("fields", [{}, {"depth": 3, "bias": False}])
def test_a_method_of_setup_may_give_several_layers_of_each_pass(pair: str, method: str, fields: dict[str, int]) -> None:
    before, after = both_sides("pairs", PAIRS.replace("PAIR", pair).replace("METHOD", method))
    linen, x = before.Net(**fields), jnp.arange(8.0).reshape(2, 4) / 10
    variables = linen.init(jax.random.key(0), x)
    assert compat.check_equivalence(linen, variables, after.Net(**fields, in_features=4, rngs=nnx.Rngs(0)), x)
