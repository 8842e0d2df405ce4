"""Classes that configuration files construct: natively where all that reads the files is seen, else they stay Linen."""

import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from click.testing import CliRunner
from nnx_migrate.migrate.cli import program
from nnx_migrate.migrate.files.configurations import made_by_configurations

NETWORKS = """import flax.linen as nn


class Torso(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.width)(x))


class Head(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(x)


class Other(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(x)


class Actor(nn.Module):
    torso: nn.Module
    head: nn.Module

    @nn.compact
    def __call__(self, x):
        return self.head(self.torso(x))
"""
MAIN = """import hydra
import jax
import jax.numpy as jnp

from nets import Actor, Other


def head_config(discrete):
    return {"_target_": "pkg.networks.Head"} if discrete else {}


def main(config):
    torso = hydra.utils.instantiate(config.network.pre_torso)
    head = hydra.utils.instantiate(head_config(True))
    actor = Actor(torso=torso, head=head)
    return actor.init(jax.random.key(0), jnp.ones((2, 3))), Other()
"""


def outcomes(folder: Path) -> dict[str, tuple[str, str]]:
    report = folder / "r.json"
    CliRunner().invoke(program, [str(folder), "--diff", "--report", str(report), "--allow-dirty"])
    return {
        c["name"].rpartition(".")[2]: (c["outcome"], c["reason"] or "") for c in json.loads(report.read_text())["classes"]
    }


def project(folder: Path, config: str) -> Path:
    (folder / "pkg").mkdir()
    (folder / "pkg/__init__.py").write_text("from .networks import Torso\n")
    (folder / "pkg/networks.py").write_text(NETWORKS)
    (folder / "main.py").write_text(MAIN.replace("from nets", "from pkg.networks"))
    (folder / "configs").mkdir()
    (folder / "configs/mlp.yaml").write_text(config)
    return folder


CONFIG = 'pre_torso:\n  # the torso\n  _target_: "pkg.Torso"\n  width: 8\n'


def test_classes_that_hydra_makes(tmp_path: Path) -> None:
    found = outcomes(project(tmp_path, CONFIG))
    assert [found[name][0] for name in ("Torso", "Head", "Actor", "Other")] == ["native"] * 4


@pytest.mark.parametrize(
    "old,new,reason",
    [
        ("head_config(True))", "head_config(True))\n    make = hydra.utils.instantiate", "is handed on (main.py:"),
        ("instantiate(config.network.pre_torso)", "instantiate(*config.network.pre_torso)", "the configuration first"),
        ("instantiate(config.network.pre_torso)", "instantiate(**config.network)", "does not say the configuration"),
        ("hydra.utils.instantiate(", "config.make(", "no call of `hydra.utils.instantiate` is seen"),
    ],
)
def test_where_what_reads_configurations_is_not_followed(tmp_path: Path, old: str, new: str, reason: str) -> None:
    folder = project(tmp_path, CONFIG)
    text = (folder / "main.py").read_text()
    assert old in text
    (folder / "main.py").write_text(text.replace(old, new))
    found = outcomes(folder)
    assert found["Torso"][0] == found["Head"][0] == "bridged"
    assert "mlp.yaml:3 makes it" in found["Torso"][1] and reason in found["Torso"][1]
    assert "main.py:9 makes it" in found["Head"][1]
    assert found["Other"][0] == "native"


def test_modules_that_read_configurations(tmp_path: Path) -> None:
    folder = project(tmp_path, CONFIG)
    made = "        return hydra.utils.instantiate(self.config)(nn.Dense(1)(x))\n\n\nclass Actor"
    text = (folder / "pkg/networks.py").read_text().replace("        return nn.Dense(1)(x)\n\n\nclass Actor", made)
    text = text.replace("class Other(nn.Module):\n", "class Other(nn.Module):\n    config: dict\n\n")
    (folder / "pkg/networks.py").write_text("import hydra\n" + text)
    found = outcomes(folder)
    assert found["Torso"][0] == "bridged" and "a module calls" in found["Torso"][1]


