"""Modules that change under scan and vmap: several calls, eager and compiled, leave the same collections; random numbers
are as independent of each other as in Linen."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_forms import sides

STEM = "forms_lifted_state"
LINEN, NATIVE, RESULT = sides(STEM)
KEYS = {"dropout": jax.random.key(1), "noise": jax.random.key(2)}
PLANS = {c.qualname.rpartition(".")[2]: c for c in RESULT.classes}


def _sides(name: str, shapes: list[tuple[int, ...]], keywords: dict[str, Any]) -> tuple[Any, Any, Any, list[jax.Array]]:
    random = np.random.RandomState(0)
    inputs = [jnp.asarray(random.randn(*s), jnp.float32) for s in shapes]
    plan = PLANS[name]
    assert plan.outcome == "native", plan.reason
    module = getattr(LINEN, name)()
    variables = module.init({"params": jax.random.key(0), **KEYS}, *inputs, **keywords)
    call = {**dict(zip(plan.call_arguments, inputs)), **keywords}
    added = {a.name: eval(a.origin, {}, call) for a in plan.added_arguments}
    model = getattr(NATIVE, name)(**added, rngs=nnx.Rngs(params=0, dropout=1, noise=2))
    compat.from_linen(variables, model)
    return module, variables, model, inputs


def _same(expected: Any, got: Any) -> None:
    assert jax.tree.structure(expected) == jax.tree.structure(got)
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(got)):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("case", LINEN.CASES, ids=lambda c: c[0])
def test_calls_leave_the_same_collections(case: Any, compiled: bool) -> None:
    name, _, shapes, keywords = case
    module, variables, model, inputs = _sides(name, shapes, keywords)
    collections = [c for c in variables if c != "params"]

    def apply(variables: Any, *inputs: Any) -> Any:
        return module.apply(variables, *inputs, **keywords, mutable=collections)

    def call(model: Any, *inputs: Any) -> Any:
        return model(*inputs, **keywords)

    if compiled:
        apply, call = jax.jit(apply), nnx.jit(call)
    for _ in range(3):
        expected, updated = apply(variables, *inputs)
        variables = {**variables, **updated}
        _same(expected, call(model, *inputs))
        kept = compat.to_linen(model)
        _same(variables, {c: kept[c] for c in variables})


def _repeated(result: Any) -> list[tuple[bool, ...]]:
    """For each axis of each output: are the zeros that dropout made the same all along it?"""
    masks = [np.asarray(leaf) == 0 for leaf in jax.tree.leaves(result)]
    return [tuple(bool((m == m.take([0], axis=a)).all()) for a in range(m.ndim)) for m in masks]


@pytest.mark.parametrize("name,shapes", LINEN.STREAMS, ids=lambda v: v if isinstance(v, str) else "")
def test_random_numbers_are_as_independent(name: str, shapes: list[tuple[int, ...]]) -> None:
    module, variables, model, inputs = _sides(name, shapes, {})
    expected = module.apply(variables, *inputs, rngs=KEYS)
    assert not any(any(axes) for axes in _repeated(expected)), "the case shows nothing"
    first, second = model(*inputs), model(*inputs)
    compiled = nnx.jit(lambda model, *inputs: model(*inputs))
    third, fourth = compiled(model, *inputs), compiled(model, *inputs)
    for got in (first, second, third, fourth):
        assert jax.tree.structure(expected) == jax.tree.structure(got)
        assert _repeated(got) == _repeated(expected)
    drawn = [np.concatenate([np.asarray(x).ravel() for x in jax.tree.leaves(y)]) for y in (first, second, third, fourth)]
    for i in range(4):
        for j in range(i):
            assert (drawn[i] != drawn[j]).any(), "two calls drew the same numbers"


@pytest.mark.parametrize("name,shapes,axes", LINEN.ONE_MASK, ids=lambda v: v if isinstance(v, str) else "")
def test_members_that_draw_the_same_numbers(name: str, shapes: list[tuple[int, ...]], axes: tuple[bool, ...]) -> None:
    module, variables, model, inputs = _sides(name, shapes, {})
    same = [jnp.ones_like(x) for x in inputs]
    assert _repeated(module.apply(variables, *same, rngs=KEYS)) == [axes]
    compiled = nnx.jit(lambda model, *inputs: model(*inputs))
    found = [model(*same), model(*same), compiled(model, *same), compiled(model, *same)]
    assert [_repeated(got) for got in found] == [[axes]] * 4
    for i in range(4):
        for j in range(i):
            assert (found[i] != found[j]).any(), "two calls drew the same numbers"


@pytest.mark.parametrize("name,shapes", [*LINEN.STREAMS, *[case[:2] for case in LINEN.ONE_MASK]], ids=lambda v: str(v))
def test_with_the_same_numbers_they_compute_the_same(name: str, shapes: list[tuple[int, ...]]) -> None:
    module, variables, model, inputs = _sides(name, shapes, {})
    report = compat.check_equivalence(module, variables, model, *inputs, rngs=KEYS)
    found = {c.name: c.verdict.value for c in report.checks}
    assert {found["forward"], found["gradient"]} <= {"proved", "bitwise"}
