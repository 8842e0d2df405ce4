"""What is refused of layers that are applied with other variables, and what they raise."""

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .test_forms import sides

HEAD = """import jax
import jax.numpy as jnp
from flax import linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
"""


def _plan(body: str) -> Any:
    text = HEAD + "".join(f"        {line}\n" for line in body.splitlines())
    return migrate_project([SourceFile.parse(Path("net.py"), "net", text)]).classes[0]


@pytest.mark.parametrize(
    "body,reason",
    [
        (
            """dense = nn.Dense(3, parent=None)
k = self.param("k", lambda key, x: dense.init(key, x)["params"]["kernel"] * x.mean(), x)
return dense.apply({"params": {"kernel": k, "bias": jnp.zeros(3)}}, x)""",
            "the parameter `k` needs `x`",
        ),
        (
            """dense = nn.Dense(3, parent=None)
k = self.param("k", nn.initializers.ones, (x.shape[-1], 3))
return dense.apply({"params": {"kernel": k, "bias": jnp.zeros(3)}}, x, method=nn.Dense.__call__)""",
            "`dense.apply` is used",
        ),
        (
            """dense = nn.Dense(3)
k = self.param("k", nn.initializers.ones, (x.shape[-1], 3))
return dense(x) + dense.apply({"params": {"kernel": k, "bias": jnp.zeros(3)}}, x)""",
            "`dense.apply` is used",
        ),
        (
            """dense = nn.Dense(3, dtype=x.dtype, parent=None)
k = self.param("k", nn.initializers.ones, (x.shape[-1], 3))
return dense.apply({"params": {"kernel": k, "bias": jnp.zeros(3)}}, x)""",
            "its dtype is known only when the module is called",
        ),
        (
            """drop = nn.Dropout(0.5, deterministic=False, parent=None)
return drop.apply({}, x, rngs={"dropout": self.make_rng("dropout")})""",
            "`drop.apply` is used",
        ),
    ],
)
def test_what_could_mean_something_else_stays(body: str, reason: str) -> None:
    plan = _plan(body)
    assert plan.outcome == "bridged"
    assert reason in plan.reason


ENCODER = """from flax import linen as nn
import jax.numpy as jnp


class Encoder(nn.Module):
    def setup(self):
        self.conv = nn.Conv(4, (3,))
        self.k = self.param("k", nn.initializers.ones, (3, 2, 4))

    def __call__(self, x):
        return self.conv.apply({"params": {"kernel": self.k, "bias": jnp.ones(4)}}, x)


class Net(nn.Module):
    def setup(self):
        self.encoder = Encoder()

    def __call__(self, x):
        return OUTER
"""


@pytest.mark.parametrize(
    "outer,reason",
    [
        ("self.encoder(x) + self.encoder.conv(x)", "`conv` of it is called, which is no method"),
        ("self.encoder(x) * self.encoder.conv.features", "`conv` of it is read, which is no field"),
    ],
)
def test_a_layer_that_another_class_asks_for_stays(outer: str, reason: str) -> None:
    text = ENCODER.replace("OUTER", outer)
    found = {c.qualname: c for c in migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes}
    assert {name: str(c.outcome) for name, c in found.items()} == {"m.Encoder": "bridged", "m.Net": "bridged"}
    assert reason in found["m.Net"].reason


def test_other_shapes_are_rejected() -> None:
    native = sides("forms_detached_models")[1]
    model = native.Counted(in_features=3, rngs=nnx.Rngs(0))
    assert model(jnp.ones((2, 3))).shape == (2, 2)
    model.kernel = nnx.Param(jnp.ones((4, 4)))
    with pytest.raises(ValueError, match=r"params/kernel has shape \(4, 4\), the model takes \(5, 4\)"):
        model(jnp.ones((2, 3)))
    with pytest.raises(KeyError, match="params/kernel"):
        model.dense.apply({"params": {}}, jnp.ones((2, 5)))


def test_copies_read_their_own_variables() -> None:
    native = sides("forms_detached_models")[1]
    x = jnp.ones((2, 5, 5, 3))
    model = native.Standardized(4, in_example=x, rngs=nnx.Rngs(0))
    doubled = nnx.clone(model)
    doubled.bias.set_value(model.bias[...] + 1.0)
    assert jnp.allclose(doubled(x), model(x) + 1.0, atol=1e-5)
    assert jnp.allclose(nnx.jit(lambda m, x: m(x))(doubled, x), model(x) + 1.0, atol=1e-5)
