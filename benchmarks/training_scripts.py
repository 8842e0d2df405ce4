"""Training scripts of the flax examples, before and after migration, on synthetic data: the same losses?

    python benchmarks/training_scripts.py [NAME ...]

The scripts come from the unpacked corpus (see corpus.py) and are nowhere kept. Each is copied with a small driver that
builds its model and state as its own main function does and takes steps; the copy is migrated, and both run in processes
of their own. Weights are a function of their shapes, so both sides start alike, and dropout is off.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

EXAMPLES = Path("corpus/github/flax/examples")
# Libraries of the scripts that a step does not need, and that need not be installed.
STUBS = """
import importlib.abc, importlib.machinery, sys
from unittest import mock

class Config(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
    def __hash__(self):
        return id(self)

NAMES = ('tensorflow', 'tensorflow_datasets', 'tensorflow_text', 'clu', 'ml_collections', 'sentencepiece', 'gym', 'ale_py',
         'cv2', 'PIL', 'env_utils', 'sacrebleu', 'tokenizer', 'test_episodes', 'gymnasium', 'tensorboard',
         'tensorboardX', 'jraph')

class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.partition('.')[0] in NAMES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        return mock.MagicMock(name=spec.name, __path__=[], __version__='2.0.0')
    def exec_module(self, module):
        pass

sys.meta_path.append(Stubs())  # after the finders of what is installed
"""
HEAD = """
import functools, json, types
import jax, jax.numpy as jnp, numpy as np, optax
from flax import jax_utils
from flax.training import common_utils, train_state
from stubs import Config

def fill(tree):
  return jax.tree_util.tree_map(
      lambda v: (0.05 * jnp.sin(1.0 + jnp.arange(v.size, dtype=jnp.float32))).reshape(v.shape).astype(v.dtype), tree)

def tokens(i, shape, top=15):
  return (1 + (np.arange(np.prod(shape)) * (i + 3)) % top).reshape(shape).astype(np.int32)

def images(i, shape):
  return np.sin(i + np.arange(np.prod(shape), dtype=np.float32)).reshape(shape)

def same_weights():
  # Initial weights are a function of their shapes, whoever draws them: for scripts that run as a whole.
  from jax._src.nn import initializers
  ramp = lambda shape: (0.5 * jnp.sin(1.0 + jnp.arange(np.prod(shape), dtype=jnp.float32))).reshape(shape)
  initializers.random = types.SimpleNamespace(
      normal=lambda key, shape, *a, **k: ramp(shape), uniform=lambda key, shape, *a, **k: ramp(shape),
      truncated_normal=lambda key, low, high, shape, *a, **k: ramp(shape), orthogonal=lambda key, n, *a, **k: ramp((n, n)),
      key=jax.random.key, split=jax.random.split)

losses = []
key = jax.random.PRNGKey(0)
"""
SIZES = (
    "emb_dim=16, num_heads=2, num_layers=2, qkv_dim=16, mlp_dim=32, max_len=16, dropout_rate=0.0, attention_dropout_rate=0.0"
)


@dataclasses.dataclass(frozen=True)
class Script:
    """Where a script is, and what builds its state and takes its steps."""

    folder: str
    driver: str


SCRIPTS = {
    "vae": Script(
        "vae",
        """
import train
same_weights()
train.input_pipeline.build_train_set = lambda *a: iter([(images(i, (2, 784)) > 0).astype(np.float32) for i in range(9)])
train.input_pipeline.build_test_set = lambda *a: jnp.asarray((images(5, (8, 784)) > 0).astype(np.float32))
train.tfds.builder = lambda name: types.SimpleNamespace(download_and_prepare=lambda: None, info=types.SimpleNamespace(
    splits={'train': types.SimpleNamespace(num_examples=6)}))
train.vae_utils.save_image = lambda image, *a, **k: losses.append(float(image.sum()))
train.train_and_evaluate(Config(batch_size=2, latents=4, learning_rate=1e-2, num_epochs=3), '')
""",
    ),
    "lm1b": Script(
        "lm1b",
        f"""
import models, train, utils
from jax.sharding import Mesh
settings = Config(per_device_batch_size=2, max_target_length=8, logical_axis_rules=(
    ('activation_batch', 'data'), ('vocab', 'tensor'), ('embed', 'fsdp'), ('mlp', 'tensor'), ('heads', 'tensor')),
    data_sharding=('data',))
mesh = Mesh(np.array(jax.devices()).reshape(2, 2, 2), ('data', 'fsdp', 'tensor'))
config = models.TransformerConfig(vocab_size=16, output_vocab_size=16, {SIZES})
model = models.TransformerLM(config.replace(deterministic=True))
tx = optax.adamw(train.create_learning_rate_schedule(0.1, 4), weight_decay=0.1)
state, specs = utils.setup_initial_state(model, tx, settings, key, mesh)
state = state.replace(params=jax.device_put(fill(state.params), jax.tree_util.tree_map(lambda v: v.sharding, state.params)))
schedule = train.create_learning_rate_schedule(0.1, 4)
step = jax.jit(functools.partial(train.train_step, config=config, learning_rate_fn=schedule))
for i in range(5):
  state, metrics = step(state, {{'inputs': tokens(i, (4, 8))}}, dropout_rng=key)
  losses.append(float(metrics['loss']))
layouts = sorted(str(v.sharding.spec) for v in jax.tree_util.tree_leaves(state.params))
losses.append(float(sum(len(s) * (j + 1) for j, s in enumerate(layouts))))  # a number for the layouts
""",
    ),
    "wmt": Script(
        "wmt",
        f"""
import models, train
config = models.TransformerConfig(vocab_size=16, output_vocab_size=16, {SIZES})
m = models.Transformer(config.replace(deterministic=True))
variables = jax.jit(m.init)(key, jnp.ones((2, 8), jnp.float32), jnp.ones((2, 8), jnp.float32))
schedule = train.create_learning_rate_schedule(0.1, 4)
state = train.TrainState.create(
    apply_fn=m.apply, params=fill(variables['params']), tx=optax.adamw(schedule, weight_decay=0.1), dynamic_scale=None)
state = jax_utils.replicate(state)
step = jax.pmap(functools.partial(train.train_step, config=config, learning_rate_fn=schedule), axis_name='batch')
for i in range(5):
  batch = common_utils.shard({{'inputs': tokens(i, (16, 8)), 'targets': tokens(i + 1, (16, 8))}})
  state, metrics = step(state, batch, dropout_rng=common_utils.shard_prng_key(key))
  losses.append(float(metrics['loss'].sum()))
""",
    ),
    "nlp_seq": Script(
        "nlp_seq",
        f"""
import models, train
config = models.TransformerConfig(vocab_size=16, output_vocab_size=16, {SIZES})
model = models.Transformer(config)
variables = model.init(key, inputs=jnp.ones((8, 1), jnp.float32), train=False)
schedule = train.create_learning_rate_scheduler(base_learning_rate=0.1)
tx = optax.adamw(schedule, weight_decay=0.1)
state = train_state.TrainState.create(apply_fn=model.apply, params=fill(variables['params']), tx=tx)
state = jax_utils.replicate(state)
step = jax.pmap(functools.partial(train.train_step, model=model, learning_rate_fn=schedule), axis_name='batch')
for i in range(5):
  batch = common_utils.shard({{'inputs': tokens(i, (16, 8)), 'targets': tokens(i + 1, (16, 8))}})
  state, metrics = step(state, batch, dropout_rng=common_utils.shard_prng_key(key))
  losses.append(float(metrics['loss'].sum()))
""",
    ),
    "ppo": Script(
        "ppo",
        """
import models, ppo_lib
model = models.ActorCritic(num_outputs=4)
params = model.init(key, jnp.ones((1, 84, 84, 4)))['params']
state = train_state.TrainState.create(apply_fn=model.apply, params=fill(params), tx=optax.adam(1e-3))
for i in range(3):
  batch = (images(i, (4, 84, 84, 4)), tokens(i, (4,), 3), images(i, (4,)) - 2, images(i + 1, (4,)), images(i + 2, (4,)))
  state, loss = ppo_lib.train_step(state, batch, 2, clip_param=0.1, vf_coeff=0.5, entropy_coeff=0.01)
  losses.append(float(loss))
""",
    ),
    "imagenet": Script(
        "imagenet",
        """
import models, train
model = models.ResNet(stage_sizes=[1, 1], block_cls=models.ResNetBlock, num_classes=1000, num_filters=8, dtype=jnp.float32)
params, batch_stats = train.initialized(key, 32, model)
state = train.TrainState.create(
    apply_fn=model.apply, params=fill(params), batch_stats=batch_stats, dynamic_scale=None,
    tx=optax.sgd(0.1, 0.9, nesterov=True))
state = jax_utils.replicate(state)
step = jax.pmap(functools.partial(train.train_step, learning_rate_fn=lambda n: 0.1), axis_name='batch')
for i in range(5):
  batch = common_utils.shard({'image': images(i, (16, 32, 32, 3)), 'label': tokens(i, (16,))})
  state, metrics = step(state, batch)
  losses.append(float(metrics['loss'].mean()))
""",
    ),
    "seq2seq": Script(
        "seq2seq",
        """
import random
import train
same_weights()
random.seed(0)
jax.random.categorical = lambda key, logits, *a, **k: jnp.argmax(logits, -1)  # it samples what it reads next
train.FLAGS(['train'])
train.FLAGS.learning_rate, train.FLAGS.batch_size, train.FLAGS.hidden_size = 0.01, 4, 8
train.FLAGS.num_train_steps, train.FLAGS.decode_frequency, train.FLAGS.max_len_query_digit = 5, 2, 2
train.metric_writers.create_default_writer = lambda path: types.SimpleNamespace(
    write_scalars=lambda step, metrics: losses.append(float(metrics['loss'])))
train.log_decode = lambda question, inferred, golden: losses.append(float(sum(map(ord, inferred))))
train.train_and_evaluate('')
""",
    ),
    "sst2": Script(
        "sst2",
        """
import train
same_weights()
config = Config(embedding_size=8, hidden_size=8, output_size=1, dropout_rate=0.0, word_dropout_rate=0.0, unk_idx=1,
                learning_rate=0.1, momentum=0.9, weight_decay=3e-6, batch_size=4, bucket_size=8, max_input_length=6, seed=0,
                num_epochs=3)
lengths, labels = np.array([6, 5, 4, 3]), np.array([0, 1, 1, 0])
batches = [{'token_ids': tokens(i, (4, 6)), 'length': lengths, 'label': labels} for i in range(3)]
train.input_pipeline.TextDataset = lambda **k: types.SimpleNamespace(
    get_bucketed_batches=lambda *a, **k: batches, get_batches=lambda **k: batches[:1], vocab=range(20))
train.batch_to_numpy = lambda batch: batch
train.tensorboard.SummaryWriter = lambda path: types.SimpleNamespace(
    hparams=lambda config: None, flush=lambda: None, scalar=lambda name, value, epoch: losses.append(float(value)))
train.train_and_evaluate(config, '')
""",
    ),
}


def copy(script: Script, folder: Path) -> list[Path]:
    """The script's files and its driver, in a folder of their own."""
    folder.mkdir(parents=True)
    for path in sorted((EXAMPLES / script.folder).glob("*.py")):
        if not path.name.endswith("_test.py") and path.name not in ("__init__.py", "main.py"):
            shutil.copy(path, folder / path.name)
    (folder / "drive.py").write_text(HEAD + script.driver + "print('LOSSES' + json.dumps(losses))\n")
    return sorted(folder.glob("*.py"))


def losses(folder: Path) -> list[float] | str:
    """What the driver prints, or how it fails."""
    (folder / "stubs.py").write_text(STUBS)
    (folder / "run.py").write_text("import stubs\nimport drive\n")
    env = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "run.py"], cwd=folder, capture_output=True, text=True, env=env, check=False
    )
    found = [line for line in done.stdout.splitlines() if line.startswith("LOSSES")]
    if done.returncode or not found:
        return (done.stderr.strip().splitlines() or ["no output"])[-1]
    numbers: list[float] = json.loads(found[-1].removeprefix("LOSSES"))
    return numbers


