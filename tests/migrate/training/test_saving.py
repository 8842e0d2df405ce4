"""Loops that save: stopped as Linen programs, they go on as NNX programs from the same folder."""

from __future__ import annotations

import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

PROGRAMS = Path(__file__).with_name("programs")


def loaded(text: str, name: str) -> dict[str, Any]:
    module = types.ModuleType(name)
    sys.modules[name] = module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, name, "exec"), module.__dict__)
    return module.__dict__


@pytest.mark.parametrize("name", ["saves_flax_checkpoints", "saves_with_args", "saves_with_manager"])
def test_a_linen_checkpoint_goes_on(name: str, tmp_path: Path) -> None:
    text = (PROGRAMS / "_head.txt").read_text() + (PROGRAMS / f"{name}.txt").read_text()
    text = text[: text.index("workdir = tempfile")]  # the definitions
    result = migrate_project([SourceFile.parse(Path("program.py"), "program", text)])
    after = result.files[0].after
    assert after is not None and "nnx.Optimizer" in after
    old = loaded(text, "before")
    for path, content in result.created.items():
        loaded(content, path.stem)
    new = loaded(after, "after")
    *_, whole = old["train"](str(tmp_path / "whole"), 8)
    *_, first = old["train"](str(tmp_path / "run"), 4)
    *_, second = new["train"](str(tmp_path / "run"), 6)
    *_, third = new["train"](str(tmp_path / "run"), 8)  # from its own checkpoint
    assert [len(part) for part in (first, second, third)] == [4, 2, 2]
    np.testing.assert_allclose([*first, *second, *third], whole, rtol=1e-5)


def helpers(*parts: str) -> dict[str, Any]:
    from nnx_migrate.migrate.nnx.generated import parity

    return loaded(parity.render(parts), "linen_parity")


def test_steps_that_are_kept_and_refused(tmp_path: Path) -> None:
    import optax
    from flax import nnx

    made = helpers("save_checkpoint", "restore_checkpoint")
    model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    pair = (model, nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param))
    made["restore_checkpoint"](tmp_path / "nothing", pair)  # no checkpoint, no change
    for step in range(6):
        model.kernel[...] = model.kernel[...] * 0 + step
        made["save_checkpoint"](str(tmp_path), pair, step, keep=2, keep_every_n_steps=3)
    assert sorted(p.name for p in tmp_path.glob("checkpoint_*")) == [f"checkpoint_{n}" for n in (0, 3, 4, 5)]
    with pytest.raises(ValueError, match="overwrite=True"):
        made["save_checkpoint"](str(tmp_path), pair, 5)
    with pytest.raises(ValueError, match=r"no step 2; there are \[0, 3, 4, 5\]"):
        made["restore_checkpoint"](tmp_path, pair, step=2)
    made["restore_checkpoint"](tmp_path, pair, step=3)
    assert float(model.kernel[0, 0]) == 3
    made["save_checkpoint"](str(tmp_path), pair, 4, overwrite=True, keep=5)
    assert sorted(p.name for p in tmp_path.glob("checkpoint_*")) == [f"checkpoint_{n}" for n in (0, 3, 4)]


RAW = """
import tempfile
from flax.training import checkpoints
x = jnp.sin(jnp.arange(20.0)).reshape(4, 5)
model = MLP(8)
params = model.init(jax.random.key(0), x)['params']
state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(0.1))
grads = jax.grad(lambda params: jnp.mean(state.apply_fn({'params': params}, x) ** 2))(state.params)
state = state.apply_gradients(grads=grads)
folder = tempfile.mkdtemp()
checkpoints.save_checkpoint(folder, state, step=1)
"""


RESTORED = [
    "raw = checkpoints.restore_checkpoint(folder, None)\n",
    "raw = checkpoints.restore_checkpoint(folder, target=None, step=1)\n",
    "state = checkpoints.restore_checkpoint(folder, state)\n",
]


@pytest.mark.parametrize("restored", RESTORED)
def test_a_checkpoint_that_is_read_as_a_dictionary_keeps_its_keys(kit: Any, restored: str) -> None:
    params = "raw['params']" if "raw" in restored else "state.params"
    done = kit.migrate(f"{RAW}{restored}out = float(jnp.sum({params}['Dense_0']['kernel']))\n", kit.MLP)
    assert "NNX601" in done.codes and ("linen_state(model, optimizer)" in done.after) == ("raw" in restored)
    before, after = done.both()
    np.testing.assert_allclose(after["out"], before["out"], rtol=1e-4)
