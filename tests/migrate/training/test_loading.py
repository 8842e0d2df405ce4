"""Programs that load what they saved: in the idiom, from their own files and from those of the Linen program."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from . import printing_sides
from .test_saving import helpers, loaded

PROGRAMS = Path(__file__).with_name("loading")
FORMS = {  # program → the form that it takes
    "a_dictionary_that_is_restored_alone": "NNX601",
    "a_dictionary_with_the_state": "NNX601",
    "a_pickle_of_params": "NNX601",
    "a_record": "NNX602",
    "a_replicated_state": "NNX602",
    "a_sharded_state": "NNX602",
    "a_trainer_with_its_manager": "NNX601",
    "an_agent_with_a_target": "NNX601 NNX602",
    "arrays_by_name": "NNX601",
    "bytes_of_a_state_with_fields": "NNX601",
    "bytes_of_params_and_of_their_optimizer": "NNX601",
    "items_of_a_manager": "NNX601",
    "state_dicts_of_both": "NNX601",
}
DRAWING = {"bytes_of_a_state_with_fields"}  # whose masks NNX draws otherwise


def sides(text: str) -> tuple[dict[str, Any], dict[str, Any], set[str]]:
    """Both programs, and the codes of the forms."""
    result = migrate_project([SourceFile.parse(Path("program.py"), "program", text)])
    codes = {d.code for d in result.files[0].diagnostics if d.code in ("NNX601", "NNX602", "NNX603")}
    after = result.files[0].after
    assert after is not None
    for path, content in result.created.items():
        loaded(content, path.stem)
    return loaded(text, "before"), loaded(after, "after"), codes


def test_every_program_has_its_form() -> None:
    assert {path.stem for path in PROGRAMS.glob("[!_]*.txt")} == set(FORMS)


@pytest.mark.parametrize("name", FORMS)
def test_both_go_on_from_a_linen_file_and_the_new_one_from_its_own(name: str, tmp_path: Path) -> None:
    old, new, codes = sides((PROGRAMS / "_head.txt").read_text() + (PROGRAMS / f"{name}.txt").read_text())
    assert codes == set(FORMS[name].split())
    old["train"](str(tmp_path / "linen"), 2, 4)
    shutil.copytree(tmp_path / "linen", tmp_path / "copy")
    wanted = old["train"](str(tmp_path / "linen"), 2, 4)
    assert len(wanted) == 2
    np.testing.assert_allclose(new["train"](str(tmp_path / "copy"), 2, 4), wanted, rtol=1e-2 if name in DRAWING else 1e-5)
    parts = [new["train"](str(tmp_path / "new"), 2, 4) for _ in range(2)]
    whole = new["train"](str(tmp_path / "whole"), 4, 4)
    np.testing.assert_allclose([*parts[0], *parts[1]], whole, rtol=1e-6)


MODEL = """
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(4)(x))
        return nn.Dense(2)(x)

def load_params(path):
    with open(path, "rb") as file:
        return pickle.load(file)

net = Net()
x = np.sin(np.arange(12.0, dtype=np.float32)).reshape(2, 6)
"""
# What is no load in place: each keeps its `Functional` or its tree of params.
KEPT = {
    "either": """
def train(path, fresh):
    if fresh:
        params = net.init(jax.random.PRNGKey(0), x)["params"]
    else:
        params = load_params(path)
    return net.apply({"params": params}, x)
""",
    "under_a_condition_of_its_own": """
def train(path, fresh):
    if fresh:
        params = net.init(jax.random.PRNGKey(0), x)["params"]
    if not fresh:
        params = load_params(path)
    return net.apply({"params": params}, x)
""",
    "old_ones_are_read": """
def train(path, fresh):
    params = net.init(jax.random.PRNGKey(0), x)["params"]
    first = params
    if not fresh:
        params = load_params(path)
    return net.apply({"params": params}, x) + 0.0 * net.apply({"params": first}, x)
""",
    "for_the_function_around": """
def train(path, fresh):
    params = net.init(jax.random.PRNGKey(0), x)["params"]
    def resume():
        nonlocal params
        params = load_params(path)
    if not fresh:
        resume()
    return net.apply({"params": params}, x)
""",
    "none_before_there_is_a_model": """