def test_what_is_handed_to_a_class_that_stays_linen(tmp_path: Path) -> None:
    folder = project(tmp_path, CONFIG)
    text = (folder / "pkg/networks.py").read_text()
    (folder / "pkg/networks.py").write_text(text.replace("(self.torso(x))", "(self.torso(x)) * self.perturb('p', x).sum()"))
    found = outcomes(folder)
    assert found["Actor"][0] == found["Torso"][0] == found["Head"][0] == "bridged"
    assert "Actor, which stays Linen, is handed what configurations make" in found["Torso"][1]


def test_targets_that_are_no_modules_change_nothing(tmp_path: Path) -> None:
    folder = project(tmp_path, "optimizer:\n  _target_: optax.adam\n# _target_: pkg.Torso\n")
    (folder / "main.py").write_text((folder / "main.py").read_text().replace("pkg.networks.Head", "optax.sgd"))
    before = (folder / "main.py").read_text()
    found = outcomes(folder)
    assert found["Torso"][0] == found["Head"][0] == found["Other"][0] == "native"
    CliRunner().invoke(program, [str(folder), "--allow-dirty"])
    assert "configured(" not in (folder / "main.py").read_text() and (folder / "main.py").read_text() != before


# What hydra's `instantiate` does with `_target_`, `_partial_`, `_recursive_` and values given beside the configuration.
HYDRA = """import functools
import pydoc
import types


def _made(node, recursive):
    if isinstance(node, dict) and "_target_" in node:
        return instantiate(node, _recursive_=recursive)
    if isinstance(node, dict):
        return {key: _made(value, recursive) for key, value in node.items()}
    return [_made(value, recursive) for value in node] if isinstance(node, list) else node


def _merged(old, new):
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: _merged(old.get(key), value) for key, value in new.items()}}
    return new


def instantiate(config, *args, **kwargs):
    if config is None:
        return None
    node = _merged(config, kwargs)
    recursive, partial = node.pop("_recursive_", True), node.pop("_partial_", False)
    made = pydoc.locate(node.pop("_target_"))
    given = _made(node, True) if recursive else node
    return functools.partial(made, *args, **given) if partial else made(*args, **given)


utils = types.SimpleNamespace(instantiate=instantiate, call=instantiate)
"""
PARTS = (
    NETWORKS
    + """

class Odd(nn.Module):
    depth: int

    @nn.compact
    def __call__(self, x):
        n = 0
        while n < self.depth:
            x = nn.Dense(x.shape[-1] + n)(x)
            n += 1
        return x


class Pair(nn.Module):
    @nn.compact
    def __call__(self, x, action):
        scale = self.variable("stats", "seen", jnp.zeros, (x.shape[-1],))
        return nn.Dense(3)(x + scale.value) + nn.Dense(3)(action)


class World(nn.Module):
    encoder: nn.Module
    heads: Sequence[nn.Module]
    size: int = 4

    def setup(self):
        self.mix = nn.Dense(self.size)

    def __call__(self, x):
        h = self.mix(self.encoder(x))
        return [head(h) for head in self.heads]


class Pack:
    def __init__(self, net, rate):
        self.net, self.rate = net, rate


def twice(x):
    return 2 * x
"""
)
RUN = """import pickle
import sys

import hydra
import jax
import jax.numpy as jnp
import numpy as np

from pkg.networks import Actor

TORSO = {"_target_": "pkg.networks.Torso", "width": 5}
HEAD = {"_target_": "pkg.networks.Head"}
ODD = {"_target_": "pkg.networks.Odd", "depth": 2}
WORLD = {
    "_target_": "pkg.networks.World",
    "encoder": {"_target_": "pkg.networks.Torso", "width": 5},
    "heads": [{"_target_": "pkg.networks.Head"}, {"_target_": "pkg.networks.Odd", "depth": 2}],
}
PACK = {
    "_target_": "pkg.networks.Pack",
    "net": {"_target_": "pkg.networks.Torso", "width": 5},
    "rate": {"_target_": "pkg.networks.twice", "x": 3},
}


def main(path, read):
    x, a = jnp.sin(jnp.arange(8.0)).reshape(2, 4), jnp.ones((2, 2))
    torso = hydra.utils.instantiate(TORSO, width=3)
    models = {
        "actor": (Actor(torso=torso, head=hydra.utils.instantiate(HEAD)), (x,)),
        "odd": (Actor(torso=hydra.utils.instantiate(ODD), head=hydra.utils.instantiate(HEAD)), (x,)),
        "alone": (hydra.utils.instantiate({"_target_": "pkg.networks.Pair"}), (x, a)),
        "world": (hydra.utils.instantiate(WORLD, size=6), (x,)),
        "later": (hydra.utils.instantiate({**TORSO, "_partial_": True})(width=7), (x,)),
    }
    pack = hydra.utils.instantiate(config=PACK)
    plain = hydra.utils.instantiate({**PACK, "_recursive_": False})
    assert pack.rate == 6 and plain.net == TORSO and hydra.utils.instantiate(None) is None
    models["pack"] = (pack.net, (x,))
    made = {name: jax.tree.map(np.asarray, model.init(jax.random.key(0), *given)) for name, (model, given) in models.items()}
    variables = pickle.load(open(read, "rb"))[0] if read else made
    out = {name: jax.jit(model.apply)(variables[name], *given) for name, (model, given) in models.items()}
    sizes = {name: jax.tree.map(np.shape, tree) for name, tree in made.items()}
    pickle.dump((variables, jax.tree.map(np.asarray, out), sizes), open(path, "wb"))


main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")
"""


