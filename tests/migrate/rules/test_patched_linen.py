"""NNX209: what replaces something of flax.linen is said, and what it keeps to put back stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

NET = "class Net(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return nn.Dense(2)(x)\n\n\n"
HEAD = """from functools import partial
from unittest import mock
from unittest.mock import patch as p
from unittest.mock import patch
from unittest import mock as um
import unittest.mock as m
import unittest.mock
import sys
import flax.linen as nn
from flax import linen
import other
TARGET = "flax.linen.relu"
ELSEWHERE = "other.relu"
on = mock.patch.object
"""
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
    "p('flax.linen.relu', f).start()",
    "p.object(nn, 'relu', f).start()",
    "p.dict(nn.__dict__, relu=f).start()",
    "patch('flax.linen.relu', f).start()",
    "patch.object(linen, 'relu', f).start()",
    "m.patch.object(nn, 'relu', f).start()",
    "m.patch('flax.linen.relu', f).start()",
    "um.patch('flax.linen.relu', f).start()",
    "um.patch.multiple('flax.linen', relu=f).start()",
    "unittest.mock.patch.object(nn.Dense, '__call__', f).start()",
    "on(nn, 'relu', f).start()",
    "own = mock.patch.object; own(nn, 'relu', f).start()",
    "partial(mock.patch.object, nn)('relu', f).start()",
    "mock.patch(TARGET, f).start()",
    "mock.patch(f'flax.linen.{name}', f).start()",
    "mock.patch('flax.linen.' + name, f).start()",
    "mock.patch(target='flax.linen.relu', new=f).start()",
    "mock.patch.object(target=nn, attribute='relu', new=f).start()",
    "mock.patch.dict('sys.modules', {'flax.linen': f}).start()",
    "mock.patch.dict(sys.modules, {'flax.linen': f}).start()",
    "mocker.patch('flax.linen.relu', f)",
    "mocker.patch.object(nn, 'relu', f)",
    "mocker.spy(nn, 'relu')",
    "monkeypatch.setattr(target=nn, name='relu', value=f)",
    "monkeypatch.setitem(nn.__dict__, 'relu', f)",
    "monkeypatch.setitem(sys.modules, 'flax.linen', f)",
    "object.__setattr__(nn, 'relu', f)",
    "nn.__dict__['relu'] = f",
    "vars(nn)['relu'] = f",
    "sys.modules['flax.linen'] = f",
    "nn.relu, nn.gelu = f, f",
    "nn.relu: object = f",
)
OTHERS = (
    "setattr(other, name, f)",
    "other.relu = nn.relu",
    "monkeypatch.setattr(other, 'relu', nn.relu)",
    "mock.patch('other.linen.relu', f).start()",
    "mock.patch.object(other, 'relu', nn.relu).start()",
    "p('other.linen.relu', f).start()",
    "p.object(other, 'relu', nn.relu).start()",
    "m.patch.object(other, 'relu', nn.relu).start()",
    "on(other, 'relu', nn.relu).start()",
    "mock.patch(ELSEWHERE, f).start()",
    "mock.patch(f'other.{name}', f).start()",
    "mock.patch.dict(sys.modules, {'other': nn}).start()",
    "mock.patch.dict(f, {'relu': nn.relu}).start()",
    "mocker.patch('other.relu', nn.relu)",
    "sys.modules['other'] = nn",
    "f[nn.relu] = f",
    "f.relu, f.gelu = nn.relu, nn.gelu",
    "f.object(nn, 'relu')",
    "other.intercept_methods(f)",
)


def _codes(line: str) -> list[tuple[str, int]]:
    text = f"{HEAD}def test(monkeypatch, mocker, name, f):\n    {line}\n"
    (file,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).files
    return [(d.code, d.line) for d in file.diagnostics if d.code == "NNX209"]


@pytest.mark.parametrize("line", PATCHES)
def test_it_is_said(line: str) -> None:
    assert _codes(line) == [("NNX209", 16)]


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


@pytest.mark.parametrize(
    "line",
    [
        "mock.patch('models.nn.Dense', f).start()",
        "mock.patch.object(models.nn, 'Dense', f).start()",
        "mock.patch.object(models, 'nn', f).start()",
        "mock.patch('models.nn', f).start()",
        "monkeypatch.setattr(models, 'nn', f)",
    ],
)
def test_by_a_file_that_imports_it(line: str) -> None:
    texts = {
        "models": f"import flax.linen as nn\n\n\n{NET}",
        "test_it": f"from unittest import mock\nimport models\n\n\ndef test_it(f, monkeypatch):\n    {line}\n",
    }
    files = migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in texts.items()]).files
    found = [(file.path.name, d.line) for file in files for d in file.diagnostics if d.code == "NNX209"]
    assert found == [("test_it.py", 6)]
