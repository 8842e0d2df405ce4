"""Classes that configuration files construct stay Linen, with what is given the results."""

import json
from pathlib import Path

from click.testing import CliRunner
from nnx_migrate.migrate.cli import program

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


def test_classes_that_hydra_makes_stay_linen(tmp_path: Path) -> None:
    found = outcomes(project(tmp_path, 'pre_torso:\n  # the torso\n  _target_: "pkg.Torso"\n  width: 8\n'))
    assert found["Torso"][0] == "bridged" and "mlp.yaml:3 makes it" in found["Torso"][1]
    assert found["Head"][0] == "bridged" and "main.py:9 makes it" in found["Head"][1]
    assert found["Actor"][0] == "native"  # which is handed whatever hydra makes
    assert found["Other"][0] == "native"


def test_targets_that_are_no_modules_change_nothing(tmp_path: Path) -> None:
    folder = project(tmp_path, "optimizer:\n  _target_: optax.adam\n# _target_: pkg.Torso\n")
    (folder / "main.py").write_text((folder / "main.py").read_text().replace("pkg.networks.Head", "optax.sgd"))
    found = outcomes(folder)
    assert found["Torso"][0] == found["Head"][0] == found["Other"][0] == "native"
