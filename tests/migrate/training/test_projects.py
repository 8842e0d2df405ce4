"""Programs of several files, through the whole pipeline, run before and after."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

MODELS = """
import jax.numpy as jnp
import numpy as np
from flax import linen as nn

def ramp(key, shape, dtype=jnp.float32):
  return 0.3 * jnp.sin(1.0 + jnp.arange(np.prod(shape), dtype=dtype)).reshape(shape)

class CNN(nn.Module):
  classes: int = 3

  @nn.compact
  def __call__(self, x):
    x = nn.relu(nn.Conv(4, (3, 3), kernel_init=ramp)(x))
    x = x.mean(axis=(1, 2))
    return nn.Dense(self.classes, kernel_init=ramp)(x)
"""
STEPS = """
import jax
import optax

def loss_of(logits, labels):
  return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

@jax.jit
def train_step(state, batch):
  def loss_fn(params):
    return loss_of(state.apply_fn({'params': params}, batch['image']), batch['label'])
  loss, grads = jax.value_and_grad(loss_fn)(state.params)
  return state.apply_gradients(grads=grads), {'loss': loss}
"""
TRAIN = """
import json
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state
import models
from steps import train_step

def create(key, image_shape):
  cnn = models.CNN(classes=3)
  params = cnn.init(key, jnp.ones((1, 8, 8, 1)))['params']
  return train_state.TrainState.create(apply_fn=cnn.apply, params=params, tx=optax.adam(1e-2))

def main():
  state = create(jax.random.key(0), (8, 8, 1))
  losses = []
  for i in range(3):
    batch = {'image': jnp.sin(i + jnp.arange(128.0)).reshape(2, 8, 8, 1), 'label': jnp.array([0, i % 3])}
    state, metrics = train_step(state, batch)
    losses.append(float(metrics['loss']))
  print(json.dumps(losses))
EXTRA
if __name__ == '__main__':
  main()
"""


def run(folder: Path, texts: dict[str, str]) -> list[float]:
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "train.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "extra, code",
    [
        ("", "NNX601"),
        ("  import flax.serialization\n  flax.serialization.to_bytes(state)\n  print(json.dumps(losses))\n", "NNX601"),
    ],
)
def test_a_loop_over_files(tmp_path: Path, extra: str, code: str) -> None:
    texts = {"models.py": MODELS, "steps.py": STEPS, "train.py": TRAIN.replace("EXTRA\n", extra)}
    result = migrate_project([SourceFile.parse(Path(name), name[:-3], text) for name, text in texts.items()])
    assert [plan.outcome.value for plan in result.classes] == ["native"]
    codes = {d.code for file in result.files for d in file.diagnostics}
    assert code in codes
    after = {file.path.name: file.after or "" for file in result.files}
    after.update({path.name: text for path, text in result.created.items()})
    assert ("state" in after["steps.py"]) == (code == "NNX603")
    before, now = run(tmp_path / "before", texts), run(tmp_path / "after", after)
    assert len(set(before)) == 3
    assert max(abs(a - b) for a, b in zip(before, now, strict=True)) < 1e-5


TRAINER = """
import json
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state
import models
from steps import train_step

def make(config):
  return models.CNN(classes=config['classes'])

def create(key, cnn):
  params = cnn.init(key, jnp.ones((1, 8, 8, 1)))['params']
  return train_state.TrainState.create(apply_fn=cnn.apply, params=params, tx=optax.adam(1e-2))

def train_and_evaluate(config):
  cnn = make(config)
  state = create(jax.random.key(0), cnn)
  losses = []
  for i in range(3):
    batch = {'image': jnp.sin(i + jnp.arange(128.0)).reshape(2, 8, 8, 1), 'label': jnp.array([0, i % 3])}
    state, metrics = train_step(state, batch)
    losses.append(float(metrics['loss']))
  losses.append(float(make(config).apply({'params': state.params}, batch['image']).sum()))
  print(json.dumps(losses))
  return state
"""
MAIN = "from trainer import train_and_evaluate\n\nif __name__ == '__main__':\n  train_and_evaluate({'classes': 3})\n"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "name, read, code",
    [
        ("book.ipynb", "", "NNX601"),
        ("book.ipynb", "print(state.params)\n", "NNX603"),
        ("book.py", "", "NNX603"),  # another file may import it
    ],
)
def test_a_notebook_that_trains_other_models(tmp_path: Path, name: str, read: str, code: str) -> None:
    """What a cell assigns and never reads keeps no model between the runs of the function that makes it."""
    book = f"import trainer\nfor n in (3, 4):\n  state = trainer.train_and_evaluate({{'classes': n}})\n{read}"
    texts = {"models.py": MODELS, "steps.py": STEPS, "trainer.py": TRAINER, "train.py": MAIN, name: book}
    files = [SourceFile.parse(Path(path), path.partition(".")[0], text) for path, text in texts.items()]
    result = migrate_project(files)
    assert {d.code for file in result.files for d in file.diagnostics if d.code.startswith("NNX60")} == {code}
    after = {file.path.name: file.after or texts[file.path.name] for file in result.files}
    after.update({path.name: text for path, text in result.created.items()})
    before, now = run(tmp_path / "before", texts), run(tmp_path / "after", after)
    assert max(abs(a - b) for a, b in zip(before, now, strict=True)) < 1e-5


NAMESAKES = {
    "plain.py": """
