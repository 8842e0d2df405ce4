"""Modules that code outside of modules hands over become factories: both sides are run; what cannot be one is refused."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from flax.errors import ScopeParamShapeError
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module as _module
from .programs_of_templates import FOUND, HEAD, REFUSED, RUN, STAYS


def _migrated(text: str) -> RunResult:
    return migrate_project([SourceFile.parse(Path("handed.py"), "handed", HEAD + text)])


def _leaves(tree: Any) -> dict[str, Any]:
    """By their names; a program of params alone may have them as an nnx.State."""
    found = [(jax.tree_util.keystr(path), leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(tree)]
    return {path.replace("['params']", "").removesuffix(".value"): leaf for path, leaf in found}


@pytest.mark.parametrize("text", [*RUN.values(), *FOUND.values()], ids=[*RUN, *FOUND])
def test_the_same_keys_and_numbers(text: str) -> None:
    result = _migrated(text)
    native = {c.qualname for c in result.classes if c.outcome == "native"}
    assert not any(d.code == "NNX604" for d in result.files[0].diagnostics)
    assert ("handed.Deep" in native) == ("Deep(*" not in text) and "handed.Encoder" in native
    (deep,) = (c for c in result.classes if c.qualname == "handed.Deep")
    assert deep.outcome != "native" or (deep.added_arguments[-1].name == "call_example") == (text not in RUN.values())
    for created, content in result.created.items():
        _module(created.stem, content)
    linen, native = _module("handed_linen", HEAD + text), _module("handed_nnx", result.files[0].after or "")
    (params, output), (new, got) = linen.run(), native.run()
    before, after = _leaves(params), _leaves(new)
    assert before.keys() == after.keys()
    assert all(jnp.array_equal(value, after[key]) for key, value in before.items())
    assert all(jnp.array_equal(a, b) for a, b in zip(jax.tree.leaves(output), jax.tree.leaves(got)))


@pytest.mark.parametrize(
    "other",
    [
        "from handed import head\n",
        "from handed import *\nprint(head)\n",
        "import handed\nprint(handed.head)\n",
        "import handed as h\nprint(getattr(h, 'x'), h.head)\n",
    ],
)
def test_a_name_that_another_file_asks_for_is_no_template(other: str) -> None:
    text = f"{HEAD}head = Encoder(3)\nmodel = Deep(head)\n"
    files = [SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in (("handed", text), ("other", other))]
    plans = {c.qualname: c for c in migrate_project(files).classes}
    assert plans["handed.Deep"].added_arguments[-1].name == "call_example"
    files[1] = SourceFile.parse(Path("other.py"), "other", "from handed import model\nhead = 3\nprint(model, head)\n")
    plan = {c.qualname: c for c in migrate_project(files).classes}["handed.Deep"]
    assert plan.outcome == "native" and plan.added_arguments[-1].name != "call_example"


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_template_is_refused_or_made_when_it_is_called(name: str) -> None:
    result = _migrated(REFUSED[name])
    plan = {c.qualname: c for c in result.classes}["handed.Deep"]
    assert (plan.outcome == "native") == (name not in STAYS)
    if name in STAYS:
        assert plan.code in ("NNX127", "NNX163", "NNX203"), (plan.outcome, plan.code, plan.reason)
        return
    assert [a.name for a in plan.added_arguments] == ["in_features", "call_example"]
    for created, content in result.created.items():
        _module(created.stem, content)
    texts = HEAD + REFUSED[name], result.files[0].after or ""
    linen, native = (_models(_module(f"handed_{side}", text)) for side, text in zip(("linen", "nnx"), texts))
    assert len(linen) == len(native)
    for one, other in zip(linen, native):
        x = jnp.sin(jnp.arange(12.0)).reshape(2, 6)
        try:
            variables = one.init(jax.random.key(0), x)
        except (TypeError, ValueError, ScopeParamShapeError):  # the one list, generator or width that Linen refuses
            with pytest.raises((TypeError, ValueError)):
                other.apply(other.init(jax.random.key(0), x), x)
            continue
        assert jax.tree.map(jnp.shape, other.init(jax.random.key(0), x)) == jax.tree.map(jnp.shape, variables)
        assert jnp.array_equal(other.apply(variables, x), one.apply(variables, x))


def _models(module: Any) -> list[Any]:
    """The models that a program makes, as far as it needs nothing for that."""
    found: list[Any] = []

    def walk(value: Any) -> None:
        value = list(value.values()) if isinstance(value, dict) else value
        for item in value if isinstance(value, (list, tuple)) else ():
            walk(item)
        if hasattr(value, "init") and hasattr(value, "apply"):
            found.append(value)
        elif type(value).__name__ in ("Agent", "Other"):
            walk(value.model)

    makers = [module.run] if hasattr(module, "run") else []
    for maker in makers:
        wanted = {p.kind for p in inspect.signature(maker).parameters.values()}
        if not wanted:
            walk(maker())
    walk([getattr(module, name, None) for name in ("model", "models")])
    return found
