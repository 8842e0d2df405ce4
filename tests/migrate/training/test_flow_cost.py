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
