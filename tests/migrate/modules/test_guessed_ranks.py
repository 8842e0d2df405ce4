"""A guessed number of dimensions is said at migration, and another one fails where the model is made."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest
from flax import nnx
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = "import jax.numpy as jnp\nfrom flax import linen as nn\n\n\n"
GUESSED = """class Guessed(nn.Module):
  @nn.compact
  def __call__(self, x):
    x = nn.Dense(4)(x)
    x = x.swapaxes(1, 2)
    return nn.Dense(8)(x)


"""
STAYS = """class Stays(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(3)(somewhere(x))


"""
STATED = GUESSED.replace("    x = nn.Dense(4)(x)\n", "    assert x.ndim == 4\n    x = nn.Dense(4)(x)\n")
FREE = GUESSED.replace("x.swapaxes(1, 2)", "x.reshape((x.shape[0], -1))")


def _run(text: str) -> Any:
    return migrate_project([SourceFile.parse(Path("guess.py"), "guess", HEAD + text)]).files[0]


@pytest.mark.parametrize("text", [GUESSED, GUESSED + STAYS], ids=["alone", "beside a class that stays Linen"])
def test_the_guess_is_reported(text: str) -> None:
    assert "NNX115" in {d.code for d in _run(text).diagnostics}


def test_a_stated_rank_is_no_guess() -> None:
    found = _run(STATED)
    assert "NNX115" not in {d.code for d in found.diagnostics} and "raise ValueError" not in found.after


def test_another_rank_fails_in_the_constructor() -> None:
    module: Any = types.ModuleType("guessed_nnx")
    sys.modules["guessed_nnx"] = module
    exec(_run(GUESSED).after, module.__dict__)
    assert module.Guessed(in_shape=(2, 5, 3), rngs=nnx.Rngs(0)).Dense_1.in_features == 5
    with pytest.raises(ValueError, match=r"`in_shape` must have 3 dimensions: \(2, 6, 5, 3\)"):
        module.Guessed(in_shape=(2, 6, 5, 3), rngs=nnx.Rngs(0))


def test_no_rank_is_guessed_where_any_is_right() -> None:
    found = _run(FREE)
    assert "NNX115" not in {d.code for d in found.diagnostics} and "raise ValueError" not in found.after
    module: Any = types.ModuleType("free_nnx")
    sys.modules["free_nnx"] = module
    exec(found.after, module.__dict__)
    for shape, width in (((2, 3), 4), ((2, 5, 3), 20), ((2, 6, 5, 3), 120)):
        assert module.Guessed(in_shape=shape, rngs=nnx.Rngs(0)).Dense_1.in_features == width


def test_what_contains_it_guesses_and_checks_too() -> None:
    text = (Path(__file__).parent / "forms_guessed_ranks.py").read_text()
    run = migrate_project([SourceFile.parse(Path("guess.py"), "guess", text)])
    module: Any = types.ModuleType("guessed_parts_nnx")
    sys.modules["guessed_parts_nnx"] = module
    exec(run.files[0].after or "", module.__dict__)
    assert module.WholeOfGuess(in_shape=(2, 5, 6), rngs=nnx.Rngs(0)).PartOfGuess_0.w.shape == (20,)
    with pytest.raises(ValueError, match="must have 3 dimensions"):
        module.WholeOfGuess(in_shape=(2, 6), rngs=nnx.Rngs(0))


WINDOWS = """class Part(nn.Module):
  window: tuple = (3, 3)
  @nn.compact
  def __call__(self, x):
    return nn.Dense(x.shape[2])(nn.Conv(4, self.window)(x))


class Whole(nn.Module):
  @nn.compact
  def __call__(self, x):
    return nn.Dense(2)(Part((3, 3, 3))(x))


"""


def test_a_window_of_any_length_makes_a_guess() -> None:
    found = _run(WINDOWS)
    assert sum(d.code == "NNX115" for d in found.diagnostics) == 2
    module: Any = types.ModuleType("windows_nnx")
    exec(found.after, module.__dict__)
    with pytest.raises(ValueError, match="4 dimensions"):
        module.Whole(in_shape=(2, 4, 6, 6, 3), rngs=nnx.Rngs(0))
    assert module.Part(in_shape=(2, 4, 6, 3), rngs=nnx.Rngs(0)).Dense_0.out_features == 6


def test_a_rank_that_nothing_asks_for_is_not_told() -> None:
    plain = "class Plain(nn.Module):\n  window: tuple = (3, 3)\n  @nn.compact\n  def __call__(self, x):\n"
    plain += "    return nn.Dense(3)(nn.Conv(4, self.window)(x))\n"
    assert "NNX115" not in {d.code for d in _run(plain).diagnostics}
