"""Programs migrated with hand-made plans and hand-written NNX classes, run on both sides."""

from __future__ import annotations

import ast
import dataclasses
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import pytest
from nnx_migrate.migrate.context import FileContext, Options
from nnx_migrate.migrate.linen.project.index import Project
from nnx_migrate.migrate.nnx import training
from nnx_migrate.migrate.nnx.generated.imports import finish_imports
from nnx_migrate.migrate.nnx.generated.parity_files import parity_files
from nnx_migrate.migrate.plan import AddedArgument, ClassPlan, Outcome, Plan
from nnx_migrate.migrate.source import SourceFile

HEADER = """\
import functools
from typing import Any
import flax
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax import nnx
from flax.training import train_state
"""

# Weights that no random key enters into: both sides start alike.
RAMP = """
def ramp(key, shape, dtype=jnp.float32):
  return 0.3 * jnp.sin(1.0 + jnp.arange(np.prod(shape), dtype=dtype)).reshape(shape)
"""


@dataclasses.dataclass
class Model:
    """A Linen class, its NNX form, and what the plan says of it."""

    name: str
    linen: str
    nnx: str
    sizes: dict[str, str] = dataclasses.field(default_factory=lambda: {"in_features": "x.shape[-1]"})
    fields: tuple[str, ...] = ("features",)
    call_arguments: tuple[str, ...] = ("x",)
    collections: frozenset[str] = frozenset({"params"})
    rng_streams: frozenset[str] = frozenset()

    def plan(self, module: str) -> ClassPlan:
        return ClassPlan(
            f"{module}.{self.name}",
            f"{module}.py",
            1,
            Outcome.NATIVE,
            fields=self.fields,
            added_arguments=tuple(AddedArgument(n, o) for n, o in self.sizes.items()),
            call_arguments=self.call_arguments,
            collections=self.collections,
            rng_streams=self.rng_streams,
        )


MLP = Model(
    "MLP",
    """
class MLP(nn.Module):
  features: int
  @nn.compact
  def __call__(self, x):
    x = nn.relu(nn.Dense(self.features, kernel_init=ramp)(x))
    return nn.Dense(3, kernel_init=ramp)(x)
""",
    """
class MLP(nnx.Module):
  def __init__(self, features: int, *, in_features: int, rngs: nnx.Rngs):
    self.Dense_0 = nnx.Linear(in_features, features, kernel_init=ramp, rngs=rngs)
    self.Dense_1 = nnx.Linear(features, 3, kernel_init=ramp, rngs=rngs)
  def __call__(self, x):
    return self.Dense_1(nnx.relu(self.Dense_0(x)))
""",
)

NORMED = Model(
    "Normed",
    """
class Normed(nn.Module):
  features: int
  rate: float = 0.0
  @nn.compact
  def __call__(self, x, train: bool = True):
    x = nn.Dense(self.features, kernel_init=ramp)(x)
    x = nn.BatchNorm(use_running_average=not train)(x)
    x = nn.Dropout(self.rate, deterministic=not train)(x)
    return nn.Dense(3, kernel_init=ramp)(x)
""",
    """
class Normed(nnx.Module):
  def __init__(self, features: int, rate: float = 0.0, *, in_features: int, rngs: nnx.Rngs):
    self.Dense_0 = nnx.Linear(in_features, features, kernel_init=ramp, rngs=rngs)
    self.BatchNorm_0 = nnx.BatchNorm(features, rngs=rngs)
    self.Dropout_0 = nnx.Dropout(rate, rngs=rngs)
    self.Dense_1 = nnx.Linear(features, 3, kernel_init=ramp, rngs=rngs)
  def __call__(self, x, train: bool = True):
    x = self.Dense_0(x)
    x = self.BatchNorm_0(x, use_running_average=not train)
    x = self.Dropout_0(x, deterministic=not train)
    return self.Dense_1(x)
""",
    fields=("features", "rate"),
    call_arguments=("x", "train"),
    collections=frozenset({"params", "batch_stats"}),
    rng_streams=frozenset({"dropout"}),
)


@dataclasses.dataclass
class Migrated:
    """A program before and after, as texts, with the diagnostics' codes and the generated files."""

    before: str
    after: str
    codes: list[str]
    created: dict[Path, str]

    def run(self, text: str) -> dict[str, Any]:
        """The names that the program leaves."""
        for path, content in self.created.items():
            module = types.ModuleType(path.stem)
            exec(content, module.__dict__)
            sys.modules[path.stem] = module
        module = types.ModuleType("program")
        sys.modules["program"] = module
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(text, "program", "exec"), module.__dict__)
        return module.__dict__

    def both(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return self.run(self.before), self.run(self.after)


def migrate(program: str, *models: Model, options: Options | None = None) -> Migrated:
    """`program` follows the header, `ramp` and the classes."""
    text = HEADER + RAMP + "".join(m.linen for m in models) + "\n" + program
    source = SourceFile.parse(Path("program.py"), "program", text)
    project = Project([source])
    plan = Plan({f"program.{m.name}": m.plan("program") for m in models}, dict(project.aliases))
    contexts = {"program": FileContext(source, plan, options or Options(), project)}
    context = contexts["program"]
    for model in models:
        info = project.linen_classes[f"program.{model.name}"]
        assert isinstance(info.node, ast.ClassDef)
        context.replace(source.full_span(info.node), model.nnx.strip())
    training.write(project, plan, contexts)
    after = finish_imports(source, context.edits.render(), context.new_imports)
    created = parity_files(contexts)
    return Migrated(text, after, sorted({d.code for d in context.diagnostics}), created)


@pytest.fixture
def kit() -> types.SimpleNamespace:
    """What the tests need of this file."""
    return types.SimpleNamespace(migrate=migrate, MLP=MLP, NORMED=NORMED, Model=Model, Options=Options)
