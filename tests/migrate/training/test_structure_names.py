"""Names of models' structures in the functional form, where one function has those of several models."""

from __future__ import annotations

import contextlib
import io
import sys
import types
from pathlib import Path

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from . import printing_sides

MODELS = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn

ones = nn.initializers.constant(0.3)


class Bent(nn.Module):
    @nn.compact
    def __call__(self, x):
        return jnp.tanh(nn.Dense(3, kernel_init=ones)(x))


class Cut(nn.Module):  # as many variables, of the same shapes
    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(3, kernel_init=ones)(x)) + 5


x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
key = jax.random.key(0)
"""
PAIR = """
a, b = Bent(), Cut()
pa, pb = a.init(key, x), b.init(key, x)
"""
PRINT = "print(a.apply(pa, x).sum(), b.apply(pb, x).sum())\n"
PROGRAMS = {
    "returned": """

def create(key, x):
    a, b = Bent(), Cut()
    return a, b, a.init(key, x), b.init(key, x)


a, b, pa, pb = create(key, x)
""",
    "returned_in_a_function": """

def create(key, x):
    a, b = Bent(), Cut()
    pa, pb = a.init(key, x), b.init(key, x)
    return a, pa, b, pb


def main():
    a, pa, b, pb = create(key, x)
    print(a.apply(pa, x).sum(), b.apply(pb, x).sum())
    return a, pa, b, pb


a, pa, b, pb = main()
""",
    "handed": f"""

def evaluate(f, g, pa, pb, x):
    return f.apply(pa, x).sum() + 2 * g.apply(pb, x).sum()


def applied(f, g, pa, pb, x):
    return f(pa, x).sum() + 2 * g(pb, x).sum()

{PAIR}
print(evaluate(a, b, pa, pb, x), evaluate(g=b, f=a, pa=pa, pb=pb, x=x), applied(a.apply, b.apply, pa, pb, x))
""",
    "handed_one_after_another": """

def applied(f, g, pa, pb, x):
    return f(pa, x).sum() + 2 * g(pb, x).sum()


a, b = Bent(), Cut()
pa = a.init(key, x)
pb = b.init(key, x)
print(applied(a.apply, b.apply, pa, pb, x))
""",
    "handed_both_ways": f"""

def make_step(model, other, tx):
    @jax.jit
    def step(params, opt_state, fixed, x):
        def loss_of(params):
            return (model.apply(params, x) ** 2).mean() + other.apply(fixed, x).mean()

        loss, grads = jax.value_and_grad(loss_of)(params)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return step

{PAIR}
tx = optax.sgd(0.1)
sa, sb = tx.init(pa), tx.init(pb)
step_a, step_b = make_step(a, b, tx), make_step(b, a, tx)
for _ in range(3):
    pa, sa, la = step_a(pa, sa, pb, x)
    pb, sb, lb = step_b(pb, sb, pa, x)
    print(la, lb)
""",
    "handed_within_each_other": f"""

def outer(f, pa, pb, x):
    def inner(g, params):
        return f(pa, x).sum() + 2 * g(params, x).sum()

    return inner(b.apply, pb) + f(pa, x).mean()

{PAIR}
print(outer(a.apply, pa, pb, x))
""",
    "beside_one_of_the_file": """

def make(key, x):
    model = Cut()
    params = model.init(key, x)
    return model, params


def both(f, x):
    return f(pa, x).sum() + 2 * b.apply(pb, x).sum()


a = Bent()
pa = a.init(key, x)
b, pb = make(key, x)
print(both(a.apply, x))
""",
    "of_one_class": """

class Either(nn.Module):
    bent: bool

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(3, kernel_init=ones)(x)
        return jnp.tanh(x) if self.bent else nn.relu(x) + 5


def create(key, x):
    a, b = Either(True), Either(False)
    return a, b, a.init(key, x), b.init(key, x)


def evaluate(f, g, pa, pb, x):
    return f.apply(pa, x).sum() + 2 * g.apply(pb, x).sum()


a, b, pa, pb = create(key, x)
print(evaluate(a, b, pa, pb, x))
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_each_model_has_its_own(name: str, jit: str) -> None:
    taken, _ = printing_sides.check(f"structures_{name}_{jit}", f"{MODELS}{PROGRAMS[name]}{PRINT}", jit)
    assert taken


NETS = f"""{MODELS.partition("x = ")[0]}

def create(key, x):
    a, b = Bent(), Cut()
    return a, b, a.init(key, x), b.init(key, x)


def one(key, x):
    model = Bent()
    return model, model.init(key, x)
"""
SCRIPTS = {
    "first": "a, b, pa, pb = create(key, x)\nprint(a.apply(pa, x).sum(), b.apply(pb, x).sum())\n",
    "second": "m, n, p, q = create(key, x)\nprint(m.apply(p, x).sum(), n.apply(q, x).sum())\n",
}
SCRIPT = """import jax
import jax.numpy as jnp
from structure_nets import create, one

x = jnp.sin(jnp.arange(12.0)).reshape(4, 3)
key = jax.random.key(0)
model, params = one(key, x)
print(model.apply(params, x).sum())
"""


@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_scripts_of_one_maker_have_names_of_their_own(jit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"structure_nets": NETS, **{f"structure_{name}": SCRIPT + text for name, text in SCRIPTS.items()}}
    given = [SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in texts.items()]
    done = migrate_project(given, Options(jit=jit))  # type: ignore[arg-type]
    made = {file.path.stem: file.after or "" for file in done.files}
    printed = []
    for files in (texts, {**made, **{path.stem: text for path, text in done.created.items()}}):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            for name in sorted(files, key=lambda name: (name not in ("linen_parity", "structure_nets"), name)):
                held = types.ModuleType(name)
                monkeypatch.setitem(sys.modules, name, held)
                exec(compile(files[name], f"{name}.py", "exec"), held.__dict__)
        printed.append(out.getvalue())
    assert printed[0] and printed[0] == printed[1]


BESIDE_STATISTICS = (
    MODELS.replace(
        "x = jnp",
        """from flax.training.train_state import TrainState


class Normed(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.BatchNorm(use_running_average=True)(nn.Dense(3, kernel_init=ones)(x))


class NormedState(TrainState):
    batch_stats: dict


x = jnp""",
    )
    + """
g, d = Normed(), Bent()
variables = g.init(key, x)
gs = NormedState.create(apply_fn=g.apply, tx=optax.sgd(0.1), **GIVEN)
ds = TrainState.create(apply_fn=d.apply, params=d.init(key, x)["params"], tx=optax.sgd(0.1))
print(g.apply({"params": gs.params, "batch_stats": gs.batch_stats}, x).sum(), ds.apply_fn({"params": ds.params}, x).sum())
""".replace("**GIVEN", 'params=variables["params"], batch_stats=variables["batch_stats"]')
)


def test_params_beside_those_of_a_model_with_statistics() -> None:
    codes, after = printing_sides.check("beside_statistics", BESIDE_STATISTICS, "functional")
    assert codes == ["NNX602"]
    assert "d_graphdef, d_params = nnx.split" in after
    taken = BESIDE_STATISTICS.replace("print(", "d_params = 3\nprint(", 1)  # said by the program
    assert "NNX603" in printing_sides.check("beside_statistics_taken", taken, "functional")[0]