from flax import linen as nn
from models import ramp
class Net(nn.Module):
  classes: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.classes, kernel_init=ramp)(x)
""",
    "flat.py": """
from flax import linen as nn
from models import ramp
class Net(nn.Module):
  classes: int
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.classes, kernel_init=ramp)(x.reshape((x.shape[0], -1)))
""",
    "bare.py": """
from flax import linen as nn
class Net(nn.Module):
  classes: int
  @nn.compact
  def __call__(self, x):
    return nn.relu(x) * self.classes
""",
    "train.py": """
import json
import jax
import bare
from flat import Net
from plain import Net as Plain

def evaluate(model, scale):
  net = model(3)
  x = jax.numpy.sin(jax.numpy.arange(24.0)).reshape(2, 3, 4)
  variables = net.init(jax.random.key(0), x)
  return scale * float(jax.numpy.abs(net.apply(variables, x)).sum())

print(json.dumps([evaluate(bare.Net, 1.0), evaluate(Net, 2.0), evaluate(Plain, 3.0)]))
""",
    "models.py": MODELS,
}


def test_classes_of_one_name_that_ask_for_unlike_sizes(tmp_path: Path) -> None:
    result = migrate_project([SourceFile.parse(Path(name), name[:-3], text) for name, text in NAMESAKES.items()])
    assert {plan.outcome.value for plan in result.classes} == {"native"}
    after = {file.path.name: file.after or file.before for file in result.files}
    after.update({path.name: text for path, text in result.created.items()})
    assert run(tmp_path / "before", NAMESAKES) == pytest.approx(run(tmp_path / "after", after), rel=1e-6)


def test_classes_of_one_name_that_call_their_inputs_differently_are_said() -> None:
    other = NAMESAKES["bare.py"].replace("self, x", "self, y").replace("nn.relu(x)", "nn.Dense(2)(y)")
    texts = {**NAMESAKES, "bare.py": other}
    result = migrate_project([SourceFile.parse(Path(name), name[:-3], text) for name, text in texts.items()])
    said = [d.message for file in result.files for d in file.diagnostics if d.severity.value == "warning"]
    assert len(said) == 1 and "several classes called Net may be constructed here" in said[0], said


# As the imagenet example makes its model: of a file with the blocks, too, initialized by a jitted function of a named shape.
NAMED_MODELS = MODELS.replace(
    "class CNN",
    """class Block(nn.Module):
  filters: int
  norm: type[nn.Module] = nn.LayerNorm

  @nn.compact
  def __call__(self, x, skip):
    return self.norm()(nn.Conv(self.filters, (3, 3), kernel_init=ramp)(x)) + skip

class CNN""",
).replace("  classes: int = 3\n", "  classes: int = 3\n  dtype: type = jnp.float32\n")
NAMED = """
def make(name, **kwargs):
  model_cls = getattr(models, name)
  return model_cls(classes=3, dtype=jnp.float32, **kwargs)

def initialized(key, size, model):
  input_shape = (1, size, size, 1)
  @jax.jit
  def init(*args):
    return model.init(*args)
  variables = init({'params': key}, jnp.ones(input_shape, model.dtype))
  return variables['params']

def create(key, image_shape):
  cnn = make('CNN')
  params = initialized(key, 8, cnn)
"""


def test_a_class_by_name_of_a_file_that_has_its_blocks(tmp_path: Path) -> None:
    start, end = TRAIN.index("def create"), TRAIN.index("  return train_state.TrainState")
    train = (TRAIN[:start] + NAMED.lstrip() + TRAIN[end:]).replace("EXTRA\n", "")
    texts = {"models.py": NAMED_MODELS, "steps.py": STEPS, "train.py": train}
    result = migrate_project([SourceFile.parse(Path(name), name[:-3], text) for name, text in texts.items()])
    assert [plan.outcome.value for plan in result.classes] == ["native", "native"]
    after = {file.path.name: file.after or "" for file in result.files}
    after.update({path.name: text for path, text in result.created.items()})
    codes = {d.code: d.help for file in result.files for d in file.diagnostics if d.code.startswith("NNX60")}
    assert "NNX603" not in codes, codes
    assert "in_features=input_shape[-1]" in after["train.py"]
    before, now = run(tmp_path / "before", texts), run(tmp_path / "after", after)
    assert len(set(before)) == 3
    assert max(abs(a - b) for a, b in zip(before, now, strict=True)) < 1e-5
