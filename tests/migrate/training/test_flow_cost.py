"""The flow of values runs again what has read what changed, and nothing else."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest
from nnx_migrate.migrate.linen.flow.flow import Flow
from nnx_migrate.migrate.linen.flow.flow_values import ClassValue, State
from nnx_migrate.migrate.linen.project.index import Project
from nnx_migrate.migrate.plan import ClassPlan, Outcome, Plan
from nnx_migrate.migrate.source import SourceFile

from . import printing_sides
from .small_net import NET

MODEL = textwrap.dedent("""
    from flax import linen as nn
    from flax.training import train_state

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(2)(x)
    """)


def _flow(text: str) -> tuple[Flow, SourceFile]:
    source = SourceFile.parse(Path("program.py"), "program", MODEL + textwrap.dedent(text))
    project = Project([source])
    plan = Plan(aliases=dict(project.aliases))
    plan.classes["program.Net"] = ClassPlan("program.Net", source.path, 5, Outcome.NATIVE)
    return Flow(project, plan), source


def _count(monkeypatch: pytest.MonkeyPatch) -> list[ast.AST]:
    evaluated: list[ast.AST] = []
    once = Flow._statement

    def counted(self: Flow, source: SourceFile, node: ast.AST) -> None:
        evaluated.append(node)
        once(self, source, node)

    monkeypatch.setattr(Flow, "_statement", counted)
    return evaluated


def test_only_readers_of_what_changed_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of functions, written in the order in which nothing is known yet, among many that are no part of it."""
    evaluated = _count(monkeypatch)
    others = "".join(f"def other_{i}(x):\n    y = x + {i}\n    return other_{(i * 7) % 300}(y)\n" for i in range(300))
    text = """
        def last(tx, x):
            return third(tx, x)
        def third(tx, x):
            return second(tx, x)
        def second(tx, x):
            return first(tx, x)
        def first(tx, x):
            model = Net()
            return train_state.TrainState.create(apply_fn=model.apply, params=model.init(0, x)["params"], tx=tx)
        """
    flow, _ = _flow(textwrap.dedent(text) + "\nstate = last(None, 1)\n" + others)
    state = flow.env.get(("program", None, "state"))
    assert isinstance(state, State)
    assert len(evaluated) < 3 * len(set(evaluated))


def test_classes_of_one_family_are_asked_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """`self.model_class` is looked up where it is said, also in a class above and in one below."""
    evaluated = _count(monkeypatch)
    learner = "class Learner{0}(Base):\n    other_{0} = {0}\n    def f(self):\n        return self.x{0}\n"
    many = "".join(learner.format(i) for i in range(300))
    text = """
        class Top:
            pass
        class Base(Top):
            model_class = None
            def make(self):
                made = self.model_class
                return made
        class Below(Base):
            model_class = Net
        """
    flow, source = _flow(textwrap.dedent(text) + many)
    make = next(n for n in source.nodes if isinstance(n, ast.FunctionDef) and n.name == "make")
    assert flow.env.get(("program", make, "made")) == ClassValue(frozenset(["program.Net"]))
    assert len(evaluated) < 4 * len(set(evaluated))


def test_a_class_that_something_else_may_be_given_is_not_known() -> None:
    text = """
        class Base:
            model_class = Net
            def make(self):
                made = self.model_class
                return made
        class Below(Base):
            def __init__(self, given):
                self.model_class = given
        Below(open)
        """
    flow, source = _flow(text)
    make = next(n for n in source.nodes if isinstance(n, ast.FunctionDef) and n.name == "make")
    assert not isinstance(flow.env.get(("program", make, "made")), ClassValue)


DEEP = """
def step_0(state, x):
    loss, grads = jax.value_and_grad(lambda p: ((state.apply_fn({"params": p}, x) - 1) ** 2).mean())(state.params)
    return state.apply_gradients(grads=grads), loss


"""
ONE = """def step_{0}(state, x):
    state, loss = step_{1}(state, x)
    return state, loss


"""


@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_a_state_is_followed_through_many_functions(jit: str) -> None:
    deep = DEEP + "".join(ONE.format(i, i - 1) for i in range(1, 20))
    text = f"""{NET}{deep}
params = net.init(jax.random.key(0), x)["params"]
state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.1))
step = jax.jit(step_19)
for _ in range(3):
    state, loss = step(state, x)
    print(loss)
"""
    assert printing_sides.check(f"deep_{jit}", text, jit)[0] == [{"nnx": "NNX601", "functional": "NNX602"}[jit]]


def test_what_grows_without_an_end_may_be_anything() -> None:
    text = """
        def f(y):
            return (y, g((y, y)))
        def g(y):
            kept = f(y)
            return (kept, y)
        x = Net()
        for i in range(3):
            x = (x, x)
            z = (f(x), g(x))
            x = (z, x)
        """
    flow, _ = _flow(text)
    assert ("program", None, "x") in flow.env
