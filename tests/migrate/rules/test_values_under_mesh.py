"""Values that are made eagerly under a mesh and go to jitted functions that shard their arguments: both programs run."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import jax
import pytest
from nnx_migrate.compat.equivalence.starts import same_initial_values
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from ..modules.loading import module

HEADER = """from functools import partial
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
by_rows, everywhere = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())
seen = []


def double(x):
    seen.append(x.shape)
    return x * 2


def made(n):
    x = jnp.arange(8.0 * n).reshape(8, n)
    return {"x": x, "y": jnp.ones(8)}


def given(n):
    return np.arange(8.0 * n).reshape(8, n)


"""
MOVED = {
    "a name of a function": """def main():
    f = jax.jit(double, in_shardings=by_rows)
    with mesh:
        x = jnp.ones((8, 4))
        return f(x), f(jnp.zeros((8, 2)))
""",
    "what functions make": """def main():
    f = jax.jit(lambda w, b: w * b["x"].sum(), in_shardings=(None, by_rows))
    with mesh:
        batch = made(4)
        return f(1.0, batch), f(2.0, made(2))
""",
    "what is gone through": """def batches(n):
    for i in range(n):
        yield jax.tree.map(jnp.asarray, {"x": given(4)})


def main():
    f = jax.jit(lambda b: b["x"].sum(), in_shardings=({"x": by_rows},))
    with mesh:
        zipped = [f(b) * k for k, b in zip(given(1), batches(2))]
        return [f(b) for b in batches(1)] + [loop(f)] + zipped


def loop(f):
    g = jax.jit(lambda b, k: b["x"].sum() * k, in_shardings=(by_rows, None))
    total = 0.0
    for i, batch in enumerate(batches(2)):
        total += g(batch, i)
    return total
""",
    "static arguments": """def main():
    f = jax.jit(lambda n, x, m: x * n + m, static_argnums=(0,), in_shardings=(by_rows, everywhere))
    with mesh:
        return f(3, jnp.ones((8, 4)), jnp.ones(()))
""",
    "static arguments by name": """@partial(jax.jit, static_argnames=("n",), in_shardings=(by_rows,))
def g(n, x):
    return x * n


def main():
    f = jax.jit(lambda x, n: x * n, static_argnames="n", in_shardings=(by_rows,))
    with mesh:
        return f(jnp.ones((8, 4)), 2), g(3, jnp.ones((8, 4)))
""",
    "behind the block": """def main():
    rows = by_rows
    f = jax.jit(double, in_shardings=rows)
    with mesh:
        x = jnp.ones((8, 2))
    return f(x)
""",
    "a list": """def main():
    f = jax.jit(double, in_shardings=by_rows)
    with mesh:
        parts = [jnp.ones((8, n)) for n in (1, 2)]
        return [f(part) for part in parts], f(parts[0])
""",
    "a parameter": """f = jax.jit(double, in_shardings=by_rows)


def twice(x):
    return f(x) + 1


class Runner:
    def __init__(self):
        self.f = jax.jit(double, in_shardings=by_rows)

    def run(self, x):
        return self.f(x)

    def all(self):
        return self.run(jnp.ones((8, 2)))


def main():
    outside = twice(jnp.ones((8, 2)))
    with mesh:
        return outside, twice(x=jnp.ones((8, 3))), Runner().all()
""",
    "a decorator": """@partial(jax.jit, in_shardings=(NamedSharding(mesh, P(None, "model")), NamedSharding(mesh, P())))
def f(x, y):
    return x @ y


def main():
    with mesh:
        key = jax.random.key(0)
        return f(jax.random.normal(key, (8, 4)), jnp.ones((4, 2)))
""",
    "an attribute of the class": """class Trainer:
    rows = NamedSharding(mesh, P("data"))

    def __init__(self):
        self.step = jax.jit(lambda w, b: w + b.sum(), in_shardings=(None, self.rows), donate_argnums=(0,))

    def fit(self):
        w = jnp.zeros(())
        for key in jax.random.split(jax.random.key(0), 2):
            batch = jax.random.normal(key, (8, 3))
            w = self.step(w, batch)
        return w


def main():
    with mesh:
        return Trainer().fit()
""",
    "attributes": """class Trainer:
    def __init__(self, mesh):
        self.mesh = mesh
        self.rows = NamedSharding(mesh, P("data"))
        self.step = jax.jit(self._step, in_shardings=(None, self.rows))

    def _step(self, w, batch):
        return w + batch["x"].sum()

    def data(self, n):
        return made(n)

    def fit(self):
        w = 0.0
        for n in range(1, 3):
            with self.mesh:
                w = self.step(w, self.data(n))
        return w


