"""The fixture residual network, migrated by the whole pipeline: ten steps from Linen's weights."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

FIXTURE = Path(__file__).parents[3] / "fixtures" / "resnet"
LINEN = """
import pickle, jax, train, numpy as np
from model import ResNet
model = ResNet(stage_sizes=[1, 1], num_classes=train.NUM_CLASSES)
state = train.create_train_state(jax.random.PRNGKey(0), model, 0.05)
first = {'params': state.params, 'batch_stats': state.batch_stats}
with open('../first.pickle', 'wb') as file:
  pickle.dump(jax.tree.map(np.asarray, first), file)
losses = []
for batch in train.synthetic(10):
  state, metrics = train.train_step(state, batch)
  losses.append(float(metrics['loss']))
losses.append(float(train.eval_step(state, batch)['loss']))
"""
NNX = """
import functools, pickle, jax, train
from model import ResNet
from nnx_migrate import compat
made = functools.partial(ResNet, stage_sizes=[1, 1], num_classes=train.NUM_CLASSES)
model, optimizer = train.create_train_state(jax.random.PRNGKey(0), made, 0.05)
with open('../first.pickle', 'rb') as file:
  compat.from_linen(pickle.load(file), model)
losses = []
for batch in train.synthetic(10):
  losses.append(float(train.train_step(model, optimizer, batch)['loss']))
losses.append(float(train.eval_step(model, batch)['loss']))
"""


def run(folder: Path, texts: dict[str, str], script: str) -> list[float]:
    folder.mkdir()
    for name, text in {**texts, "check.py": f"{script}\nimport json\nprint(json.dumps(losses))\n"}.items():
        (folder / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "check.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=250,
        # Compiling takes most of the time; both sides are compiled alike.
        env={**os.environ, "JAX_PLATFORMS": "cpu", "JAX_DISABLE_MOST_OPTIMIZATIONS": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_ten_steps_agree(tmp_path: Path) -> None:
    texts = {path.name: path.read_text() for path in sorted(FIXTURE.glob("*.py"))}
    result = migrate_project([SourceFile.parse(Path(name), name[:-3], text) for name, text in texts.items()])
    assert "NNX601" in {d.code for file in result.files for d in file.diagnostics}
    after = {file.path.name: file.after or "" for file in result.files}
    after.update({path.name: text for path, text in result.created.items()})
    linen = run(tmp_path / "before", texts, LINEN)
    nnx = run(tmp_path / "after", after, NNX)
    assert len(set(linen)) == 11
    assert max(abs(a - b) for a, b in zip(linen, nnx, strict=True)) < 1e-4
