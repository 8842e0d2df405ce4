"""Every Linen class of the fixtures, migrated: its state goes to NNX and back, value for value, in memory and on disk."""

from __future__ import annotations

import ast
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx, serialization
from flax.training import train_state
from nnx_migrate import compat
from nnx_migrate.compat.boxes import flatten
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

FIXTURES = Path(__file__).parent.parent / "fixtures"
sys.path.insert(0, str(FIXTURES.parent / "benchmarks"))
sides = importlib.import_module("sides")
sys.path.pop(0)


def floats(*shape: int) -> Any:
    return jnp.asarray(np.random.RandomState(sum(shape)).randn(*shape), jnp.float32)


def tokens(*shape: int) -> Any:
    return jnp.asarray(np.random.RandomState(sum(shape)).randint(0, 7, shape), jnp.int32)


def trunk(models: Any) -> Any:
    """The module that a class is given, of either side."""
    return nnx.Linear(5, 6, rngs=nnx.Rngs(2)) if issubclass(models.MultiTask, nnx.Module) else nn.Dense(6)


# "file:class" -> (fields, or what gives them, arguments, keywords of the call)
CASES: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]] = {
    "attention/models.py:Mlp": ({}, (floats(2, 5, 8),), {}),
    "attention/models.py:EncoderBlock": ({}, (floats(2, 5, 8),), {}),
    "attention/models.py:Encoder": ({"depth": 2}, (floats(2, 5, 8),), {}),
    "attention/models.py:ViT": ({}, (floats(2, 8, 8, 3),), {}),
    "attention/models.py:MultiTask": (lambda m: {"trunk": trunk(m)}, (floats(2, 5),), {}),
    "recurrent/models.py:ScannedLSTM": ({"hidden": 4}, ((floats(2, 4), floats(2, 4)), floats(2, 5, 3)), {}),
    "recurrent/models.py:Tagger": ({"vocab_size": 7, "num_tags": 3}, (tokens(2, 5),), {}),
    "recurrent/models.py:Gate": ({"features": 4}, (floats(2, 4), floats(2, 3)), {}),
    "recurrent/models.py:Reader": ({"features": 4, "outputs": 3}, (floats(2, 5, 3),), {}),
    "recurrent/models.py:Counter": ({}, (floats(2, 3),), {}),
    "cnn_ensemble/train.py:CNN": ({}, (floats(2, 8, 8, 1),), {}),
    "mlp_vae/models.py:MLP": ({"features": [8, 4]}, (floats(3, 6),), {}),
    "mlp_vae/models.py:Encoder": ({"latents": 3}, (floats(3, 6),), {}),
    "mlp_vae/models.py:Decoder": ({"outputs": 5}, (floats(3, 6),), {}),
    "mlp_vae/models.py:VAE": ({}, (floats(3, 12),), {}),
    "mlp_vae/models.py:Classifier": ({"num_classes": 3}, (floats(3, 6),), {}),
    "resnet/model.py:ResNet": ({"stage_sizes": [1, 1], "num_classes": 5}, (floats(2, 16, 16, 3),), {"train": False}),
    "lm/model.py:TransformerLM": (lambda m: {"config": m.Config()}, (tokens(2, 12),), {}),
    "notebook/autoencoder.py:Autoencoder": ({"depth": 3, "middle": 4}, (floats(8, 6),), {}),
}
# Classes whose variables are all in those of another, and the other's case.
PARTS = {
    "attention/models.py:Base": "attention/models.py:ViT",
    "resnet/model.py:ResNetBlock": "resnet/model.py:ResNet",
    "lm/model.py:Attention": "lm/model.py:TransformerLM",
    "lm/model.py:MlpBlock": "lm/model.py:TransformerLM",
    "lm/model.py:Block": "lm/model.py:TransformerLM",
    "notebook/autoencoder.py:Squeeze": "notebook/autoencoder.py:Autoencoder",
}
TX = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(1e-2, 100)))


class State(train_state.TrainState):
    rest: Any = None


def sources(folder: str) -> dict[str, str]:
    """The files of a fixture by name; of a notebook, its imports and its classes."""
    found = {path.name: path.read_text() for path in sorted((FIXTURES / folder).glob("*.py"))}
    for path in sorted((FIXTURES / folder).glob("*.ipynb")):
        cells = ["".join(c["source"]) for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
        kept = [c for c in cells if "from flax import linen" in c or c.startswith("class ")]
        # pjit's own name for the constraint left with it; a mesh is not in force here.
        text = "\n\n".join(kept).replace("import pjit, with_sharding_constraint", "import pjit")
        text = text.replace("    h = with_sharding_constraint(h, PartitionSpec('data', 'model'))\n", "")
        found[path.with_suffix(".py").name] = text
    return found


def linen_classes() -> Iterator[str]:
    for folder in sorted(p.name for p in FIXTURES.iterdir() if p.is_dir() and p.name != "checkpoints"):
        for name, text in sources(folder).items():
            modules = {"Module"}
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ClassDef):
                    bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                    if bases & modules:
                        modules.add(node.name)
                        yield f"{folder}/{name}:{node.name}"