def main():
    return Trainer(mesh).fit()
""",
    "a function that the block calls": """f = jax.jit(lambda x: x.sum(0), in_shardings=by_rows)


def evaluate():
    return f(jnp.ones((8, 3)) * 2)


def main():
    with mesh:
        return evaluate()
""",
    "a step that a function returns": """def make_step(layout, k=2.0):
    @partial(jax.jit, in_shardings=(None, layout))
    def step(w, batch):
        return w + batch["x"].sum() * k

    return step


def make_sum(f, layout):
    return jax.jit(f, in_shardings=layout)


def main():
    by = NamedSharding(mesh, P("data"))
    step, total = make_step(by), make_sum(lambda x: x.sum(), layout=by)
    other = make_sum(lambda x: x.sum(), by)
    with mesh:
        return step(1.0, made(3)), other(jnp.ones((8, 2)))
""",
    "a state": """class MLP(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(8)(nn.relu(nn.Dense(32)(x)))


def main():
    model = MLP()
    with mesh:
        params = model.init(jax.random.PRNGKey(0), jnp.ones((1, 16)))["params"]
        state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-2))
        layout = jax.tree.map(lambda x: NamedSharding(mesh, P(None, "model") if jnp.ndim(x) == 2 else P()), state)

        def train_step(state, x):
            loss, grads = jax.value_and_grad(lambda p: (state.apply_fn({"params": p}, x) ** 2).mean())(state.params)
            return state.apply_gradients(grads=grads), loss

        step = jax.jit(train_step, in_shardings=(layout, by_rows), out_shardings=(layout, None))
        losses = []
        for i in range(3):
            state, loss = step(state, jnp.ones((8, 16)) * i)
            losses.append(loss)
    return losses, sorted(str((x.shape, x.sharding.spec)) for x in jax.tree.leaves((state.params, state.opt_state)))
""",
}
LEFT = {
    "arrays of numpy": """def main():
    f = jax.jit(double, in_shardings=by_rows)
    with mesh:
        x = given(4)
        return f(x), f(np.ones((8, 2)))
""",
    "copies on all devices": """def main():
    f = jax.jit(double, in_shardings=NamedSharding(mesh, P(None)))
    with mesh:
        return f(jnp.ones((8, 4)))
""",
    "made before the mesh": """def main():
    f = jax.jit(double, in_shardings=by_rows)
    x = jnp.ones((8, 4))
    with mesh:
        return f(x)
""",
    "laid out by jit": """def main():
    f = jax.jit(double, in_shardings=by_rows, out_shardings=by_rows)
    make = jax.jit(lambda: jnp.ones((8, 4)), out_shardings=by_rows)
    with mesh:
        x = make()
        for _ in range(2):
            x = f(x)
        return x
""",
    "no mesh": """def main():
    f = jax.jit(double, in_shardings=by_rows)
    return f(jnp.ones((8, 4)))
""",
}


def migrated(program: str) -> str:
    after = migrate_project([SourceFile.parse(Path("program.py"), "program", HEADER + program)])
    for path, text in after.created.items():
        module(path.stem, text)
    return after.files[0].after or HEADER + program


def run(text: str) -> Any:
    names: dict[str, Any] = {"__name__": "program"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of `with mesh:`
        exec(compile(text, "program.py", "exec"), names)
        with same_initial_values():
            jax.clear_caches()
            return names["main"]()


def same(a: Any, b: Any) -> None:
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert x == y if isinstance(x, str) else bool(jax.numpy.allclose(x, y)), (x, y)


@pytest.mark.parametrize("name", MOVED)
def test_they_are_put_where_jit_wants_them(name: str) -> None:
    after = migrated(MOVED[name])
    assert "jax.device_put(" in after, after
    same(run(HEADER + MOVED[name]), run(after))


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left(name: str) -> None:
    after = migrated(LEFT[name])
    assert "jax.device_put(" not in after, after
    same(run(HEADER + LEFT[name]), run(after))


def test_names_that_mean_something_else_at_the_call_are_not_said_there() -> None:
    program = """def make(mesh):
    layout = NamedSharding(mesh, P("data"))  # the function's own
    return jax.jit(double, in_shardings=layout)


f = make(mesh)
with mesh:
    y = f(jnp.ones((8, 2)))
"""
    assert "jax.device_put(" not in migrated(program)


def test_positions_of_pjit() -> None:
    program = """from jax.experimental.pjit import pjit

f = pjit(double, (P("data"),), P("data"))
with mesh:
    y = f(jnp.ones((8, 2)))
"""
    assert 'f(jax.device_put(jnp.ones((8, 2)), P("data")))' in migrated(program)
