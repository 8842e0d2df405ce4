"""Calls that give what a field's `default_factory` made are the same Linen program; which classes have no such form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.inlining.callees import NotInlined
from nnx_migrate.migrate.inlining.factories_given import with_factories_given
from nnx_migrate.migrate.linen.project.index import Project
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides, module

TEXT = (Path(__file__).parent / "forms_default_made.py").read_text()
LINEN = module("default_made_before", TEXT)
HEAD = """
from dataclasses import field
import jax
from flax import linen as nn


class Inner(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)


class Block(nn.Module):
    out: int = 4
    inner: nn.Module = field(default_factory=Inner)

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.out)(self.inner(x))
"""
USED = """

class M(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Block()(x)
"""
OUTSIDE = """

def run(x):
    model = Block(7)
    variables = model.init(jax.random.key(0), x)
    return model.apply(variables, x)
"""


def given(program: str, *others: tuple[str, str]) -> dict[str, str]:
    """The files that change, where `m.Block` is constructed."""
    sources = [SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in (("m", program), *others)]
    project = Project(sources)
    return {name: file.text for name, file in with_factories_given(project, project.files, "m.Block").items()}


@pytest.mark.parametrize("case", LINEN.CASES, ids=lambda case: case[0])
def test_it_is_the_same_program(case: Any) -> None:
    name, arguments, shapes, keywords = case
    after = module("default_made_after", given(TEXT)["m"])
    assert "default_factory" not in given(TEXT)["m"].partition("class Block")[2]
    inputs = [jnp.asarray(np.random.RandomState(0).randn(*shape), jnp.float32) for shape in shapes]
    sides = []
    for side in (LINEN, after):
        model = getattr(side, name)(**arguments)
        variables = model.init(jax.random.key(0), *inputs, **keywords)
        sides.append((variables, model.apply(variables, *inputs, **keywords)))
    jax.tree.map(np.testing.assert_array_equal, *sides)


def test_another_file_says_it_in_its_own_names() -> None:
    """... and one that has no name for the class that the factory is keeps it as it was."""
    use = USED.replace("Block()", "m.Block(\n            out=2,\n        )")
    changed = given(HEAD, ("n", f"import m\nfrom flax import linen as nn\n{use}"))
    assert "m.Block(\n            out=2,\n        inner=m.Inner())(x)" in changed["n"]
    assert "inner: nn.Module = None" in changed["m"]
    with pytest.raises(NotInlined, match="another name for"):
        given(HEAD + USED, ("n", "from m import Block as B\n\n\ndef make():\n    return B()\n"))
    with pytest.raises(NotInlined, match="no name for"):
        given(HEAD, ("n", f"from m import Block\nfrom flax import linen as nn\n{USED}"))


def test_a_model_that_code_outside_of_modules_makes() -> None:
    before, after = both_sides("default_made_outside", HEAD + OUTSIDE)
    x = jnp.asarray(np.random.RandomState(0).randn(2, 5), jnp.float32)
    model = before.Block(7)
    variables = model.init(jax.random.key(0), x)
    native = after.Block(7, inner=after.Inner, in_features=5, rngs=nnx.Rngs(0))
    compat.from_linen(variables, native)
    np.testing.assert_array_equal(model.apply(variables, x), native(x))
    assert after.run(x).shape == (2, 7)


READS = "nn.Dense(self.out)(self.inner(x))"
REFUSED = {
    "its methods ask whether it has one": HEAD.replace(READS, f"{READS} if self.inner is not None else x") + USED,
    "its methods hand it on": HEAD.replace(READS, "nn.Sequential([self.inner, nn.Dense(self.out)])(x)") + USED,
    "a partial holds the class": HEAD + USED.replace("Block()(x)", "partial(Block, out=2)()(x)"),
    "a transform is given the class": HEAD + USED.replace("Block()", "nn.remat(Block)()"),
    "it is given keywords that nobody sees": HEAD + USED.replace("Block()", "Block(**self.options)"),
    "it is given arguments that nobody sees": HEAD + USED.replace("Block()", "Block(*self.options)"),
    "a class derives from it": HEAD + "\n\nclass Wide(Block):\n    out: int = 9\n" + USED,
    "its base has fields before its own": HEAD.replace(
        "class Block(nn.Module)", "class B(nn.Module):\n    n: int\n\n\nclass Block(B)"
    )
    + USED.replace("Block()", "Block(3, 4)"),
    "an annotation is no field": HEAD.replace("    out: int = 4", "    kind: 'ClassVar[str]' = 'b'\n    out: int = 4")
    + USED.replace("Block()", "Block(3)"),
    "a class method constructs it": HEAD + "\n    @classmethod\n    def make(cls):\n        return cls()\n" + USED,
    "a table holds the class": HEAD + "\n\nKINDS = {'block': Block}\n" + USED,
    "nothing constructs it": HEAD,
    "what it makes has another name there": HEAD
    + USED.replace("        return", "        Inner = nn.Dense\n        return"),
    "what it makes is bound anew": HEAD + "\n\nfor Inner in (Inner, Inner):\n    pass\n" + USED,
}


@pytest.mark.parametrize("what", REFUSED)
def test_no_other_class_has_such_a_form(what: str) -> None:
    program = REFUSED[what].replace("import jax\n", "import jax\nfrom functools import partial\n")
    with pytest.raises(NotInlined):
        given(program)
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", program)])
    (block,) = (c for c in result.classes if c.qualname == "m.Block")
    assert (block.outcome, block.code) == ("bridged", "NNX127")


WRAPPED = HEAD.replace("default_factory=Inner", "default_factory=lambda: Inner(2)")  # which has no such form
WITH_ITS_OWN = """

class M(nn.Module):
    def setup(self):
        self.first = nn.Dense(5)
        self.block = Block()

    def __call__(self, x):
        return self.block(self.first(x))
"""


def test_a_class_that_stays_linen_is_wrapped_where_that_is_the_same() -> None:
    """What the factory makes is below the block in `setup`, in Linen, too; in a compact method it is the caller's."""
    for use, outcome, code in ((WITH_ITS_OWN, "native", ""), (USED, "bridged", "NNX150")):
        result = migrate_project([SourceFile.parse(Path("m.py"), "m", WRAPPED + use)])
        (plan,) = (c for c in result.classes if c.qualname == "m.M")
        assert (plan.outcome, plan.code) == (outcome, code), plan.reason
    assert "a module of the class that constructs it" in plan.reason


BESIDE = """

class Beside(nn.Module):
    out: int = 2

    @nn.compact
    def __call__(self, x):
        while self.out < 0:
            x = nn.Dense(self.out)(x)
        return Block()(x)
"""


@pytest.mark.parametrize("inside", [False, True])
def test_a_class_whose_models_share_what_it_holds_is_not_wrapped(inside: bool) -> None:
    """Linen takes one copy of a default for all that are given none, also where they are parts of others."""
    shared = HEAD.replace("field(default_factory=Inner)", "Inner(2)")
    if inside:
        program = shared + BESIDE + WITH_ITS_OWN.replace("Block()", "Beside()")
    else:
        loop = "while self.out < 0:\n            x = nn.Dense(self.out)(x)\n        return "
        program = shared.replace("return nn.Dense(self.out)", f"{loop}nn.Dense(self.out)") + WITH_ITS_OWN
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", program)])
    (plan,) = (c for c in result.classes if c.qualname == "m.M")
    assert (plan.outcome, plan.code) == ("bridged", "NNX150")
    assert "that are given no `inner` share one" in plan.reason


def test_a_class_without_such_a_field_is_as_it_was() -> None:
    assert given(HEAD.replace("field(default_factory=Inner)", "None") + USED) == {}
    assert given(HEAD.replace("field(default_factory=Inner)", "field(default_factory=dict)") + USED) == {}
