"""New strings have the quotes of the file's own; what the file said keeps its bytes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from nnx_migrate.migrate.nnx.generated.quotes import quoted
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

OWN = "".join(f'name_{i} = "value {i}"\n' for i in range(20))


def _quoted(new: str, old: str = OWN) -> str:
    out = quoted(SourceFile.parse(Path("m.py"), "m", old), old + new)
    assert ast.dump(ast.parse(out)) == ast.dump(ast.parse(old + new)) and out.startswith(old)
    return out.removeprefix(old)


def test_new_strings_are_as_the_old_ones() -> None:
    assert _quoted("x = f({'a': 1, 'b': y['c']}, ('d'))\n") == 'x = f({"a": 1, "b": y["c"]}, ("d"))\n'


@pytest.mark.parametrize(
    "line",
    ["x = 'say \"it\"'", "x = 'a\\n'", "x = r'a'", "x = f'{y}'", "x = f\"{y['a']}\"", "x = '''a'''", "x = b'a'", "# 'a'"],
)
def test_other_strings_stay(line: str) -> None:
    assert _quoted(f"{line}\n") == f"{line}\n"


def test_what_the_file_says_in_single_quotes_stays() -> None:
    assert _quoted("g(x, 'w', 'new')\n", OWN + "f('w')\n") == "g(x, 'w', \"new\")\n"


@pytest.mark.parametrize("old", [OWN.replace('"', "'"), "x = 1\n", "a = 'x'\nb = 'y'\n" + OWN[:60]])
def test_files_with_other_quotes(old: str) -> None:
    assert _quoted("x = {'a': 1}\n", old) == "x = {'a': 1}\n"


TRAIN = """
import flax.linen as nn
import jax
import jax.numpy as jnp
from flax.training import train_state
import optax

config = {"features": 4, "rate": 0.1, "seed": 0, "steps": 10}

class Net(nn.Module):
    config: dict

    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.BatchNorm(use_running_average=not train)(nn.Dense(self.config["features"])(x))
        return nn.Dense(self.config["features"])(nn.relu(x))

model = Net(config)
variables = model.init(jax.random.key(config["seed"]), jnp.ones((1, 3)), train=False)
out, updates = model.apply(variables, jnp.ones((2, 3)), train=True, mutable=["batch_stats"])
old = model.apply({"params": variables["params"], "batch_stats": variables["batch_stats"]}, jnp.ones((2, 3)), train=False)
"""


def test_migrated_files() -> None:
    result = migrate_project([SourceFile.parse(Path("train.py"), "train", TRAIN)])
    assert result.files[0].after is not None and "'" not in result.files[0].after
    ast.parse(result.files[0].after)
