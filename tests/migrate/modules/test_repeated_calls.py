"""What several methods make by one compact method: both ways give what Linen gives, and what is not the same is refused."""

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

from .loading import module as _module

FORMS = Path(__file__).with_name("forms_repeated_calls.py")


@pytest.mark.parametrize("name", ["Flow", "Counted"])
def test_the_other_way_uses_the_same_weights(name: str) -> None:
    text = FORMS.read_text()
    after = migrate_project([SourceFile.parse(FORMS, FORMS.stem, text)]).files[0].after
    assert after is not None
    linen, native = _module("repeated_linen", text), _module("repeated_nnx", after)
    x = jnp.asarray(np.random.RandomState(0).randn(2, 4), jnp.float32)
    module = getattr(linen, name)()
    variables = module.init(jax.random.key(0), x)
    back = module.init(jax.random.key(0), x, method="inverse")
    assert jax.tree.structure(back) == jax.tree.structure(variables)
    model = getattr(native, name)(in_features=4, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    expected = module.apply(variables, x, method="inverse")
    np.testing.assert_array_equal(np.asarray(model.inverse(x)), np.asarray(expected))


HEAD = """from flax import linen as nn


class M(nn.Module):
  width: int = 4
  first: bool = True
"""

REFUSED = {
    "two methods whose layers have the same name": (
        "NNX152",
        """@nn.compact
def a(self, x):
  return nn.Dense(self.width)(x)
@nn.compact
def b(self, x):
  return nn.relu(nn.Dense(self.width)(x))
def __call__(self, x):
  return self.b(self.a(x))""",
    ),
    "two methods whose layers have the same name under opposite conditions": (
        "NNX152",
        """@nn.compact
def a(self, x):
  return nn.LayerNorm()(x) if self.first else x
@nn.compact
def b(self, x):
  return x if self.first else nn.LayerNorm(epsilon=1e-2)(x)
def __call__(self, x):
  return self.b(self.a(x))""",
    ),
    "other arguments the second time": (
        "NNX159",
        """@nn.compact
def net(self, x, bias):
  return nn.Dense(self.width, use_bias=bias)(x)
def __call__(self, x):
  return self.net(self.net(x, True), False)""",
    ),
    "other arguments in the other method": (
        "NNX159",
        """@nn.compact
def net(self, x, eps):
  return nn.LayerNorm(epsilon=eps)(x)
def inverse(self, x):
  return self.net(x, 1e-3)
def __call__(self, x):
  return self.net(x, 1e-6)""",
    ),
    "a value that the method computes from other arguments": (
        "NNX159",
        """@nn.compact
def net(self, x, eps):
  small = eps / 2
  return nn.LayerNorm(epsilon=small)(x)
def __call__(self, x):
  return self.net(self.net(x, 1e-3), 1e-6)""",
    ),
    "a first call that may not be made": (
        "NNX159",
        """@nn.compact
def net(self, x):
  return nn.Dense(self.width)(x)
def __call__(self, x):
  if self.first:
    x = self.net(x)
  return self.net(x)""",
    ),
    "other numbers in the other method": (
        "NNX152",
        """def net(self, x):
  return nn.Dense(self.width)(x)
@nn.compact
def inverse(self, x):
  x = nn.Dense(self.width)(x)
  return self.net(x)
@nn.compact
def __call__(self, x):
  return self.net(x)""",
    ),
    "dropouts of several rates": (
        "NNX159",
        """def block(self, x, rate, train):
  return nn.Dropout(rate)(x, deterministic=not train)
@nn.compact
def __call__(self, x, train=False):
  return self.block(self.block(x, 0.1, train), 0.2, train)""",
    ),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_it_is_refused(name: str) -> None:
    code, methods = REFUSED[name]
    text = HEAD + "\n" + "".join(f"  {line}\n" for line in methods.splitlines())
    plan = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes[0]
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason
