"""Names of a file that several of its statements bind, or that code changes: what they mean depends on what ran."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import both_sides, module

SIZES = """from flax import linen as nn
from jax import numpy as jnp

BIG = {big}
WIDTH = 4
WIDTH *= 2
SIZES = [4, 5]
SIZES.append(6)
if BIG:
    DEEP = 3
    LAST = (2, 3)
else:
    DEEP = 2
    LAST = (5,)
try:
    from nowhere import KERNEL
except ImportError:
    KERNEL = 3
for MANY in (1, 2, 7):
    pass
if BIG:

    def widened(x):
        return jnp.concatenate([x, x], -1)

else:

    def widened(x):
        return x


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(WIDTH)(x)
        x = nn.Dense(x.shape[-1] + 1)(x)
        x = nn.Dense(DEEP)(x)
        x = nn.Dense(2 * x.shape[-1])(x)
        for size in SIZES:
            x = nn.Dense(size)(x)
        for size in LAST:
            x = nn.Dense(size)(x)
        x = nn.Dense(len(LAST))(nn.Dense(KERNEL)(x))
        return nn.Dense(MANY)(x)


class Wide(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(widened(x))
"""
MAKERS = """import functools

from flax import linen as nn
from flax.linen import Dense

BIG = True
if BIG:
    Norm = nn.BatchNorm
else:
    Norm = nn.LayerNorm
Kind = nn.Dense
Kind = nn.Embed
Scale = nn.LayerNorm
if not BIG:
    from flax.linen import RMSNorm as Scale
if not BIG:
    Dense = nn.DenseGeneral
Conv = functools.partial(nn.Conv, kernel_size=(3,))


def changed():
    global Conv
    Conv = functools.partial(nn.Conv, kernel_size=(5,))


if BIG:

    def normed(x):
        return nn.LayerNorm()(x)

else:

    def normed(x):
        return nn.Dense(3)(x)


class Normed(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)({made})
"""


@pytest.mark.parametrize("big", [False, True])
def test_sizes_are_said_by_the_name(big: bool) -> None:
    before, after = both_sides(f"bound_again_{big}".lower(), SIZES.format(big=big))
    x = jax.random.normal(jax.random.key(0), (2, 4))
    variables = before.Net().init(jax.random.key(1), x)
    assert compat.check_equivalence(before.Net(), variables, after.Net(in_features=4, rngs=nnx.Rngs(0)), x)
    variables = before.Wide().init(jax.random.key(1), x)
    wide = after.Wide(widened_features=8 if big else 4, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(before.Wide(), variables, wide, x)


@pytest.mark.parametrize("made", ["Norm()(x)", "Kind(5, 3)(x)", "normed(x)", "Scale()(x)", "Dense(3)(x)", "Conv(3)(x)"])
def test_what_makes_modules_is_not_guessed(made: str) -> None:
    text = MAKERS.replace("{made}", made)
    (plan,) = migrate_project([SourceFile.parse(Path("normed.py"), "normed", text)]).classes
    assert (plan.outcome, plan.code) == ("bridged", "NNX138")
    assert f"`{made.partition('(')[0]}` is given what makes modules" in plan.reason


OPTIONAL = """try:
    from flax import linen as nn
    from flax.linen import RMSNorm
    from flax.training import train_state
except ImportError:
    nn = None
    train_state = None

    class RMSNorm:
        pass


try:
    import flax.linen as layers
except ImportError:
    from flax import nn as layers


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return layers.Dense(3)(RMSNorm()(x))
"""
EITHER = """from flax import linen as nn

BIG = False
if nn is not None:

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(3)(x)

else:

    class Net:
        pass
"""
KINDS = """from flax import linen as nn


class Wide(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(7)(x)


class Narrow(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(x)


BIG = True
if BIG:
    Part = Wide
else:
    Part = Narrow


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(Part()(x))
"""


def test_what_stands_in_for_flax_where_it_is_missing() -> None:
    before, after = both_sides("optional_flax", OPTIONAL)
    x = jax.random.normal(jax.random.key(0), (2, 4))
    variables = before.Net().init(jax.random.key(1), x)
    assert compat.check_equivalence(before.Net(), variables, after.Net(in_features=4, rngs=nnx.Rngs(0)), x)


def test_a_class_of_one_branch_is_reported() -> None:
    (plan,) = migrate_project([SourceFile.parse(Path("m.py"), "m", EITHER)]).classes
    assert (plan.qualname, plan.outcome, plan.code) == ("m.Net", "bridged", "NNX175")


def test_all_kinds_of_a_name_stay_with_the_class_that_uses_it() -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", KINDS)])
    codes = {plan.qualname: plan.code for plan in result.classes}
    assert codes == {"m.Net": "NNX138", "m.Wide": "NNX177", "m.Narrow": "NNX177"}
    assert "class Wide(nn.Module)" in (result.files[0].after or "")


INSIDE = """from flax import linen as nn
from flax.linen import Dense, relu

WIDTH = 3


def widths(x):
    from other_layers import Dense, WIDTH, relu

    return relu(x), WIDTH, Dense


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2 * WIDTH)(relu(Dense(WIDTH)(x)))
"""


def test_what_a_function_imports_is_its_own() -> None:
    before, after = both_sides("imports_inside", INSIDE)
    x = jax.random.normal(jax.random.key(0), (2, 4))
    variables = before.Net().init(jax.random.key(1), x)
    assert compat.check_equivalence(before.Net(), variables, after.Net(in_features=4, rngs=nnx.Rngs(0)), x)


EITHER_FILE = """from flax import linen as nn

BIG = False
if BIG:
    from wide_parts import WIDTH, Part, scaled
else:
    from narrow_parts import WIDTH, Part, scaled


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2 * x.shape[-1])(scaled(nn.Dense(WIDTH)(x)))


class Outer(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(Part()(x))
"""
PARTS = """from flax import linen as nn

WIDTH = {width}


def scaled(x):
    return {scale} * x


class Part(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(WIDTH)(x)
"""


def test_what_a_condition_imports_from_one_file_or_another() -> None:
    wide, narrow = PARTS.format(width=7, scale=2), PARTS.format(width=2, scale=3)
    files = {"wide_parts": wide, "narrow_parts": narrow, "either_file": EITHER_FILE}
    result = migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in files.items()])
    outcomes = {plan.qualname: (str(plan.outcome), plan.code) for plan in result.classes}
    assert outcomes == {
        "either_file.Net": ("native", ""),
        "either_file.Outer": ("bridged", "NNX138"),
        "narrow_parts.Part": ("bridged", "NNX177"),
        "wide_parts.Part": ("bridged", "NNX177"),
    }
    after = {Path(file.path).stem: file.after or files[Path(file.path).stem] for file in result.files}
    for big in (False, True):
        sides = []
        for side, texts in (("before", files), ("after", after)):
            for name in ("wide_parts", "narrow_parts"):
                module(name, texts[name])
            chosen = texts["either_file"].replace("BIG = False", f"BIG = {big}")
            sides.append(module(f"either_file_{side}_{big}".lower(), chosen))
        x = jax.random.normal(jax.random.key(0), (2, 4))
        variables = sides[0].Net().init(jax.random.key(1), x)
        native = sides[1].Net(in_features=4, scaled_features=7 if big else 2, rngs=nnx.Rngs(0))
        assert compat.check_equivalence(sides[0].Net(), variables, native, x)
        outer = sides[0].Outer().init(jax.random.key(1), x)
        assert (sides[0].Outer().apply(outer, x) == sides[1].Outer().apply(outer, x)).all()


MISSING = """from flax import linen as nn

try:
    from {module} import attend
except ImportError:
    attend = None


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        if attend is None:
            x = nn.Dense(2)(nn.Dense(3)(x))
        else:
            x = attend(x)
        return x
"""


@pytest.mark.parametrize("name", ["nowhere", "attending"])
def test_what_may_be_missing_is_asked_for(name: str) -> None:
    """Both are followed: whether the import succeeds is known only where the program runs."""
    module("attending", "def attend(x):\n    return 2 * x\n")
    text = MISSING.format(module=name)
    before, after = both_sides(f"missing_{name}", text)
    x = jax.random.normal(jax.random.key(0), (2, 4))
    variables = before.Net().init(jax.random.key(1), x)
    assert bool(variables) is (name == "nowhere")
    assert compat.check_equivalence(before.Net(), variables, after.Net(in_features=4, rngs=nnx.Rngs(0)), x)


HELPER = """BIG = False
if BIG:
    from wide_parts import Part
else:
    from narrow_parts import Part


def make():
    return Part()
"""
USER = """from flax import linen as nn
from helper_of_either import make


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        if self.is_mutable_collection("other"):
            x = x + 1
        return nn.Dense(3)(make()(x))
"""


def test_no_linen_copy_of_one_of_two_is_kept_for_a_helper() -> None:
    parts = {"wide_parts": PARTS.format(width=7, scale=2), "narrow_parts": PARTS.format(width=2, scale=3)}
    files = {**parts, "helper_of_either": HELPER, "user": USER}
    result = migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in files.items()])
    assert {plan.qualname: plan.code for plan in result.classes} == {
        "narrow_parts.Part": "NNX177",
        "user.Net": "NNX146",
        "wide_parts.Part": "NNX177",
    }
    assert not any(path.stem.endswith("_linen") for path in result.created)
