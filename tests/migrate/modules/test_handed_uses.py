"""What classes do with the modules that code outside of modules hands to them: both sides run on the same variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module as _module
from .programs_of_handed_uses import CLASSES, HEAD, MODELS

NAMES = (
    *("flow", "short_flow", "loops", "loops_of_others", "added", "helped", "shared", "order", "stack", "named", "wide"),
    "loaded",
    *("wide_of_linen", "middle", "lower", "lowest", "base", "wrapped"),
)


def _migrated(text: str) -> RunResult:
    return migrate_project([SourceFile.parse(Path("uses.py"), "uses", text)])


def _shapes(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: (jnp.shape(leaf), leaf.dtype), tree)


@pytest.fixture(scope="module")
def sides() -> tuple[dict[str, Any], dict[str, Any]]:
    text = HEAD + CLASSES + MODELS
    result = _migrated(text)
    assert {c.qualname for c in result.classes if c.outcome != "native"} == {"uses.Odd"}
    for path, created in result.created.items():
        _module(path.stem, created)
    after = result.files[0].after
    assert after is not None
    return vars(_module("uses_linen_side", text)), vars(_module("uses", after))


@pytest.mark.parametrize("name", NAMES)
def test_classes_that_do_more_with_what_they_are_handed_compute_the_same(name: str, sides: Any) -> None:
    (linen, args, keywords, calls), (native, _, _, others) = (side[name]() for side in sides)
    variables = linen.init(jax.random.key(0), *args, **keywords)
    assert _shapes(native.init(jax.random.key(0), *args, **keywords)) == _shapes(variables)
    for (given, named), (_, other) in zip(calls, others, strict=True):
        expected, found = linen.apply(variables, *given, **named), native.apply(variables, *given, **other)
        jax.tree.map(np.testing.assert_array_equal, found, expected)


def test_methods_read_what_a_model_was_handed(sides: Any) -> None:
    described = [side["stack"]()[0].__dict_repr__() for side in sides]
    assert described[0] == described[1] == {"widths": [3, 5, 5], "keys": {"a": 1}}


def test_a_base_applies_a_class_that_is_handed_a_module(sides: Any) -> None:
    trainers = [side["trainer"]() for side in sides]
    params = trainers[0].model.state(jax.random.key(0), (5,))
    assert _shapes(trainers[1].model.state(jax.random.key(0), (5,))) == _shapes(params)
    values = [trainer.value(params, jnp.arange(5.0)) for trainer in trainers]
    np.testing.assert_array_equal(*values)


def _outcome(text: str, name: str) -> Any:
    (found,) = [c for c in _migrated(HEAD + text).classes if c.qualname == f"uses.{name}"]
    return found


UNUSED = """

class Unused(nn.Module):
    heads: Dict[str, nn.Module]
    trunk: nn.Module = None
    def __call__(self, x, train=True):
        out = {}
        for name, head in self.heads.items():
            out[name] = head(x)
        return out
"""


def test_a_class_that_nothing_here_gives_modules_takes_them_from_elsewhere() -> None:
    assert _outcome(UNUSED, "Unused").outcome == "native"
    model = f"{UNUSED}\n\nclass Around(nn.Module):\n    def setup(self):\n        self.a = Unused(x for x in ())\n"
    assert _outcome(model, "Unused").outcome != "native"


MADE = """

def make(kind):
    return Several([MLP((3,)), Coder()])


class Several(nn.Module):
    parts: Sequence[nn.Module]
    single: nn.Module = None
"""
REFUSED = {
    "a method of one where there are only stand-ins": (
        "    def __call__(self, x):\n        for part in self.parts:\n"
        "            x = part.decode(part(x))\n        return x\n"
    ),
    "an attribute that is no field": (
        "    def __call__(self, x):\n        for part in self.parts:\n"
        "            x = part(x) + part.up(x)\n        return x\n"
    ),
    "they are returned": "    def __call__(self, x):\n        part = self.parts[0]\n        return part(x), part\n",
    "a function of another package": ("    def __call__(self, x):\n        return jax.vmap(self.parts[0])(x)\n"),
    "its type": (
        "    def __call__(self, x):\n        part = self.parts[0]\n        return part(x) if isinstance(part, MLP) else x\n"
    ),
    "the name is another thing, too": (
        "    def __call__(self, x):\n        for part in self.parts:\n            part = part(x)\n        return part\n"
    ),
    "a helper hands it on": (
        "    def __call__(self, x):\n        return helped(self.parts, x)\n\n\n"
        "def helped(parts, x):\n    return jax.vmap(parts[0])(x)\n"
    ),
    "other flags in another loop": (
        "    def __call__(self, x):\n        for part in self.parts:\n            x = part(x, train=True)\n"
        "        for part in self.parts:\n            x = part(x, train=False)\n        return x\n"
    ),
    "variables of one": (
        "    def __call__(self, x):\n        return self.parts[0](x)\n\n"
        "    def held(self):\n        return self.parts[0].variables\n"
    ),
    "a name of what stands for it": (
        "    def __call__(self, x):\n        return self.parts[0](x) if self.parts[0].train else x\n\n\n"
        "class Flagged(nn.Module):\n    train: bool = False\n    def __call__(self, x):\n        return x\n"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_followed_stays_linen(name: str) -> None:
    found = _outcome(MADE + REFUSED[name], "Several")
    assert found.outcome != "native", found


COUNTING = """

class Counting(nn.Module):
    @nn.compact
    def __call__(self, x):
        while False:
            pass
        total = self.variable("counts", "total", jnp.zeros, x.shape[:-1])
        n = 0
        while n < 2:
            x = nn.Dense(x.shape[-1] + n)(x)
            n += 1
        total.value += 1
        return x


class All(nn.Module):
    parts: Sequence[nn.Module]
    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x


def make(n, kind):
    made = Counting if kind else MLP
    parts = [made() for _ in range(n)]
    return All(parts)
"""


def test_what_is_handed_linen_modules_that_cannot_be_wrapped_stays_linen() -> None:
    found = _outcome(COUNTING, "All")
    assert found.outcome != "native"
    assert "it is handed Counting" in found.reason, found.reason


SOWING = """

class Sowing(nn.Module):
    @nn.compact
    def __call__(self, x):
        self.sow("losses", "size", jnp.mean(x))
        return nn.Dense(3)(x)


class All(nn.Module):
    parts: Sequence[nn.Module]
    def __call__(self, x):
        for part in self.parts:
            x = part(x) * 2
        return x


def make(n):
    parts = []
    for _ in range(n):
        parts += [MLP((2,)), Sowing()]
    return All(parts)
"""


def test_what_is_handed_modules_that_init_calls_stays_linen() -> None:
    found = _outcome(SOWING, "All")
    assert found.outcome != "native"
    assert "it is handed Sowing" in found.reason, found.reason
    chain = SOWING.replace("x = part(x) * 2", "x = part(x)")
    assert "it is handed Sowing" in _outcome(chain, "All").reason
    assert _outcome(SOWING.replace('"losses"', '"intermediates"'), "All").outcome == "native"