@pytest.mark.slow
def test_both_sides_of_what_hydra_makes(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    (old / "pkg").mkdir(parents=True)
    (old / "pkg/__init__.py").write_text("")
    imports = "from collections.abc import Sequence\n\nimport jax.numpy as jnp\n"
    (old / "pkg/networks.py").write_text(imports + PARTS)
    (old / "run.py").write_text(RUN)
    (tmp_path / "site").mkdir()
    (tmp_path / "site/hydra.py").write_text(HYDRA)
    found = outcomes(old)
    wanted = dict.fromkeys(("Torso", "Head", "Pair", "World", "Actor"), "native")
    assert {name: found[name][0] for name in (*wanted, "Odd")} == {**wanted, "Odd": "bridged"}
    CliRunner().invoke(program, [str(old), "--output", str(new)], catch_exceptions=False)
    assert "class Torso(nnx.Module)" in (new / "pkg/networks.py").read_text()

    def run(folder: Path, *given: Path) -> tuple[Any, Any, Any]:
        env = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{tmp_path / 'site'}", "JAX_PLATFORMS": "cpu"}
        done = subprocess.run(
            [sys.executable, "run.py", *map(str, given)], cwd=folder, env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        loaded: tuple[Any, Any, Any] = pickle.loads(given[0].read_bytes())
        return loaded

    _, linen, linen_sizes = run(old, tmp_path / "old.pkl")
    _, native, native_sizes = run(new, tmp_path / "new.pkl", tmp_path / "old.pkl")
    assert linen_sizes == native_sizes
    assert jax.tree.structure(linen) == jax.tree.structure(native)
    for before, after in zip(jax.tree.leaves(linen), jax.tree.leaves(native), strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize(
    "config,within",
    [
        ("a:\n  _target_: p.A\n  b:\n    _target_: p.B\n", {"p.B": {("p.A", "b")}}),
        ("a:\n  _target_: p.A\n  _recursive_: false\n  b:\n    _target_: p.B\n", {}),
        ("a:\n  b:\n    _target_: p.B\n  _target_: p.A\n", {"p.B": {("p.A", "b")}}),
        ("_target_: p.A\nbs:\n- _target_: p.B\n- _target_: p.C\n", {"p.B": {("p.A", "bs")}, "p.C": {("p.A", "bs")}}),
        ("_target_: p.A\nb: {_target_: p.B, x: 1}\n", {"p.B": {("p.A", "b")}}),
        ("a:\n  _target_: p.A\nb:\n  _target_: p.B\n", {}),
        ("_target_: p.A\nd:\n  e:\n    f:\n      _target_: p.B  # deep\n", {"p.B": {("p.A", "d")}}),
    ],
)
def test_targets_within_others(tmp_path: Path, config: str, within: dict[str, set[tuple[str, str]]]) -> None:
    (tmp_path / "c.yaml").write_text(config)
    found = made_by_configurations([tmp_path], [b"import hydra"], lambda path: False)
    assert {name: set(made.within) for name, made in found.items() if made.within} == within
    assert set(found) == set(re.findall(r"p[.][A-C]", config))