def measure(name: str, work: Path) -> str:
    """One line of the table."""
    script = SCRIPTS[name]
    paths = copy(script, work / name / "before")
    result = migrate_project([SourceFile.parse(p, p.stem, p.read_text()) for p in paths])
    after = work / name / "after"
    after.mkdir()
    for file in result.files:
        (after / file.path.name).write_text(file.after if file.after is not None else file.before)
    for path, text in result.created.items():
        (after / path.name).write_text(text)
    outcomes = Counter(plan.outcome.value for plan in result.classes)
    forms = sorted({d.code for f in result.files for d in f.diagnostics if d.code in ("NNX601", "NNX602", "NNX603")})
    old, new = losses(work / name / "before"), losses(after)
    if isinstance(old, str) or isinstance(new, str):
        verdict = f"Linen: {old}" if isinstance(old, str) else f"migrated: {new}"
    else:
        worst = max(abs(a - b) / max(abs(a), 1e-6) for a, b in zip(old, new, strict=True))
        verdict = f"{'same' if worst < 1e-4 else 'DIFFERENT'}, off by {worst:.1e} over {len(old)} losses from {old[0]:.4f}"
    classes = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    return f"{name:10} {classes:24} {' '.join(forms):8} {verdict}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SCRIPTS)}")
    parser.add_argument("--keep", type=Path, help="leave both sides in this folder")
    options = parser.parse_args()
    if not EXAMPLES.is_dir():
        sys.exit(f"{EXAMPLES} is not there: unpack the corpus first (python benchmarks/corpus.py --help)")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or SCRIPTS:
            print(measure(name, options.keep or Path(folder)), flush=True)


if __name__ == "__main__":
    main()