def test_no_class_of_the_fixtures_is_left_out() -> None:
    # checkpoints/make.py wrote the archives that tests/compat/test_fixtures.py restores.
    assert set(linen_classes()) == CASES.keys() | PARTS.keys() and set(PARTS.values()) <= CASES.keys()


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Any:
    done: dict[str, tuple[Path, Path, RunResult]] = {}

    def migrate(folder: str) -> tuple[Path, Path, RunResult]:
        if folder not in done:
            before, after = tmp_path_factory.mktemp(f"{folder}-before"), tmp_path_factory.mktemp(f"{folder}-after")
            for name, text in sources(folder).items():
                (before / name).write_text(text)
            files = [SourceFile.parse(p, p.stem, p.read_text()) for p in sorted(before.glob("*.py"))]
            run = migrate_project(files, Options())
            for file in run.files:
                (after / file.path.name).write_text(file.after or file.before)
            for path, text in run.created.items():
                (after / path.name).write_text(text)
            done[folder] = before, after, run
        return done[folder]

    return migrate


def load(folder: Path, file: str) -> Any:
    """A module of a project, imported as its own project imports it, and forgotten after."""
    local = {path.stem for path in folder.glob("*.py")}
    sys.path.insert(0, str(folder))
    try:
        for name in local:
            sys.modules.pop(name, None)
        return importlib.import_module(Path(file).stem)
    finally:
        sys.path.pop(0)
        for name in local:
            sys.modules.pop(name, None)


def flat(tree: Any) -> dict[str, np.ndarray]:
    state = serialization.to_state_dict(nn.meta.unbox(tree))
    return {"/".join(k): np.asarray(v) for k, (v, _) in flatten(state).items()}


def assert_same(have: dict[str, np.ndarray], want: dict[str, np.ndarray]) -> None:
    assert have.keys() == want.keys()
    for key, value in want.items():
        assert have[key].dtype == value.dtype or not value.shape, key
        np.testing.assert_array_equal(have[key], value, err_msg=key)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("case", "wrapped"), [*[(case, False) for case in CASES], ("attention/models.py:MultiTask", True)]
)
def test_there_and_back(case: str, wrapped: bool, projects: Any, tmp_path: Path) -> None:
    """`wrapped`: as a module that stays Linen, in NNX as flax itself wraps it."""
    fields, args, call = CASES[case]
    file, _, name = case.partition(":")
    before, after, run = projects(file.partition("/")[0])
    module = load(before, file)
    given = fields(module) if callable(fields) else fields
    linen = getattr(module, name)(**given)
    variables = dict(linen.init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, *args, **call))
    plan = next(p for p in run.classes if p.qualname.rpartition(".")[2] == name)
    origin = [{"name": added.name, "from": added.origin} for added in plan.added_arguments]
    bound = sides.bound_call(linen, args, call)
    read = {n.id for item in origin for n in ast.walk(ast.parse(item["from"])) if isinstance(n, ast.Name)}
    assert plan.outcome == "native" and read <= bound.keys(), (plan.outcome, plan.reason)  # the call shows all sizes
    added = sides.evaluate_added(origin, bound)
    migrated = load(after, file)
    given = fields(migrated) if callable(fields) else fields

    def create() -> tuple[Any, nnx.Optimizer]:
        with nnx.use_eager_sharding(False):
            if wrapped:
                made = nnx.bridge.lazy_init(nnx.bridge.ToNNX(linen, rngs=nnx.Rngs(1)), *args, **call)
            else:
                made = getattr(migrated, name)(**given, **added, rngs=nnx.Rngs(1))
            return made, nnx.Optimizer(made, TX, wrt=nnx.Param)

    params = variables.pop("params")
    random = np.random.RandomState(0)
    params = jax.tree.map(lambda x: jnp.asarray(random.randn(*x.shape), x.dtype), params)
    variables = jax.tree.map(lambda x: x + jnp.asarray(random.rand(*x.shape), x.dtype), variables)
    state = State.create(apply_fn=linen.apply, params=params, tx=TX)
    state = state.apply_gradients(grads=jax.tree.map(lambda x: x * 0.1, params))
    saved = {"step": state.step, "params": state.params, "opt_state": state.opt_state, **variables}
    want = flat(saved)
    assert len(want) > 3
    # In memory: Linen → NNX → Linen → NNX.
    target = compat.from_linen(saved, create())
    assert_same(flat(compat.to_linen(target)), want)
    again = compat.from_linen(compat.to_linen(target), create())
    assert_same(flat(compat.to_linen(again)), want)
    # From disk, and from checkpoint to checkpoint both ways.
    (tmp_path / "state.msgpack").write_bytes(serialization.to_bytes(saved))
    restored = compat.restore(tmp_path / "state.msgpack", create)
    assert_same(flat(compat.to_linen(restored)), want)
    compat.convert_checkpoint(tmp_path / "state.msgpack", tmp_path / "nnx", create=create)
    compat.convert_checkpoint(tmp_path / "nnx", tmp_path / "linen", to="linen", create=create)
    back = {"/".join(k): leaf.read() for k, leaf in compat.open_checkpoint(tmp_path / "linen").leaves.items()}
    assert_same({k.removesuffix("/value"): v for k, v in back.items()}, want)
