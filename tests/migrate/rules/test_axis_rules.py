"""Logical rules: our resolution and that of the parity module against Linen's, and where a project states its rules."""

from __future__ import annotations

import ast
import pathlib
import types

import flax.linen as nn
import pytest
from flax.core import spmd
from jax.sharding import PartitionSpec
from nnx_migrate.migrate.linen.project import axis_rules
from nnx_migrate.migrate.linen.project.index import Project
from nnx_migrate.migrate.nnx.generated import parity
from nnx_migrate.migrate.source import SourceFile

RULE_SETS: list[axis_rules.Rules] = [
    (("batch", "data"), ("hidden", "model")),
    (("batch", "data"), ("batch", "model"), ("hidden", "data")),  # a duplicate as a second choice
    (("hidden", "model"), ("heads", "model"), ("embed", None)),  # one axis wanted twice
    (("embed", None), ("embed", "model")),  # None first
    (("batch", ("data", "model")), ("hidden", "model")),  # a tuple that holds another's axis
    (("hidden", "model"), ("batch", ("data", "model"))),
    (("a", "x"), ("b", "x"), ("b", "y"), ("a", "y"), ("c", ("x", "y"))),
    ((("mlp"), "model"),),
    (),
]
NAMES: list[axis_rules.Names] = [
    ("batch", "hidden"),
    ("hidden", "batch"),
    ("embed", "heads", "hidden"),
    ("unknown", "hidden"),
    (None, "batch", None),
    ("a", "b", "c"),
    ("c", "b", "a"),
    (),
]


@pytest.fixture(scope="module")
def helpers() -> types.ModuleType:
    module = types.ModuleType("linen_parity")
    exec(parity.render(["logical_to_mesh_axes", "logical_to_mesh"]), module.__dict__)
    return module


@pytest.mark.parametrize("rules", RULE_SETS, ids=str)
@pytest.mark.parametrize("names", NAMES, ids=str)
def test_resolution_is_linens(names: axis_rules.Names, rules: axis_rules.Rules, helpers: types.ModuleType) -> None:
    want = nn.logical_to_mesh_axes(names, rules)
    assert PartitionSpec(*axis_rules.resolve(names, rules)) == want
    assert helpers.logical_to_mesh_axes(names, rules) == want
    with nn.logical_axis_rules(rules):
        assert helpers.logical_to_mesh_axes(names) == nn.logical_to_mesh_axes(names)
    assert helpers.logical_to_mesh({"w": want, "v": PartitionSpec(*names)}, rules) == nn.logical_to_mesh(
        {"w": want, "v": PartitionSpec(*names)}, rules
    )


@pytest.mark.parametrize("rules", RULE_SETS, ids=str)
@pytest.mark.parametrize("names", NAMES, ids=str)
def test_agreement_with_nnx_is_judged_by_nnx_itself(names: axis_rules.Names, rules: axis_rules.Rules) -> None:
    theirs = spmd.from_sharding_rules(names, rules)
    assert tuple(theirs) == axis_rules.resolve_nnx(names, rules)
    assert axis_rules.agree(names, rules) == (tuple(theirs) == tuple(nn.logical_to_mesh_axes(names, rules)))


def test_a_name_on_two_dimensions_is_refused_as_linen_does(helpers: types.ModuleType) -> None:
    for call in (axis_rules.resolve, helpers.logical_to_mesh_axes, nn.logical_to_mesh_axes):
        with pytest.raises(ValueError, match="more than on"):
            call(("a", "a"), (("a", "x"),))


def project(**files: str) -> Project:
    return Project(SourceFile.parse(pathlib.Path(f"{name}.py"), name, text) for name, text in files.items())


def test_rules_are_found_across_files() -> None:
    found = project(
        config="BASE = [('embed', None)]\nRULES = BASE + [('mlp', 'model')]\n",
        train="import flax.linen as nn\nfrom config import RULES\nwith nn.logical_axis_rules(RULES):\n    pass\n",
        model="NAMES = ('embed', 'mlp')\n",
    )
    assert axis_rules.find_rules(found).rules == (("embed", None), ("mlp", "model"))
    source = found.files["model"]
    names = source.tree.body[0].value  # type: ignore[attr-defined]
    assert axis_rules.resolve_names(found, names, source) == (None, "model")
    assert axis_rules.resolve_names(found, ast.parse("('mlp', None)", mode="eval").body) == ("model", None)


@pytest.mark.parametrize(
    "text, reason",
    [
        ("import flax.linen as nn\nwith nn.logical_axis_rules(load()):\n    pass\n", "not a literal"),
        (
            "import flax.linen as nn\nwith nn.logical_axis_rules((('a', 'x'),)):\n    pass\n"
            "nn.set_logical_axis_rules((('a', 'y'),))\n",
            "2 different sets",
        ),
        ("x = 1\n", "states no rules"),
        ("RULES = (('model', 'data'), ('mlp', 'model'))\n", "both a logical name and a mesh axis"),
        ("import flax.linen as nn\nRULES = (('a', 'x'),)\ns = nn.get_partition_spec(v)\n", "reads the logical names"),
        (
            "import flax.linen as nn\nRULES = (('layer', 'x'),)\nm = {nn.PARTITION_NAME: 'layer'}\n",
            "takes a mesh axis",
        ),
        (
            "import flax.linen as nn\nRULES = (('a', 'x'),)\ndef f(name):\n  return {nn.PARTITION_NAME: name}\n",
            "the name of a stacked axis is not a literal",
        ),
    ],
)
def test_rules_that_are_not_one_literal_are_not_taken(text: str, reason: str) -> None:
    found = axis_rules.find_rules(project(main=text))
    assert found.rules is None and reason in found.reason
