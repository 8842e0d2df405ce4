"""Functions that fields pick, called with sizes of the input: initializers and widths that tables and fields give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides

HEAD = """from typing import Any, Callable, Optional
import flax.linen as nn
import jax
import jax.numpy as jnp


def spread(scale=1.0, *, fan_in):
    return nn.initializers.constant(scale / fan_in)


def nothing(scale=0.0, *, fan_in):
    return nn.initializers.zeros


STARTS = {"spread": spread, None: nothing}


class Net(nn.Module):
    sizes: tuple = (4, 3)
    start: Optional[str] = None
    last: Optional[str] = None
    scale: Optional[float] = None
    make: Callable = spread
    given: Any = None

    @nn.compact
    def __call__(self, x):
"""
BODIES = {
    "item of a table": """
        return nn.Dense(4, bias_init=STARTS[self.start](1.0, fan_in=x.shape[-1]))(x)
""",
    "field": """
        x = nn.Dense(6)(x)
        return nn.Dense(4, bias_init=self.make(fan_in=x.shape[-1]))(x)
""",
    "chosen by a field": """
        start = spread if self.start == "spread" else nothing
        return nn.Dense(4, bias_init=start(1.0, fan_in=x.shape[-1]))(x)
""",
    "loop": """
        for i, size in enumerate(self.sizes):
            start = STARTS[self.start]
            scale = self.scale
            if i + 1 == len(self.sizes):
                if self.last is not None:
                    start = STARTS[self.last]
            if scale:
                bias = start(scale, fan_in=x.shape[-1])
            else:
                bias = start(fan_in=x.shape[-1])
            x = nn.Dense(size, bias_init=bias)(x)
        return x
""",
    "parameter": """
        start = STARTS[self.start](3.0, fan_in=x.shape[-1])
        return x * self.param("scale", start, (x.shape[-1],))
""",
    "another dimension": """
        return nn.Dense(4, bias_init=self.make(fan_in=x.shape[1]))(x)
""",
}
FIELDS: list[dict[str, Any]] = [{}, {"start": "spread"}, {"last": "spread", "scale": 2.0}]


@pytest.mark.parametrize("which", BODIES)
@pytest.mark.parametrize("fields", FIELDS)
def test_a_picked_function_is_called_with_sizes_in_the_constructor(which: str, fields: dict[str, Any]) -> None:
    before, after = both_sides("picked", HEAD + BODIES[which])
    linen, x = before.Net(**fields), jnp.arange(12.0).reshape(2, 6) / 10
    variables = linen.init(jax.random.key(0), x)
    sizes = {"in_shape": x.shape} if which == "another dimension" else {"in_features": 6}
    new = after.Net(**fields, **sizes, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(linen, variables, new, x)
    made = compat.to_linen(new)["params"]  # what it starts from is what Linen starts from
    for key, value in jax.tree_util.tree_leaves_with_path(variables["params"]):
        if "bias" in str(key) or "scale" in str(key):
            (own,) = [v for k, v in jax.tree_util.tree_leaves_with_path(made) if str(k) == str(key)]
            assert jnp.array_equal(own, value), key


REFUSED = {
    "an array": "return nn.Dense(4, bias_init=self.make(fan_in=x))(x)",
    "a value": "return nn.Dense(4, bias_init=self.make(fan_in=x.sum()))(x)",
    "what may be a module": "norm = self.given(x.shape[-1])\n        return norm(x)",
    "what may be a module of a chain": "return nn.Sequential([nn.Dense(3), self.given(x.shape[-1])])(x)",
    "what may be a module by its name": "norm = self.given(x.shape[-1])\n        return nn.Sequential([norm])(x)",
    "what is started from and called": "a = self.given(x.shape[-1])\n        return a(nn.Dense(4, bias_init=a)(x))",
    "a size of unknown origin": "y = self.given(x)\n        return nn.Dense(4, bias_init=self.make(fan_in=y.shape[-1]))(x)",
}


@pytest.mark.parametrize("which", REFUSED)
def test_what_only_the_call_knows_stays_linen(which: str) -> None:
    text = f"{HEAD}        {REFUSED[which]}\n"
    (net,) = migrate_project([SourceFile.parse(Path("net.py"), "net", text)]).classes
    assert str(net.outcome) == "bridged", which
