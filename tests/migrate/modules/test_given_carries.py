"""Random numbers under nn.RNN: a stream that Linen splits is drawn from anew at every step, on both sides."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from .test_forms import sides

LINEN, NATIVE, RESULT = sides("forms_given_carries")


def test_every_step_draws_its_own_numbers() -> None:
    x = jnp.zeros((2, 4, 3))
    keys = {"params": jax.random.key(0), "noise": jax.random.key(1)}
    variables = LINEN.Noisy().init(keys, x)
    linen = LINEN.Noisy().apply(variables, x, rngs={"noise": jax.random.key(1)})
    plan = {c.qualname.rpartition(".")[2]: c for c in RESULT.classes}["Noisy"]
    assert plan.outcome == "native", plan.reason
    added = {a.name: eval(a.origin, {}, {"x": x}) for a in plan.added_arguments}
    model = NATIVE.Noisy(**added, rngs=nnx.Rngs(params=0, noise=1))
    for drawn in (linen, model(x), model(x)):
        rows = [np.asarray(drawn[:, step]).tobytes() for step in range(4)]
        assert len(set(rows)) == 4
    assert not np.array_equal(model(x), model(x))
