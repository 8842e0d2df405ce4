"""Every form of module is migrated, both sides are run on the same weights, and the outputs are bitwise equal."""

from __future__ import annotations

import contextlib
import functools
import re
import types
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from flax.core import meta
from flax.traverse_util import flatten_dict
from nnx_migrate import compat
from nnx_migrate.migrate.nnx.generated import parity
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

from .conftest import drawn_by_shape
from .loading import module as _module

HERE = Path(__file__).parent
PATHS: dict[str, Any] = {}  # of `linen_parity.Functional`
exec(parity.render({"linen_paths"}, None), PATHS)
# Where a call changes variables, Linen's init has changed them once: NNX118.
UPDATES = re.compile(r"\.value\b[^\n=]*[-+*/|&@]?=(?!=)|put_variable")
FILES = sorted(path.stem for path in HERE.glob("forms_*.py") if "\nCASES" in path.read_text())


def _linen(stem: str) -> types.ModuleType:
    return _module(f"{stem}_linen", (HERE / f"{stem}.py").read_text())


LINEN = {stem: _linen(stem) for stem in FILES}
AT_ONCE = 1  # cases of a file that `make test` has; `make slow` has the others
CASES = [
    pytest.param(stem, position, marks=() if position < AT_ONCE else pytest.mark.slow)
    for stem in FILES
    for position in range(len(LINEN[stem].CASES))
]


@functools.cache
def sides(stem: str) -> tuple[types.ModuleType, types.ModuleType, RunResult]:
    """A file of forms as it is, as it becomes, and what was decided; migrated by the first test that needs it."""
    path = HERE / f"{stem}.py"
    result = migrate_project([SourceFile.parse(path, stem, path.read_text())])
    for created, content in result.created.items():
        _module(created.stem, content)
    after = result.files[0].after
    assert after is not None
    return LINEN[stem], _module(f"{stem}_nnx", after), result


