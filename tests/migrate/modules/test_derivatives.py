"""Gradients through functions with a derivative of their own are Linen's; what cannot be followed stays Linen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .test_forms import SIDES

LINEN, NATIVE, RESULT = SIDES["forms_derivatives"]
PLANS = {c.qualname.rpartition(".")[2]: c for c in RESULT.classes}


@pytest.mark.parametrize("name", ["SignGradient", "FeedbackAlignment", "GradientWithStatistics", "GradOfInputs", "Jvp"])
def test_gradients_are_those_of_linen(name: str) -> None:
    x = jnp.asarray(np.random.RandomState(0).randn(4, 5), jnp.float32)
    module = getattr(LINEN, name)()
    variables = module.init(jax.random.key(0), x)
    rest = {c: v for c, v in variables.items() if c != "params"}

    def linen_loss(params: Any, x: jax.Array) -> jax.Array:
        out, _ = module.apply({"params": params, **rest}, x, mutable=list(rest))
        return sum(jnp.sum(jnp.sin(leaf)) for leaf in jax.tree.leaves(out))

    expected, expected_x = jax.grad(linen_loss, argnums=(0, 1))(variables["params"], x)
    added = {a.name: eval(a.origin, {}, {"x": x}) for a in PLANS[name].added_arguments}
    model = getattr(NATIVE, name)(**added, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)

    def loss(model: Any, x: jax.Array) -> jax.Array:
        return sum(jnp.sum(jnp.sin(leaf)) for leaf in jax.tree.leaves(model(x)))

    got, got_x = nnx.grad(loss, argnums=(0, 1))(model, x)
    np.testing.assert_array_equal(np.asarray(expected_x), np.asarray(got_x))
    wanted = {"/".join(k.key for k in path): v for path, v in jax.tree_util.tree_leaves_with_path(expected)}
    found = {"/".join(map(str, path)): v for path, v in nnx.to_flat_state(nnx.as_pure(got))}
    assert set(wanted) == set(found)
    for path, value in wanted.items():
        np.testing.assert_array_equal(np.asarray(value), np.asarray(found[path]), err_msg=path)


HEAD = """import jax.numpy as jnp
from flax import linen as nn


class M(nn.Module):
  @nn.compact
  def __call__(self, x):
"""
REFUSED = {
    "a function that makes a module": (
        "NNX134",
        """    (dx,) = nn.grad(lambda mdl, x: nn.Dense(1)(x).sum(), self, x)
    return dx
""",
    ),
    "derivatives of every collection": (
        "NNX130",
        """    y, back = nn.vjp(lambda mdl, x: mdl(x), nn.Dense(3), x, vjp_variables=True)
    return back(y)
""",
    ),
    "two modules at once": (
        "NNX130",
        """    y, back = nn.vjp(lambda ms, x: ms[0](ms[1](x)), (nn.Dense(3), nn.Dense(3)), x, multi_scope=True)
    return back(y)
""",
    ),
    "arguments without a derivative": (
        "NNX130",
        """    f = nn.custom_vjp(lambda m, n, x: m(x) * n, lambda m, n, x: (m(x), x), lambda n, r, t: ({}, t), nondiff_argnums=(1,))
    return f(nn.Dense(3), 2, x)
""",
    ),
    "other collections with a derivative": (
        "NNX130",
        """    f = nn.custom_vjp(lambda m, x: m(x), lambda m, x: (m(x), x), lambda r, t: ({}, t), grad_vars='stats')
    return f(nn.Dense(3), x)
""",
    ),
    "a method of another class": (
        "NNX130",
        """    (dx,) = nn.grad(nn.Dense.__call__, nn.Dense(1), x)
    return dx
""",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_stays_linen_and_says_why(what: str) -> None:
    code, body = REFUSED[what]
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + body)])
    plan = {c.qualname: c for c in result.classes}["m.M"]
    assert (plan.outcome, plan.code) == ("bridged", code), plan.reason
    after = result.files[0].after
    assert after is not None
    assert f"# TODO(nnx-migrate): {code} M stays" in after
