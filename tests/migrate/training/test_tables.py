"""Tables of encoders, joined over files, by which training code makes a model of a name: both sides run, and agree."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

CONV = """
import functools as ft
import flax.linen as nn
import jax.numpy as jnp

def ramp(key, shape, dtype=jnp.float32):
  size = 1
  for n in shape:
    size *= n
  return (jnp.linspace(-1, 1, size) if size > 1 else jnp.ones(1)).reshape(shape).astype(dtype)

class ConvEncoder(nn.Module):
  filters: int = 2
  depth: int = 1

  @nn.compact
  def __call__(self, x):
    for _ in range(self.depth):
      x = nn.relu(nn.Conv(self.filters, (3, 3), kernel_init=ramp)(x))
    return x.reshape(x.shape[0], -1)

conv_configs = {
  "conv": ConvEncoder,
  "conv-deep": ft.partial(ConvEncoder, depth=2),
}
conv_configs["conv-wide"] = ft.partial(conv_configs["conv-deep"], filters=3)
"""

DENSE = """
from functools import partial
import flax.linen as nn
from conv import ramp

class DenseEncoder(nn.Module):
  sizes: tuple

  @nn.compact
  def __call__(self, x):
    x = x.reshape(x.shape[0], -1)
    for size in self.sizes:
      x = nn.tanh(nn.Dense(size, kernel_init=ramp)(x))
    return x

shapes = {"dense-s": dict(sizes=(2,)), "dense-l": dict(sizes=(4, 3))}
dense_configs = {name: partial(DenseEncoder, **config) for name, config in shapes.items()}
"""

TRAIN = """
import json
import flax.linen as nn
import jax, optax
import jax.numpy as jnp
from conv import ramp

class Head(nn.Module):
  encoder: nn.Module

  @nn.compact
  def __call__(self, x):
    return nn.Dense(2, kernel_init=ramp)(self.encoder(x))

def make(name):
  from zoo import encoders
  if name not in encoders:
    raise KeyError(f"{name}: not one of {sorted(encoders)}")
  return encoders[name]()

