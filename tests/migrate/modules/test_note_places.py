"""Notes on what a native class does stand in the file, and on the line, of the code that they are about."""

from __future__ import annotations

from pathlib import Path

from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

BASE = (
    "import flax.linen as nn\nimport jax.numpy as jnp\n"
    + "# far below every line of the files that derive from it\n" * 40
    + """

class Caching(nn.Module):
    @nn.compact
    def remembered(self, x):
        cached = self.variable("cache", "cached", jnp.zeros, x.shape, x.dtype)
        cached.value = cached.value + x
        return cached.value
"""
)
USER = """import flax.linen as nn
from base import Caching


class {name}(Caching):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(self.remembered(x))
"""


def test_a_note_on_a_base_of_another_file_stands_in_that_file_once() -> None:
    texts = {"base": BASE, "first": USER.format(name="First"), "second": USER.format(name="Second")}
    result = migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in texts.items()])
    assert all(file.after is not None for file in result.files), [file.diagnostics for file in result.files]
    outcomes = {plan.qualname: plan.outcome.value for plan in result.classes}
    assert outcomes["first.First"] == outcomes["second.Second"] == "native", outcomes
    notes = [(d.path, d.line) for file in result.files for d in file.diagnostics if d.code == "NNX207"]
    line = 1 + BASE[: BASE.index('self.variable("cache"')].count("\n")
    assert notes == [("base.py", line)]
