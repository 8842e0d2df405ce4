"""NNX133: classes that ask for all that a module holds stay Linen, also where a mixin asks that is no module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flax import nnx
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """import builtins
import dataclasses
import dataclasses as dc
import inspect
from dataclasses import fields
from functools import partial

import flax.linen as nn
import other

ask = vars
all_of = dc.fields


def held(module):
    inner = module
    return vars(inner)


def held_by_way(first, second):
    return held(second)


def width_of(module):
    return module.__dict__["width"] if "width" in vars(module) else 0


@dataclasses.dataclass
class Options:
    width: int


class Tools:
    def __init__(self, owner):
        self.names = dir(owner)

    @staticmethod
    def held(module):
        return module.__dict__

    def apart(self):
        return self


class Mixin:
    def parts(self):
        me = self
        local = vars
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
    "dataclasses.replace(self, width=4)": "bridged",
    "dc.astuple(self)": "bridged",
    "fields(self)": "bridged",
    "fields(type(self))": "bridged",
    "all_of(self.__class__)": "bridged",
    "self.__dataclass_fields__": "bridged",
    "getattr(self, '__dict__')": "bridged",
    "self.__dict__": "bridged",
    "self.__dict__['dense']": "bridged",
    "dict(self.__dict__, width=2)": "bridged",
    "self.__dict__.setdefault('width', 2)": "bridged",
    "dir(self)": "bridged",
    "builtins.vars(self)": "bridged",
    "ask(self)": "bridged",
    "local(self)": "bridged",
    "inspect.getmembers(self)": "bridged",
    "[vars(me) for me in [self]] and vars(me)": "bridged",
    "vars(self)[self.key]": "bridged",
    "vars(self).get('dense')": "bridged",
    "held(self)": "bridged",
    "held(module=self)": "bridged",
    "held_by_way(0, self)": "bridged",
    "partial(held_by_way, 0, self)()": "bridged",
    "Tools.held(self)": "bridged",
    "Tools(self)": "bridged",
    "(lambda m: vars(m))(self)": "bridged",
    "vars(self).get('width', 2)": "native",
    "vars(self)['width']": "native",
    "self.__dict__['width']": "native",
    "'width' in self.__dict__": "native",
    "width_of(self)": "native",
    "vars(type(self))": "native",
    "vars(self.dense.__class__)": "native",
    "type(self).__dict__": "native",
    "held(self.width)": "native",
    "held_by_way(self, 0)": "native",
    "Tools.apart(self)": "native",
    "other.vars(self.width)": "native",
    "fields(Options(self.width))": "native",
    "[self.width]": "native",
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("base", ["Mixin", "Further"])
def test_all_that_it_holds(asked: str, base: str) -> None:
    text = TEXT.replace("ASKED", asked).replace("BASE", base)
    text = text.replace("class Net", "class Further(Mixin):\n    pass\n\n\nclass Net")
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert plan.outcome == ASKED[asked], plan.reason
    assert plan.outcome == "native" or plan.code == "NNX133"


LEAF = TEXT.replace("nn.Dense(self.width)", "self.param('w', nn.initializers.ones, (3,))").replace(
    "self.dense(x)", "x * self.dense"
)


def _left(text: str) -> tuple[str, list[str]]:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    (plan,) = result.classes
    return plan.outcome, [d.message for d in result.files[0].diagnostics if d.code == "NNX133"]


@pytest.mark.parametrize("asked", ASKED)
def test_the_class_itself(asked: str) -> None:
    text = LEAF.replace("        return ASKED", "        return None").replace("BASE", "Mixin")
    method = f"    def own(self):\n        me = self\n        local = vars\n        return {asked}\n\n    def setup"
    outcome, found = _left(text.replace("    def setup", method))
    assert outcome == ASKED[asked] and (not found or outcome == "bridged"), found


@pytest.mark.parametrize("asked", ASKED)
def test_a_leaf_behind_a_mixin_is_native_and_marked(asked: str) -> None:
    """A mixin that goes through modules finds none in a leaf."""
    outcome, found = _left(LEAF.replace("ASKED", asked).replace("BASE", "Mixin"))
    assert outcome == "native"
    assert bool(found) == (ASKED[asked] == "bridged"), found


@pytest.mark.parametrize("call", ["x * self.dense * len(self.parts())", "x * self.dense * self.more()"])
def test_a_leaf_that_needs_to_be_a_dataclass_stays(call: str) -> None:
    text = LEAF.replace("BASE", "Mixin").replace("x * self.dense", call)
    text = text.replace("class Net", "    def more(self):\n        return len(self.parts())\n\n\nclass Net")
    assert _left(text.replace("ASKED", "fields(self)"))[0] == "bridged"
    assert _left(text.replace("ASKED", "[v for v in vars(self).values() if isinstance(v, nn.Module)]"))[0] == "native"


READ = """import flax.linen as nn
import jax
import jax.numpy as jnp


class Mixin:
    def size(self, name="width"):
        return ASKED


class Net(Mixin, nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return x * self.param("w", nn.initializers.ones, (self.width,))
"""


@pytest.mark.parametrize(
    "asked",
    ["vars(self).get('width', 2)", "self.__dict__['width']", "size_of(self)", "getattr(self, name, 2)", "self.width"],
)
def test_a_field_that_only_a_mixin_reads_is_kept(asked: str) -> None:
    text = READ.replace("ASKED", asked) + "\n\ndef size_of(module):\n    return vars(module).get('width', 2)\n"
    after = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).files[0].after
    assert after is not None and "class Net(Mixin, nnx.Module)" in after
    old: dict[str, Any] = {}
    new: dict[str, Any] = {}
    exec(text, old)
    exec(after, new)
    assert new["Net"](rngs=nnx.Rngs(0)).size() == old["Net"]().size() == 3


def test_a_field_that_only_a_mixin_reads_is_not_the_parameter_of_its_name() -> None:
    text = READ.replace("ASKED", "2 * self.width").replace('"w"', '"width"')
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX156")


@pytest.mark.parametrize("asked", ["fields(cls)", "all_of(cls)", "names_of(kind=cls)"])
def test_a_class_method_that_needs_a_dataclass(asked: str) -> None:
    method = f"    @classmethod\n    def known(cls):\n        return {asked}\n\n    def setup"
    text = (
        LEAF.replace("        return ASKED", "        return None").replace("BASE", "Mixin").replace("    def setup", method)
    )
    text = text.replace("class Net", "def names_of(kind):\n    return [f.name for f in dc.fields(kind)]\n\n\nclass Net")
    assert _left(text)[0] == "bridged"


def test_a_function_of_another_file() -> None:
    """Given to it, the module is asked there; a file that asks other things is in no one's way."""
    files = {
        "m": "import flax.linen as nn\nfrom told import told\nfrom told import size\n\n\nclass Net(nn.Module):\n"
        "    width: int = 3\n\n    def __call__(self, x):\n        return x\n\n"
        "    def text(self):\n        return told(self)\n",
        "told": "import inspect as look\n\n\ndef told(module):\n    return look.getmembers(module)\n\n\n"
        "def size(module):\n    return module.__dict__['width']\n",
    }
    for function, outcome in (("told", "bridged"), ("size", "native")):
        texts = {**files, "m": files["m"].replace("told(self)", f"{function}(self)")}
        result = migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in texts.items()])
        assert [plan.outcome for plan in result.classes] == [outcome]