@pytest.mark.one_in(2)
@pytest.mark.parametrize("stem,position", CASES, ids=lambda v: str(v))
def test_both_sides_are_bitwise_equal(stem: str, position: int) -> None:
    linen, native, result = sides(stem)
    text = (HERE / f"{stem}.py").read_text()
    name, arguments, shapes, keywords = linen.CASES[position]
    plan = {c.qualname.rpartition(".")[2]: c for c in result.classes}[name]
    assert plan.outcome == "native", plan.reason
    random = np.random.RandomState(0)
    inputs: list[Any] = [
        jnp.asarray(random.randn(*s), jnp.float32) if isinstance(s, tuple) else jnp.asarray(s) for s in shapes
    ]
    module = getattr(linen, name)(**arguments)
    keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
    own_keys = re.search(r"PRNGKey\(|random\.key\(", text) is not None  # draws that are no initializer's
    draws = contextlib.nullcontext if own_keys else drawn_by_shape
    with draws():
        boxed = module.init(keys, *inputs, **keywords)
    started = meta.unbox(boxed)
    variables = jax.tree.map(functools.partial(_shaken, random), started)
    call = {**dict(zip(plan.call_arguments, inputs)), **keywords}
    added = {a.name: eval(a.origin, {}, call) for a in plan.added_arguments}
    # Under a mesh every initializer is compiled anew, so only the classes whose variables name axes get one.
    leaves = jax.tree.leaves(boxed, is_leaf=lambda v: isinstance(v, meta.AxisMetadata))
    mesh = jax.make_mesh((1, 1), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    annotated = any(isinstance(v, meta.AxisMetadata) for v in leaves)
    with jax.set_mesh(mesh) if annotated else contextlib.nullcontext():
        # A class of the file among the arguments is the same class of the other side.
        own = {k: v.__name__ for k, v in arguments.items() if isinstance(v, type) and v.__module__ == linen.__name__}
        there = {k: getattr(native, own[k]) if k in own else v for k, v in arguments.items()}
        with draws():
            made = getattr(native, name)(**there, **added, rngs=nnx.Rngs(0))
    mutable = [c for c in variables if c not in ("params", "params_axes", "intermediates")]
    numbered = name in getattr(linen, "NUMBERED", ())  # Linen's names are numbers alone, which the way back does not know

    def run() -> tuple[Any, Any]:
        expected = module.apply(variables, *inputs, **keywords, mutable=mutable)
        if position == 0:
            made(*inputs, **keywords)  # of which nothing may be kept but what Linen keeps in variables
        compat.from_linen(variables, made)
        # As nnx.jit and nnx.grad do: the copy may not go on reading the variables of the model that it was made of.
        model = nnx.clone(made)
        compat.from_linen(jax.tree.map(_emptied, variables), made)
        got = model(*inputs, **keywords)
        # It has forgotten in which order its attributes came, too.
        left = compat.to_linen(model)
        wanted = (expected[0], {} if numbered else expected[1] | {"params": variables.get("params", {})})
        return wanted, (got, {c: left.get(c, {}) for c in wanted[1]})

    if not numbered:  # and so has the pure form of the class
        paths = PATHS["linen_paths"](made)
        flat = nnx.to_flat_state(nnx.state(made, nnx.Param))
        named = {(*PATHS["linen_path"](made, paths, path), *key) for path, held in flat for key in _keys_within(held)}
        assert named == set(flatten_dict(variables.get("params", {})))
        apart = started.keys() - {"params"} if UPDATES.search(text) else {"params_axes", "intermediates"}
        alike = [] if own_keys else started.keys() - apart
        fresh = compat.to_linen(made)
        _equal({c: started[c] for c in alike}, {c: fresh.get(c, {}) for c in alike}, rtol=1e-5, atol=1e-6)
    wanted, reached = run()
    assert jax.tree.structure(wanted) == jax.tree.structure(reached)
    try:
        _equal(wanted, reached)
    except AssertionError:
        # What a transform compiles as a whole is rounded as the processor likes; operation by operation it is equal.
        _equal(wanted, reached, rtol=1e-5, atol=1e-6)
        with jax.disable_jit():
            _equal(*run())


def _keys_within(variable: Any) -> list[tuple[str, ...]]:
    """The keys of the arrays that one variable holds: of a tree, or none."""
    value = variable.get_value()
    return list(flatten_dict(value)) if isinstance(value, dict) else [()]


def _shaken(random: np.random.RandomState, value: Any) -> Any:
    """Another value, by which layers differ that start alike."""
    floating = hasattr(value, "dtype") and jnp.issubdtype(value.dtype, jnp.floating)
    return value + jnp.asarray(random.uniform(0.01, 0.5, value.shape), value.dtype) if floating else value


def _emptied(value: Any) -> Any:
    is_key = isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
    return value if is_key else jnp.zeros_like(value)


def _equal(wanted: Any, reached: Any, **tolerance: float) -> None:
    for a, b in zip(jax.tree.leaves(wanted), jax.tree.leaves(reached), strict=True):
        x, y = np.asarray(a), np.asarray(b)
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, **{"rtol": 0, "atol": 0, **tolerance})


STARTS = [
    (s, p) for s in FILES for p in range(len(LINEN[s].CASES)) if LINEN[s].CASES[p][0] in getattr(LINEN[s], "SAME_START", ())
]


@pytest.mark.parametrize("stem,position", STARTS, ids=lambda v: str(v))
def test_both_sides_start_from_the_same_values(stem: str, position: int) -> None:
    linen, native, result = sides(stem)
    name, arguments, shapes, keywords = linen.CASES[position]
    plan = {c.qualname.rpartition(".")[2]: c for c in result.classes}[name]
    inputs = [jnp.ones(s, jnp.float32) for s in shapes]
    expected = getattr(linen, name)(**arguments).init(jax.random.key(0), *inputs, **keywords)
    call = {**dict(zip(plan.call_arguments, inputs)), **keywords}
    added = {a.name: eval(a.origin, {}, call) for a in plan.added_arguments}
    got = compat.to_linen(getattr(native, name)(**arguments, **added, rngs=nnx.Rngs(0)))
    assert jax.tree.structure(meta.unbox(expected)) == jax.tree.structure(got)
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(got)):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("stem", FILES)
def test_a_second_run_changes_nothing(stem: str) -> None:
    result = sides(stem)[2]
    text = result.files[0].after
    assert text is not None
    again = migrate_project([SourceFile.parse(Path(f"{stem}.py"), stem, text)])
    assert again.files[0].after == text
