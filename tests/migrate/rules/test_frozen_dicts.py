"""NNX816: methods of FrozenDicts, where they cannot be other objects'."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = "import flax\n"
LEFT = {
    "a pair under a key of statistics": "mean, var = stats.pop('batch_stats')\n",
    "one value": "params = variables.pop('params')\n",
    "a method of the program's own": "class Box:\n  def unfreeze(self):\n    return 3\n\n\nx = params.unfreeze()\n",
    "called for what it does": "params.unfreeze()\n",
    "a copy as every object has it": "x = params.copy()\n",
}
CHANGED = {
    "rest, params = variables.pop('params')": "rest, params = flax.core.pop(variables, 'params')",
    "rest, params = model.init(key, x).pop('params')": "rest, params = flax.core.pop(model.init(key, x), 'params')",
    "x = state.params.unfreeze()": "x = flax.core.unfreeze(state.params)",
}


def _after(text: str) -> str | None:
    """The text as it is behind a run; None where the file is not written."""
    return migrate_project([SourceFile.parse(Path("m.py"), "m", HEAD + text)]).files[0].after


@pytest.mark.parametrize("what", LEFT)
def test_it_is_left(what: str) -> None:
    assert _after(LEFT[what]) == HEAD + LEFT[what]


@pytest.mark.parametrize("before", CHANGED)
def test_it_is_changed(before: str) -> None:
    assert _after(before + "\n") == HEAD + CHANGED[before] + "\n"


def test_what_only_they_are_told_needs_no_flax() -> None:
    """`add_or_replace` is an argument of theirs alone: a file of updates may import nothing of flax."""
    text = "new = actor.params.copy(add_or_replace={'encoder': critic.params['encoder']})\n"
    done = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).files[0].after
    assert done == "import flax\n" + text.replace("actor.params.copy(", "flax.core.copy(actor.params, ")
