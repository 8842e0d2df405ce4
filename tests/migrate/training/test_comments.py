"""Comments and blank lines of training code that is written anew."""

from __future__ import annotations

import contextlib
import io
import tokenize
from pathlib import Path
from typing import Any

from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3, kernel_init=nn.initializers.ones)(x)


class Steps(TrainState):
    atoms: jnp.ndarray


def main():
    x = jnp.arange(8.0).reshape(2, 4) / 8

    net = Net()

    state = Steps.create(
        apply_fn=net.apply,
        params=net.init(jax.random.key(0), x),  # as usual
        # not by linspace
        atoms=jnp.arange(3.0),
        tx=optax.sgd(
            0.1,  # small
        ),
    )

    net.apply = jax.jit(net.apply)

    @jax.jit
    def step(state, x):
        def loss(params):
            return (net.apply(params, x) * state.atoms).sum()  # weighted

        value, grads = jax.value_and_grad(loss)(state.params)
        return state.apply_gradients(grads=grads), value  # both

    for _ in range(3):
        state, value = step(
            state,  # the old one
            x,
        )
        print(f"{float(value):.5f}")


main()
"""


def comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sorted(token.string for token in tokens if token.type == tokenize.COMMENT)


def printed(text: str) -> str:
    scope: dict[str, Any] = {"__name__": "program"}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(text, "program.py", "exec"), scope)
    return out.getvalue()


def test_every_comment_is_kept_once_and_no_blank_line_is_left_over() -> None:
    after = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT)]).files[0].after
    assert after is not None and "Steps(net, " in after
    assert "lambda" not in after  # nothing calls `net.apply` outside of the step
    assert comments(after) == comments(TEXT)
    assert "/ 8\n\n    net = Net(in_features=x.shape[-1], rngs=nnx.Rngs(jax.random.key(0)))\n    # as usual\n" in after
    assert printed(after) == printed(TEXT) and printed(TEXT).count("\n") == 3
