"""Layers that a field names by a text: what they are is not known, and their class stays Linen."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """from flax import linen as nn
from flax import linen
import importlib

TABLE = {"LayerNorm": nn.LayerNorm, "Dense": nn.Dense}


def get(name):
    return getattr(nn, name)


class Net(nn.Module):
    kind: str = "LayerNorm"

    @nn.compact
    def __call__(self, x):
"""


@pytest.mark.parametrize(
    "body",
    [
        "return getattr(nn, self.kind)()(x)",
        "layer = getattr(nn, self.kind)\nx = layer()(x)\nreturn layer()(x)",
        "layer = getattr(linen, self.kind)()\nreturn layer(x)",
        "cell = getattr(nn, self.kind)(4)\nreturn nn.RNN(cell)(x)",
        "cell = getattr(nn, self.kind)(features=x.shape[-1])\nreturn nn.RNN(cell)(x)",
        "return get('LayerNorm')()(x)",
        "return get(self.kind)()(x)",
        "layer = get(self.kind)\nreturn layer(4)(x)",
        "layer = TABLE.get(self.kind)\nmade = layer()\nreturn made(x)",
        "layer = vars(nn)[self.kind]\nmade = layer()\nreturn made(x)",
        "layer = nn.__dict__[self.kind]\nreturn layer()(x)",
        "layer = getattr(importlib.import_module('flax.linen'), self.kind)\nreturn layer()(x)",
    ],
)
def test_their_class_stays_linen(body: str) -> None:
    text = HEAD + "".join(f"        {line}\n" for line in body.splitlines())
    (net,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert str(net.outcome) == "bridged" and net.code == "NNX138", net.reason
