"""`super().__init__()` where it does something: the class stays Linen."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = """from flax import linen as nn


class Base(nn.Module):
    width: int = 3

    def setup(self):
        self.a = nn.Dense(self.width)

    def __call__(self, x):
        return self.a(x)


"""


@pytest.mark.parametrize(
    ("base", "call", "body"),
    [
        ("Base", "super().__init__()", "return self.a(x)"),  # whose fields it would give their defaults
        ("nn.Module", "super().__init__(name='other')", "return self.a(x)"),
        ("nn.Module", "super().__init__()", "return self.a(x) * len(self.name or 'abc')"),
    ],
)
def test_a_class_for_which_it_does_something_is_left(base: str, call: str, body: str) -> None:
    text = f"""{HEAD}class Net({base}):
    def setup(self):
        {call}
        self.a = nn.Dense(3)

    def __call__(self, x):
        {body}
"""
    classes = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    (net,) = (c for c in classes if c.qualname == "m.Net")
    assert str(net.outcome) == "bridged" and net.reason == "`super().__init__` leads outside the project"
