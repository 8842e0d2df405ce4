"""What parameters of setup start from, where it is computed of other parameters: the numbers, and what is left."""

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

TEXT = (Path(__file__).parent / "forms_first_values.py").read_text()


def test_first_values_follow_those_that_were_made_before() -> None:
    _, after = both_sides("first_values", TEXT)
    made = after.Recorded(4, 3, learned=True, gain=3.0, rngs=nnx.Rngs(0))
    assert jnp.allclose(made.a[...], jnp.linalg.norm(made.w[...])) and jnp.allclose(made.log_gain[...], jnp.log(3.0))
    again = after.BoundAgain(rngs=nnx.Rngs(0))
    doubled = again.w[...] * 2
    assert jnp.allclose(again.a[...], jnp.linalg.norm(doubled))
    assert jnp.allclose(again.b[...], jnp.sum(doubled + again.a[...]), rtol=1e-5)
    own = after.ByFunctions("own", rngs=nnx.Rngs(0))
    assert jnp.allclose(own.y[...], own.w[...].sum() + own.v[...], rtol=1e-5)
    assert jnp.allclose(own.c[...], own.w[...].sum() * 3.0, rtol=1e-5)
    kept = after.OfAttributes(rngs=nnx.Rngs(0))
    scale = jnp.exp(kept.log[...]) + 1
    assert jnp.allclose(kept.b[...], scale * 1.5) and jnp.allclose(kept.log_gain[...], scale)
    assert jnp.allclose(kept.d[...], jnp.exp(scale)) and jnp.allclose(kept.c[...], scale.sum())
    of_two = after.OfOneOf(first=False, rngs=nnx.Rngs(0))
    assert jnp.allclose(of_two.b[...], jnp.linalg.norm(of_two.w2[...]) / 2)


HEAD = """import jax.numpy as jnp
from flax import linen as nn
from flax.linen import initializers as init


class Net(nn.Module):
    def setup(self):
        w = self.param("w", init.lecun_normal(), (4, 3))
"""
TAIL = """
    def __call__(self, x):
        return x @ self.w + self.dense(x)

    def start(self, key, shape):
        return self.w[0]
"""


@pytest.mark.parametrize(
    "lines",
    [
        # a method that asks for what every call computes
        "self.dense = nn.Dense(3); self.w = w * 2; self.a = self.param('a', self.start, (3,))",
        # a layer's initializer, which may keep it
        "self.dense = nn.Dense(3, bias_init=lambda *_: w[0]); self.w = w * 2",
    ],
)
def test_what_else_is_made_of_them_is_left(lines: str) -> None:
    text = HEAD + "".join(f"        {line}\n" for line in lines.split("; ")) + TAIL
    (net,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert str(net.outcome) == "bridged" and net.reason.startswith("setup computes with a parameter")


DRAWN = """import jax
import jax.numpy as jnp
from flax import linen as nn


class Codes(nn.Module):
    \"\"\"Asks for shapes of its variables, and draws what they start from.\"\"\"

    size: int = 3

    def setup(self):
        start = jax.random.uniform(self.make_rng("params"), (self.size, 4))
        half = start / 2
        self.codes = self.variable("codes", "codes", lambda *_: start, self.make_rng("params"), (self.size, 4))
        self.mean = self.variable("codes", "mean", lambda: half)
        print(f"{self.codes.value.shape} {self.mean.value.dtype}")
        self.count = self.codes.value.shape[0]

    def __call__(self, x):
        return x @ (self.codes.value + self.mean.value).T * self.count
"""


def test_variables_start_from_what_setup_draws_once() -> None:
    before, after = both_sides("drawn_once", DRAWN)
    x = jnp.ones((2, 4))
    model = after.Codes(rngs=nnx.Rngs(0))
    assert jnp.allclose(model.codes[...], model.mean[...] * 2) and jnp.any(model.codes[...] != 0)
    linen = before.Codes()
    variables = linen.init(jax.random.key(0), x)
    compat.from_linen(variables, model)
    assert jnp.array_equal(model(x), linen.apply(variables, x, rngs={"params": jax.random.key(1)}))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("self.noise = start * 2", "setup draws random numbers"),
        ("self.noise = jnp.sum(self.codes.value)", "setup computes with a parameter or variable"),
    ],
)
def test_what_every_call_draws_or_reads_is_left(line: str, reason: str) -> None:
    text = DRAWN.replace("self.count = self.codes.value.shape[0]", line).replace("self.count", "self.noise")
    (codes,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert str(codes.outcome) == "bridged" and codes.reason.startswith(reason)


def test_a_first_value_of_what_stands_behind_a_condition_on_its_line_is_left() -> None:
    text = HEAD.replace("Module):", "Module):\n    kind: str = 'a'\n") + (
        "        if self.kind == 'a': d = self.param('d', init.normal(), (3,))\n"
        "        else: d = w[0]\n"
        "        self.e = self.param('e', init.constant(d), (3,))\n"
        "        self.w = w + d\n\n"
        "    def __call__(self, x):\n"
        "        return x @ self.w + self.e\n"
    )
    (net,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (
        str(net.outcome) == "bridged" and net.reason == "what needs lines of its own stands behind a condition on its line"
    )


@pytest.mark.parametrize("change", ["self.k = 5", "self.build()"])
@pytest.mark.parametrize("line", ["self.w = w * self.k", "m = self.k * 2; self.w = w * m"])
def test_what_reads_an_attribute_that_setup_gives_another_value_is_left(line: str, change: str) -> None:
    """The method that computes would read the last one; so would a call that the parameter is moved to."""
    lines = ["self.k = 3", *line.split("; "), change]
    text = (
        HEAD
        + "".join(f"        {said}\n" for said in lines)
        + ("\n    def build(self):\n        self.k = 7\n\n    def __call__(self, x):\n        return x @ self.w * self.k\n")
    )
    (net,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert str(net.outcome) == "bridged" and net.reason.startswith("setup computes with a parameter")
