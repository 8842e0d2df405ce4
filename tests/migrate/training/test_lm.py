"""The fixture language model, migrated by the whole pipeline: its period checkpoint goes on where it stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

FIXTURE = Path(__file__).parents[3] / "fixtures" / "lm"
CHECK = """
import dataclasses, json, sys
import jax, numpy as np
import checkpointing, config, train
from flax import nnx

fixture, new = sys.argv[1:]
settings = config.Config()
state, losses = train.train(settings, 2, new)
again = checkpointing.restore(new, state)
same = jax.tree.all(jax.tree.map(np.array_equal, state.params, again.params))
old = checkpointing.restore(fixture + '/checkpoint', state)
expected = np.load(fixture + '/expected.npz')
quiet = train.TransformerLM(dataclasses.replace(settings, dropout_rate=0.0))
"""
REST = """
old = old.replace(apply_fn=quiet.apply)
tokens = expected['tokens']
with jax.set_mesh(train.make_mesh()), nnx.logical_axis_rules(config.AXIS_RULES):
  logits = jax.jit(lambda s: s.apply_fn({'params': s.params}, tokens))(old)
  following, metrics = jax.jit(train.train_step)(old, tokens, jax.random.PRNGKey(1))
worst = 0.0
for path, value in jax.tree_util.tree_leaves_with_path({'params': following.params, 'opt_state': following.opt_state}):
  names = [str(getattr(k, 'key', getattr(k, 'name', getattr(k, 'idx', '')))) for k in path]
  name = 'next/' + '/'.join(n for n in names if n != 'value')
  worst = max(worst, float(np.abs(expected[name] - value).max()))
print(json.dumps({'same': bool(same), 'losses': losses, 'worst': worst,
                  'compared': len(jax.tree.leaves(following.params)),
                  'logits': float(np.abs(logits - expected['logits']).max()),
                  'loss': float(np.abs(metrics['loss'] - expected['loss'])),
                  'specs': {jax.tree_util.keystr(p): str(v.sharding.spec)
                            for p, v in jax.tree_util.tree_leaves_with_path(state.params)}}))
"""


def test_the_period_checkpoint_continues(tmp_path) -> None:
    paths = sorted(FIXTURE.glob("*.py"))
    result = migrate_project([SourceFile.parse(p, p.stem, p.read_text()) for p in paths])
    texts = {file.path.name: file.after for file in result.files}
    assert "pjit(" not in texts["train.py"] and "linen " not in texts["train.py"]
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    for path, text in result.created.items():
        (tmp_path / path.name).write_text(text)
    # The line of the fixture's own script that makes a model without dropout, migrated as that script's was.
    lines = [line.strip() for line in texts["make_checkpoint.py"].splitlines()]
    made = next(line for line in lines if line.startswith("quiet ="))
    check = CHECK.replace("quiet = train.TransformerLM(dataclasses.replace(settings, dropout_rate=0.0))", made)
    check = f"import linen_parity\nfrom config import Config\n{check}"
    (tmp_path / "check.py").write_text(check + REST)
    env = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        # Compiling takes most of the time, and the numbers were written by another compiler anyway.
        "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "check.py", str(FIXTURE), str(tmp_path / "new")],
        capture_output=True,
        text=True,
        env=env,
        cwd=tmp_path,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["same"] and found["losses"][0] != found["losses"][1]
    assert found["compared"] > 10
    assert found["logits"] < 1e-5 and found["loss"] < 1e-5 and found["worst"] < 1e-5
    assert any("model" in spec for spec in found["specs"].values())
