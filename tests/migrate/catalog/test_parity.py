"""The generated linen_parity.py: only what is asked for, whole by itself, stable, kind to what a person changed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from nnx_migrate.migrate.nnx.generated import parity

ALL = sorted(parity.parts())
CATALOG = Path(parity.__file__).parent.parent.parent


@pytest.mark.parametrize("name", ALL)
def test_a_part_is_whole_by_itself(name: str) -> None:
    """Every name that the text uses is bound in it, every import is used, and it runs."""
    text = parity.render([name])
    scope: dict[str, object] = {}
    exec(compile(text, "linen_parity.py", "exec"), scope)
    if name in parity.parts()[name].definitions:
        assert scope[name].__doc__, name  # type: ignore[attr-defined]
    assert "linen" not in {n.partition(".")[2].partition(".")[0] for n in _imports(text)}
    checked = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F,E,I", "--line-length", "120", "-"],
        input=text,
        text=True,
        capture_output=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout


def _imports(text: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_text_is_formatted_and_typed_throughout() -> None:
    text = parity.render(ALL)
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "120", "-"],
        input=text,
        text=True,
        capture_output=True,
        check=True,
    )
    assert formatted.stdout == text
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            untyped = [a.arg for a in arguments if a.annotation is None and a.arg != "self"]
            assert not untyped and node.returns is not None, (node.name, untyped)


def test_no_two_parts_define_one_name() -> None:
    """They may stand in one file, where the later definition would take the earlier one's place."""
    defined: dict[str, str] = {}
    for part in parity.parts().values():
        for name in part.definitions:
            assert defined.setdefault(name, part.name) == part.name, name


def test_order_does_not_matter() -> None:
    assert parity.render(["keep", "GRUCell"]) == parity.render(["GRUCell", "keep", "keep"])


def test_only_what_is_asked_for() -> None:
    text = parity.render(["GRUCell"])
    names = {node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    assert names == {"Cell", "GRUCell"}


def test_a_second_run_changes_nothing() -> None:
    text = parity.render(["keep", "GRUCell"])
    assert parity.render(["keep"], text) == text
    assert parity.render([], text) == text


def test_a_later_run_adds() -> None:
    first = parity.render(["keep"])
    assert parity.render(["GRUCell"], first) == parity.render(["GRUCell", "keep"])


def test_what_a_person_changed_stays() -> None:
    first = parity.render(["keep"]).replace("def keep(", "# ours\ndef keep(")
    text = parity.render(["BatchApply"], first)
    assert "# ours\ndef keep(" in text
    assert parity.parts_in(text) == {"keep", "BatchApply"}
    exec(compile(text, "linen_parity.py", "exec"), {})
    assert parity.render(["BatchApply", "keep"], text) == text


def test_a_file_of_the_users_own_is_not_taken_over() -> None:
    with pytest.raises(parity.NotGenerated):
        parity.render(["keep"], "def keep():\n    pass\n")


def test_an_unknown_part_is_an_error() -> None:
    with pytest.raises(KeyError):
        parity.render(["nothing"])


def test_every_part_that_is_named_exists() -> None:
    named: set[str] = set()
    for file in (CATALOG / "catalog").glob("*.py"):
        text = file.read_text()
        named |= set(re.findall(r"linen_parity\.([A-Za-z_]+)", text)) | set(re.findall(r'\.need\("(\w+)"\)', text))
    assert named and named <= set(ALL) | {"part"}, named - set(ALL)


def test_parts_are_in_the_wheel() -> None:
    """A folder that is no package is packaged only where it is named."""
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    data = project["tool"]["setuptools"]["package-data"]
    assert "parity_parts/*.py.txt" in data["nnx_migrate.migrate.catalog"]


def test_names_of_axes_are_linens_of_dicts_and_frozen_dicts() -> None:
    """Equal by value and by kind: a tree map over them and another tree fails where one is frozen and the other is not."""
    from flax.core import freeze
    from flax.linen import partitioning

    scope: dict[str, Any] = {}
    exec(parity.render(["get_axis_names", "AxisMetadata"]), scope)
    names = {"dense": {"kernel_axes": ("embed", "mlp"), "bias_axes": ("mlp",)}, "scale_axes": (None,)}
    for kind in (dict, freeze):
        found = []
        linen = (partitioning.AxisMetadata, partitioning.get_axis_names)
        for box, read in (linen, (scope["AxisMetadata"], scope["get_axis_names"])):
            axes = {k: {n: box(v) for n, v in w.items()} if isinstance(w, dict) else box(w) for k, w in names.items()}
            found.append(read(kind(axes)))
        assert found[0] == found[1] and type(found[0]) is type(found[1])
