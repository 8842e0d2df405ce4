"""NNX209: what replaces something of flax.linen is said, and what it keeps to put back stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

NET = "class Net(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return nn.Dense(2)(x)\n\n\n"
HEAD = "from unittest import mock\n\nimport flax.linen as nn\nfrom flax import linen\nimport other\n\n\n"
PATCHES = (
    "setattr(nn, name, f)",
    "delattr(nn, name)",
    "nn.relu = f",
    "linen.Dense = f",
    "nn.Dense.__call__ = f",
    "del nn.relu",
    "monkeypatch.setattr(nn, 'relu', f)",
    "monkeypatch.setattr('flax.linen.relu', f)",
    "mock.patch('flax.linen.relu', f).start()",
    "mock.patch.object(nn, 'relu', f).start()",
    "mock.patch.object(nn.Dense, '__call__', f).start()",
    "mock.patch.multiple(nn, relu=f).start()",
)
OTHERS = (
    "setattr(other, name, f)",
    "other.relu = nn.relu",
    "monkeypatch.setattr(other, 'relu', nn.relu)",
    "mock.patch('other.linen.relu', f).start()",
    "mock.patch.object(other, 'relu', nn.relu).start()",
    "f.object(nn, 'relu')",
    "other.intercept_methods(f)",
)


def _codes(line: str) -> list[tuple[str, int]]:
    text = f"{HEAD}def test(monkeypatch, name, f):\n    {line}\n"
    (file,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).files
    return [(d.code, d.line) for d in file.diagnostics if d.code == "NNX209"]


@pytest.mark.parametrize("line", PATCHES)
def test_it_is_said(line: str) -> None:
    assert _codes(line) == [("NNX209", 9)]


@pytest.mark.parametrize("line", OTHERS)
def test_nothing_is_said(line: str) -> None:
    assert _codes(line) == []


def test_what_is_put_back_is_what_was_taken() -> None:
    """flax.nnx has no `Dense`; what is read where nothing is replaced may be a function."""
    text = (
        f"{HEAD}def patched(names, f):\n    old = {{name: getattr(nn, name) for name in names}}\n"
        "    get = lambda name: getattr(nn, name)\n    setattr(nn, names[0], f)\n    return old, get\n\n\n"
        "def activation(name):\n    return getattr(nn, name)\n"
    )
    after = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).files[0].after
    assert after is not None
    assert after.count("getattr(nn, name)") == 2 and after.endswith("return getattr(nnx, name)\n")


@pytest.mark.parametrize("classes", [NET, ""])
def test_interceptors_are_said_where_a_module_is_native(classes: str) -> None:
    text = f"{HEAD}{classes}def run(f, model, x):\n    with nn.intercept_methods(f):\n        return model(x)\n"
    (file,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).files
    found = [d.message for d in file.diagnostics if d.code == "NNX209"]
    assert found == ["native modules tell no interceptor of their calls"] * bool(classes)