def losses(name):
  model = Head(make(name))
  x = jnp.sin(jnp.arange(2 * 4 * 4 * 3.0)).reshape(2, 4, 4, 3)
  params = model.init(jax.random.key(0), x)["params"]
  tx = optax.sgd(0.1)
  opt_state = tx.init(params)

  @jax.jit
  def step(params, opt_state):
    loss, grads = jax.value_and_grad(lambda p: (model.apply({"params": p}, x) ** 2).mean())(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return loss, optax.apply_updates(params, updates), opt_state

  said = [float(make(name).apply({"params": params["encoder"]}, x).sum())]
  for _ in range(2):
    loss, params, opt_state = step(params, opt_state)
    said.append(float(loss))
  return said

if __name__ == "__main__":
  from zoo import encoders
  print(json.dumps([losses(name) for name in sorted(encoders)]))
"""

ZOOS = {
    "update": """
from conv import conv_configs
from dense import dense_configs

encoders = dict()
encoders.update(conv_configs)
encoders.update(dense_configs)
""",
    "display": """
import conv
from dense import dense_configs

encoders = {**conv.conv_configs, **dense_configs}
""",
    "functions": """
from conv import conv_configs, ConvEncoder
from dense import dense_configs, DenseEncoder

def flat():
  return DenseEncoder(sizes=(1,))

encoders = {**{"small": ConvEncoder}, **dict(conv_configs)}
encoders.update(dense_configs, wide=lambda: ConvEncoder(4), flat=flat)
""",
    "registered": """
from conv import ConvEncoder, conv_configs
from dense import DenseEncoder, dense_configs

encoders = {}

def register(name, **config):
  def put(cls):
    encoders[name] = lambda: cls(**config)
    return cls
  return put

register("conv", filters=3)(ConvEncoder)
for name, make in {**conv_configs, **dense_configs}.items():
  register(name + "-again")(make)
"""
}


def run(folder: Path, texts: dict[str, str]) -> list[list[float]]:
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
    done = subprocess.run([sys.executable, "train.py"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: list[list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def project(zoo: str) -> dict[str, str]:
    return {"conv.py": CONV, "dense.py": DENSE, "zoo.py": ZOOS[zoo], "train.py": TRAIN}


@pytest.mark.parametrize(
    "zoo, count, stands_in",
    [("update", 5, False), ("display", 5, False), ("functions", 8, True), ("registered", 6, True)],
)
def test_tables_that_are_joined(tmp_path: Path, zoo: str, count: int, stands_in: bool) -> None:
    """`stands_in`: functions among the items, or such as nothing tells: a `FunctionalClass` is written for classes there."""
    texts = project(zoo)
    result = migrate_project([SourceFile.parse(Path(name), name[:-3], text) for name, text in texts.items()])
    assert {plan.outcome.value for plan in result.classes} == {"native"}
    said = [d for file in result.files for d in file.diagnostics if d.severity.value != "info"]
    assert not said, said
    after = {file.path.name: file.after or file.before for file in result.files}
    after.update({path.name: text for path, text in result.created.items()})
    assert any("FunctionalClass(" in after[name] for name in texts) == stands_in
    before, now = run(tmp_path / "before", texts), run(tmp_path / "after", after)
    assert len(before) == count
    assert now == [pytest.approx(one, rel=1e-6) for one in before]


def assert_native_and_same(tmp_path: Path, texts: dict[str, str]) -> None:
    """Two models that differ, of classes that are all native, compute the same on both sides."""
    result = migrate_project([SourceFile.parse(Path(name), name[:-3], text) for name, text in texts.items()])
    assert {plan.outcome.value for plan in result.classes} == {"native"}
    after = {file.path.name: file.after or file.before for file in result.files}
    after.update({path.name: text for path, text in result.created.items()})
    before, now = run(tmp_path / "before", texts), run(tmp_path / "after", after)
    assert len(before) == 2 and before[0] != before[1]
    assert now == [pytest.approx(one, rel=1e-6) for one in before]


CHOSEN = {
    "branches": """def make(name):
  if name == "conv":
    return ConvEncoder(depth=2)
  return DenseEncoder((3,))
""",
    "a variable": """def make(name):
  if name == "conv":
    encoder = ConvEncoder(3)
  elif name == "dense":
    encoder = DenseEncoder((3, 2))
  else:
    raise ValueError(name)
  return encoder
""",
    "an expression": """def make(name):
  return ConvEncoder() if name == "conv" else DenseEncoder((4,))
""",
    "a pattern": """def make(name):
  match name:
    case "conv":
      return ConvEncoder()
    case _:
      return DenseEncoder((2,))
""",
    "a class and its options": """def make(name):
  cls, options = (ConvEncoder, {"filters": 3}) if name == "conv" else (DenseEncoder, {"sizes": (2,)})
  return cls(**options)
""",
    "another package's function": """import operator

def make(name):
  made = operator.getitem({"conv": ConvEncoder, "dense": lambda **k: DenseEncoder((2,), **k)}, name)(name="enc_" + name)
  assert made.name == "enc_" + name and ConvEncoder().name is None
  return made
""",
}


@pytest.mark.parametrize("name", CHOSEN)
def test_modules_that_are_chosen(tmp_path: Path, name: str) -> None:
    start, end = TRAIN.index("def make"), TRAIN.index("def losses")
    train = f"{TRAIN[:start]}{CHOSEN[name]}\n{TRAIN[end:]}".replace("import ramp", "import ConvEncoder, ramp")
    train = train.replace("from zoo import encoders", "encoders = ['conv', 'dense']")
    train = train.replace("class Head", "from dense import DenseEncoder\n\nclass Head")
    texts = {"conv.py": CONV, "dense.py": DENSE, "train.py": train}
    assert_native_and_same(tmp_path, texts)


HEADS = {
    "a table": "HEADS[name](make(name))",
    "a variable": "(Head if name == 'conv' else Wide)(encoder=make(name))",
    "a partial": "functools.partial(HEADS[name], encoder=make(name))()",
    "a parameter": "build(HEADS.get(name), make(name))",
}


@pytest.mark.parametrize("name", HEADS)
def test_modules_that_are_handed_to_a_class_that_is_chosen(tmp_path: Path, name: str) -> None:
    start = TRAIN.index("def losses")
    wide = """class Wide(nn.Module):
  encoder: nn.Module
  width: int = 4

  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.width, kernel_init=ramp)(nn.relu(self.encoder(x)))

HEADS = {"conv": Head, "dense": Wide}

def build(cls, encoder):
  return cls(encoder)

"""
    train = f"import functools\n{TRAIN[:start]}{wide}{TRAIN[start:]}".replace("Head(make(name))", HEADS[name])
    encoders = "encoders = {'conv': ConvEncoder, 'dense': lambda: DenseEncoder((2,))}"
    train = train.replace("from zoo import encoders", encoders)
    train = train.replace("import ramp", "import ConvEncoder, ramp\nfrom dense import DenseEncoder")
    texts = {"conv.py": CONV, "dense.py": DENSE, "train.py": train}
    assert_native_and_same(tmp_path, texts)
