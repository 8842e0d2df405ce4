"""NNX133: classes that ask for all that a module holds stay Linen, also where a mixin asks that is no module."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from flax import nnx
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """import dataclasses
import dataclasses as dc
import inspect
from dataclasses import asdict, fields as fields_of

import flax.linen as nn
import helpers

held = vars


def width_of(module):
    return vars(module).get("width", 2)


def described(module, prefix=""):
    it = module
    return {prefix + k: v for k, v in it.__dict__.items()}


def handed_on(prefix, module):
    return described(prefix=prefix, module=module)


class Mixin:
    def parts(self):
        return ASKED


class Net(nn.Module, BASE):
    width: int = 3

    def setup(self):
        self.dense = nn.Dense(self.width)

    def __call__(self, x):
        return self.dense(x)
"""
ASKED = {
    "[v for v in vars(self).values() if isinstance(v, nn.Module)]": "bridged",
    "[getattr(self, f.name) for f in dataclasses.fields(self)]": "bridged",
    "dataclasses.asdict(self)": "bridged",
    "dataclasses.astuple(self)": "bridged",
    "dataclasses.replace(self, width=4)": "bridged",
    "dc.fields(self)": "bridged",
    "fields_of(self)": "bridged",
    "fields_of(type(self))": "bridged",
    "asdict(self)": "bridged",
    "self.__dataclass_fields__": "bridged",
    "held(self)": "bridged",
    "dir(self)": "bridged",
    "self.__dict__": "bridged",
    "list(self.__dict__.items())": "bridged",
    "getattr(self, '__dict__')": "bridged",
    "inspect.getmembers(self)": "bridged",
    "[name for name, _ in inspect.getmembers(self, callable)]": "bridged",
    "described(self)": "bridged",
    "handed_on('x', module=self)": "bridged",
    "helpers.shown(self)": "bridged",
    "vars(self)['dense']": "bridged",
    "[vars(self)[name] for name in ('width',)]": "bridged",
    "vars(self).get('width', 2)": "native",
    "vars(self)['width']": "native",
    "self.__dict__['width']": "native",
    "self.__dict__.get('width')": "native",
    "width_of(self)": "native",
    "helpers.width_of(self)": "native",
    "dir(nn)": "native",
    "vars(type(self))": "native",
    "[self.width]": "native",
}


HELPERS = """from dataclasses import fields


def shown(module):
    return [field.name for field in fields(module)]


def width_of(module):
    return module.width
"""


def _migrated(text: str) -> RunResult:
    sources = {"m": text, "helpers": HELPERS}
    return migrate_project([SourceFile.parse(Path(f"{name}.py"), name, said) for name, said in sources.items()])


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("base", ["Mixin", "Further", "own"])
def test_all_that_it_holds(asked: str, base: str) -> None:
    text = TEXT.replace("ASKED", asked).replace(", BASE", "" if base == "own" else f", {base}")
    text = text.replace("class Net", "class Further(Mixin):\n    pass\n\n\nclass Net")
    if base == "own":
        text = text.replace("    def setup", f"    def parts(self):\n        return {asked}\n\n    def setup")
    (plan,) = _migrated(text).classes
    assert plan.outcome == ASKED[asked], plan.reason
    assert plan.outcome == "native" or plan.code == "NNX133"


def _leaf(asked: str) -> str:
    text = TEXT.replace("ASKED", asked).replace("BASE", "Mixin")
    text = text.replace("nn.Dense(self.width)", "self.param('w', nn.initializers.ones, (3,))")
    return text.replace("self.dense(x)", "x * self.dense")


@pytest.mark.parametrize("asked", ASKED)
def test_a_mixin_is_told_what_it_sees_of_a_class_without_modules(asked: str) -> None:
    """It finds no modules there on either side."""
    result = _migrated(_leaf(asked))
    (plan,) = result.classes
    assert plan.outcome == "native", plan.reason
    said = [d.message for file in result.files for d in file.diagnostics if d.code == "NNX133"]
    assert len(said) == (ASKED[asked] == "bridged")
    of_fields = any(word in asked for word in ("fields", "asdict", "astuple", "replace", "shown"))
    assert all(("is no dataclass any more" in message) is of_fields for message in said)


def _run(name: str, folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    (folder / f"{name}.py").write_text(text)
    (folder / "helpers.py").write_text(HELPERS)
    monkeypatch.syspath_prepend(folder)
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("asked", [asked for asked in ASKED if "'width'" in asked or "width_of" in asked])
@pytest.mark.parametrize("make", ["holding", "leaf"])
def test_a_field_by_its_name(asked: str, make: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Native where Linen gives the same."""
    text = TEXT.replace("ASKED", asked).replace("BASE", "Mixin") if make == "holding" else _leaf(asked)
    text = text.replace("nn.Dense(self.width)", "nn.Dense(5)")  # nothing else reads the field
    result = _migrated(text)
    if result.classes[0].outcome != "native" or ASKED[asked] != "native":
        return
    after = result.files[[file.path.name for file in result.files].index("m.py")].after
    assert after is not None
    native = _run("after", tmp_path, after, monkeypatch).Net
    made = native(width=7, rngs=nnx.Rngs(0), **({"in_features": 3} if make == "holding" else {}))
    assert made.parts() == _run("before", tmp_path, text, monkeypatch).Net(width=7).parts() == 7


def test_a_class_within_asks_itself() -> None:
    inner = "    @dataclasses.dataclass\n    class State:\n        n: int = 0\n\n        def more(self):\n"
    text = TEXT.replace("ASKED", "1").replace("BASE", "Mixin")
    text = text.replace("class Mixin:\n", f"class Mixin:\n{inner}            return dataclasses.replace(self, n=1)\n\n")
    (plan,) = _migrated(text).classes
    assert plan.outcome == "native", plan.reason


def test_a_function_that_asks_another_of_its_arguments() -> None:
    text = TEXT.replace("ASKED", "plain(self, {'a': 1})").replace("BASE", "Mixin")
    text = text.replace("class Mixin", "def plain(module, other):\n    return vars(other), module.width\n\n\nclass Mixin")
    (plan,) = _migrated(text).classes
    assert plan.outcome == "native", plan.reason