def train(path, fresh):
    params = None
    if not fresh:
        params = load_params(path)
    if params is None:
        params = net.init(jax.random.PRNGKey(0), x)["params"]
    return net.apply({"params": params}, x)
""",
    "of_an_object_that_has_none": """
class Runner:
    def __init__(self):
        self.params = None

    def resume(self, path):
        self.params = load_params(path)

    def start(self):
        self.params = net.init(jax.random.PRNGKey(0), x)["params"]

    def run(self):
        return net.apply({"params": self.params}, x)


def train(path, fresh):
    runner = Runner()
    if fresh:
        runner.start()
    else:
        runner.resume(path)
    return runner.run()
""",
    "before_there_is_a_model": """
def train(path, fresh):
    params = None if fresh else load_params(path)
    if params is None:
        params = net.init(jax.random.PRNGKey(0), x)["params"]
    return net.apply({"params": params}, x)
""",
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_no_load_in_place_is_kept(name: str, tmp_path: Path) -> None:
    old, new, codes = sides((PROGRAMS / "_head.txt").read_text() + MODEL + KEPT[name])
    assert "NNX601" not in codes
    sizes = {"Dense_0": (6, 4), "Dense_1": (4, 2)}
    params = {layer: {"kernel": np.full(size, 0.2), "bias": np.ones(size[1])} for layer, size in sizes.items()}
    path = tmp_path / "params"
    path.write_bytes(pickle.dumps(params))
    np.testing.assert_allclose(new["train"](path, False), old["train"](path, False), rtol=1e-5)
    assert np.shape(new["train"](path, True)) == (2, 2)


def test_values_that_do_not_fit_are_refused() -> None:
    import jax.numpy as jnp
    from flax import nnx

    made = helpers("load_params", "linen_params")
    model = nnx.Sequential(nnx.Linear(2, 3, rngs=nnx.Rngs(0)))
    tree = made["linen_params"](model)
    (name,) = tree
    made["load_params"](model, {name: {"kernel": jnp.ones((2, 3)), "bias": jnp.ones(3)}})
    assert float(model.layers[0].kernel[0, 0]) == 1
    with pytest.raises(ValueError, match=f"have no {name}/bias"):
        made["load_params"](model, {name: {"kernel": jnp.ones((2, 3))}})
    with pytest.raises(ValueError, match=r"of shape \(3, 2\) where the model has \(2, 3\)"):
        made["load_params"](model, {name: {"kernel": jnp.ones((3, 2)), "bias": jnp.ones(3)}})
    with pytest.raises(ValueError, match="3 arrays where the model has 2"):
        made["load_params"](model, {name: {**tree[name], "scale": jnp.ones(3)}})


LAYERS_IN_A_LOOP = """import pickle

import jax
import jax.numpy as jnp
from flax import linen as nn


class Deep(nn.Module):
    sizes: tuple = (4, 2)

    @nn.compact
    def __call__(self, x):
        outs = []
        for size in self.sizes:
            x = nn.Dense(size, kernel_init=nn.initializers.constant(0.3))(x)
            kept = {"last": x, "first": outs or x}
            outs = [x, *outs]
        return x + kept["last"]


def load_params(sizes, params):
    loaded = {name: dict(layer) for name, layer in params.items()}
    for size in sizes:
        loaded["Dense_0"]["bias"] = jnp.full(size, 0.5)
    return loaded


x = jnp.ones((3, 6))
sizes = [4]
net = Deep()
params = net.init(jax.random.key(0), x)["params"]
params = load_params(sizes, params)
print(net.apply({"params": params}, x).sum())
"""


@pytest.mark.parametrize("jit", ["nnx", "functional"])
def test_classes_with_loops_stand_in_the_file(jit: str) -> None:
    done = migrate_project([SourceFile.parse(Path("m.py"), "m", LAYERS_IN_A_LOOP)], Options(jit=jit))  # type: ignore[arg-type]
    said = [d.help or "" for d in done.files[0].diagnostics if d.code.startswith("NNX60")]
    assert said and not any("this tool failed" in help_ for help_ in said)
    printing_sides.check(f"loading_loops_{jit}", LAYERS_IN_A_LOOP, jit)
