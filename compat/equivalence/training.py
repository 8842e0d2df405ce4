"""A training step for any module: Adam on the mean square of its outputs, on both sides, proved and run for some steps.

People's own losses and optimizers are compared with `check_steps`; this one shows that gradients, updates, collections
and random streams work together, and gives the loss curves of the report.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from .api import in_context, judge
from .models import LinenSide
from .report import Check, Verdict
from .steps import compare_steps, step_programs


def score(outputs: Any) -> Any:
    """A loss that depends on every floating-point output."""
    leaves = [leaf for leaf in jax.tree.leaves(outputs) if jnp.issubdtype(jnp.result_type(leaf), jnp.inexact)]
    return sum((jnp.mean(jnp.abs(leaf) ** 2).astype(jnp.float32) for leaf in leaves), jnp.zeros(()))


def check_training(
    linen_module: Any,
    variables: Any,
    nnx_module: Callable[[], Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    streams: Sequence[str] = (),
    mutable: Sequence[str] = (),
    method: str | None = None,
    mesh: Any = None,
    rules: Any = None,
    steps: int = 5,
    losses: dict[str, list[float]] | None = None,
) -> list[Check]:
    """Checks `train step` and `N steps`; `losses` is filled with the loss of each step of each side."""
    import optax
    from flax import nnx

    tx = optax.adam(1e-2)
    plain = LinenSide(linen_module, variables).variables
    state = {
        **{k: v for k, v in plain.items() if k != "intermediates"},
        "opt_state": jax.eval_shape(tx.init, plain.get("params", {})),
        "step": jax.ShapeDtypeStruct((), jnp.uint32),
    }
    options: dict[str, Any] = {} if method is None else {"method": method}

    def linen_step(state: Any, *rest: Any) -> Any:
        batch, keys = rest[: len(args)], dict(zip(streams, rest[len(args) :]))
        others = {k: v for k, v in state.items() if k not in ("params", "opt_state", "step")}

        def loss(params: Any) -> Any:
            given = {"params": params, **others}
            if not mutable:
                return score(linen_module.apply(given, *batch, rngs=keys, **options, **kwargs)), {}
            out, new = linen_module.apply(given, *batch, rngs=keys, mutable=list(mutable), **options, **kwargs)
            return score(out), new

        (value, new), grads = jax.value_and_grad(loss, has_aux=True)(state["params"])
        updates, opt_state = tx.update(grads, state["opt_state"], state["params"])
        params = optax.apply_updates(state["params"], updates)
        return {**state, **new, "params": params, "opt_state": opt_state, "step": state["step"] + 1}, {"loss": value}

    def create() -> Any:
        model = nnx_module()
        return model, nnx.Optimizer(model, tx, wrt=nnx.Param)

    def nnx_step(model: Any, optimizer: Any, *batch: Any) -> Any:
        def loss(model: Any) -> Any:
            return score((model if method is None else getattr(model, method))(*batch, **kwargs))

        value, grads = nnx.value_and_grad(loss)(model)
        optimizer.update(model, grads)
        return {"loss": value}

    keys = [jax.random.key(i) for i, _ in enumerate(streams)]
    with in_context(mesh, rules):
        try:
            left, right = step_programs(linen_step, state, nnx_step, create, list(args), keys)
        except Exception as error:  # the forward checks say what is wrong with the modules themselves
            text = f"could not be traced: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
            return [Check("train step", Verdict.UNCHECKED, text)]
        checks = judge("train step", left, right, {}, run=False, random=bool(keys))
        run = Check(f"{steps} steps", Verdict.UNCHECKED, "not run under an abstract mesh")
        if not isinstance(mesh, jax.sharding.AbstractMesh):
            found = compare_steps(left, right, steps, losses=losses)
            run = dataclasses.replace(found, name=f"{steps} steps")
        proved = all(check.verdict is Verdict.PROVED for check in checks)
        if run.verdict is Verdict.UNCHECKED and proved:
            return checks  # proved for every number of steps; there is only no curve to show
        if not proved and run.verdict in (Verdict.BITWISE, Verdict.CLOSE):
            reasons = [check.reason_not_proved for check in checks if check.reason_not_proved]
            return [dataclasses.replace(run, reason_not_proved=reasons[0] if reasons else "")]
        if proved and run.verdict in (Verdict.BITWISE, Verdict.CLOSE):
            run = dataclasses.replace(run, verdict=Verdict.PROVED, detail=f"as proved; {run.verdict.value} when run")
        return [*checks, run]


__all__ = ["check_training", "score"]
