"""`Batched = nn.vmap(Model, ...)` of one file, used by another: what is not there any more is not imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

PARTS = """from flax import linen as nn


class Basic(nn.Module):
    n: int

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.n)(x)


Batched = nn.vmap(Basic, in_axes=0, out_axes=0, variable_axes={"params": None}, split_rngs={"params": False})
"""
USER = """from flax import linen as nn
from alias_parts import Batched, Basic


class User(nn.Module):
    def setup(self):
        self.parts = Batched(n=3)
        self.out = Basic(2)

    def __call__(self, x):
        return self.out(self.parts(x))
"""
ODD = USER.replace("return self.out(", "return self.scope.root.rngs and self.out(")


def migrated(**files: str) -> RunResult:
    sources = []
    for name, text in files.items():
        package = name.endswith("__init__")
        path = Path(f"{name.replace('__init__', '/__init__')}.py")
        sources.append(SourceFile.parse(path, name.removesuffix("__init__"), text, is_package=package))
    return migrate_project(sources)


def after(result: RunResult, name: str) -> str:
    found = next(f.after for f in result.files if f.path.stem == name)
    assert found is not None
    return found


def both(user: str) -> tuple[Any, Any, RunResult]:
    result = migrated(alias_parts=PARTS, alias_user=user)
    module("alias_parts", PARTS)
    before = module("alias_user_before", user)
    for path, content in result.created.items():
        module(path.stem, content)
    module("alias_parts", after(result, "alias_parts"))
    return before, module("alias_user_after", after(result, "alias_user")), result


def test_its_import_goes_with_it() -> None:
    before, now, result = both(USER)
    assert "Batched" not in after(result, "alias_parts")
    assert "import Basic" in after(result, "alias_user") or "Batched" not in after(result, "alias_user")
    x = jnp.sin(jnp.arange(8.0)).reshape(2, 4)
    variables = before.User().init(jax.random.key(0), x)
    made = now.User(in_features=4, rngs=nnx.Rngs(0))
    compat.from_linen(variables, made)
    np.testing.assert_allclose(before.User().apply(variables, x), made(x), rtol=1e-6)


def test_also_where_a_class_that_stays_linen_uses_a_copy() -> None:
    _, now, result = both(ODD)
    assert {c.qualname: str(c.outcome) for c in result.classes}["alias_user.User"] == "bridged"
    assert "alias_parts_linen" in after(result, "alias_user")
    assert issubclass(now.User, __import__("flax").linen.Module)


@pytest.mark.parametrize("files", [
    {"alias_parts": PARTS, "alias_user": "from alias_parts import Batched\n"},
    {"pack__init__": "from alias_parts import Batched\n", "alias_parts": PARTS, "alias_user": USER},
])  # fmt: skip
def test_what_is_handed_on_by_an_import_stays(files: dict[str, str]) -> None:
    result = migrated(**files)
    assert "class Batched(Basic)" in after(result, "alias_parts") or "Batched = " in after(result, "alias_parts")
