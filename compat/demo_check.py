"""The part of the demo that runs on eight devices: restore the old checkpoint, compare both sides, train both."""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

STEPS = 4
_NAMES = ("model", "config", "data", "train", "checkpointing", "linen_parity")


def load(folder: Path, *names: str) -> list[ModuleType]:
    """Modules of one side, imported as the project itself imports them; the other side's are forgotten first."""
    for name in _NAMES:
        sys.modules.pop(name, None)
    sys.path.insert(0, str(folder))
    try:
        return [importlib.import_module(name) for name in names]
    finally:
        sys.path.pop(0)


def compare(target: Path) -> dict[str, Any]:
    """Everything that the demo's second part prints, as plain data."""
    import jax
    import optax
    from flax import linen as nn
    from flax import nnx, traverse_util
    from flax.training import train_state
    from jax.sharding import AxisType
    from nnx_migrate import compat
    from nnx_migrate.compat.equivalence import check_steps

    # Without dropout: Linen and NNX never draw the same random numbers, so that steps could not be compared.
    linen, config_module, data = load(target / "linen", "model", "config", "data")
    rules = config_module.AXIS_RULES
    config = dataclasses.replace(config_module.Config(), dropout_rate=0.0)
    (native,) = load(target / "nnx", "model")
    optimizer = optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adamw(optax.linear_schedule(0.0, config.learning_rate, config.warmup_steps), weight_decay=config.weight_decay),
    )
    mesh = jax.make_mesh(config_module.MESH_SHAPE, config_module.MESH_AXES, axis_types=(AxisType.Auto,) * 2)
    expected = np.load(target / "expected.npz")
    tokens = expected["tokens"]

    def create() -> Any:
        model = native.TransformerLM(config, rngs=nnx.Rngs(0))
        return model, nnx.Optimizer(model, optimizer, wrt=nnx.Param)

    def loss_of(logits: Any, tokens: Any) -> Any:
        return optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], tokens[:, 1:]).mean()

    def linen_step(state: Any, tokens: Any) -> Any:
        def loss_fn(params: Any) -> Any:
            return loss_of(state.apply_fn({"params": params}, tokens, deterministic=False), tokens)

        loss, gradients = jax.value_and_grad(loss_fn)(state.params)
        return state.apply_gradients(grads=gradients), {"loss": loss}

    def nnx_step(model: Any, optimizer: Any, tokens: Any) -> Any:
        loss, gradients = nnx.value_and_grad(lambda m: loss_of(m(tokens, deterministic=False), tokens))(model)
        optimizer.update(model, gradients)
        return {"loss": loss}

    with jax.set_mesh(mesh), nn.logical_axis_rules(rules):
        lines: list[str] = []
        model, opt = compat.restore(
            target / "checkpoint", create, mesh=mesh, rules=rules, on_report=lambda r: lines.append(_restored(r))
        )
        before = linen.TransformerLM(config)
        abstract = jax.eval_shape(before.init, jax.random.key(0), tokens)
        report = compat.check_equivalence(before, abstract, model, tokens, rules=rules, mesh=mesh)
        state = jax.eval_shape(
            lambda: train_state.TrainState.create(
                apply_fn=before.apply, params=before.init(jax.random.key(0), tokens)["params"], tx=optimizer
            )
        )
        step_report = check_steps(linen_step, state, nnx_step, create, tokens, rules=rules, mesh=mesh)
        checks = [_row("model: ", c) for c in report.checks]
        checks += [_row("training step: ", c) for c in step_report.checks]

        params = traverse_util.unflatten_dict(_part(expected, "state/params/"))
        checks.append(_numbers("logits against flax 0.6.11's", nnx.jit(lambda m: m(tokens))(model), expected["logits"]))
        placed = {
            "/".join(map(str, path)): str(variable[...].sharding.spec)
            for path, variable in nnx.to_flat_state(nnx.state(model, nnx.Param))
        }
        # Linen, from the same point: its moments and counts are those of the checkpoint.
        state = train_state.TrainState.create(apply_fn=before.apply, params=params, tx=optimizer)
        state = _with_saved(state, expected)
        losses: dict[str, list[float]] = {"linen": [], "nnx": []}
        jit_linen, jit_nnx = jax.jit(linen_step), nnx.jit(nnx_step)
        after_first: Any = None
        start = int(expected["state/step"])
        for number, batch in enumerate([tokens, *data.batches(config, STEPS - 1, seed=11)]):
            state, metrics = jit_linen(state, batch)
            losses["linen"].append(float(metrics["loss"]))
            losses["nnx"].append(float(jit_nnx(model, opt, batch)["loss"]))
            if number == 0:
                after_first = compat.to_linen(model)["params"]
        wanted = _part(expected, "next/params/")
        got = traverse_util.flatten_dict(after_first)
        worst = max(float(np.max(np.abs(np.asarray(got[key]) - wanted[key]))) for key in wanted)
        checks.append(_numbers("next step against flax 0.6.11's", worst, 0.0))
        checks.append(_numbers(f"{STEPS} training steps, losses", losses["linen"], losses["nnx"]))
    variables = [
        {
            "key": row["linen"],
            "shape": row["nnx_shape"],
            "linen": row["linen_spec"],
            "nnx": row["nnx_spec"],
            "restored": placed[row["nnx"]],
        }
        for row in report.variables
    ]
    return {
        "restored": lines[0],
        "variables": variables,
        "checks": checks,
        "losses": losses,
        "step": start,
        "equal": all(c["verdict"] in ("proved", "bitwise", "close") for c in checks),
    }


def _restored(report: Any) -> str:
    read = f"{report.bytes_read / 1024:.0f} KiB"
    return f"  {len(report.restored)} arrays restored from an {report.layout} checkpoint ({report.era}), {read} read"


def _row(prefix: str, check: Any) -> dict[str, str]:
    return {"name": prefix + check.name, "verdict": str(check.verdict.value), "detail": check.detail}


def _numbers(name: str, got: Any, wanted: Any, limit: float = 1e-5) -> dict[str, str]:
    worst = float(np.max(np.abs(np.asarray(got) - np.asarray(wanted))))
    verdict = "bitwise" if worst == 0.0 else "close" if worst <= limit else "different"
    return {"name": name, "verdict": verdict, "detail": f"largest difference {worst:.1e}"}


def _part(expected: Any, prefix: str) -> dict[tuple[str, ...], Any]:
    return {tuple(key[len(prefix) :].split("/")): expected[key] for key in expected.files if key.startswith(prefix)}


def _with_saved(state: Any, expected: Any) -> Any:
    """The Linen train state with every array that the period stack had saved."""
    import jax
    from flax import serialization, traverse_util

    saved = traverse_util.unflatten_dict(_part(expected, "state/"))
    shape = serialization.to_state_dict(state)
    full = {**shape, **saved, "opt_state": _merged(shape["opt_state"], saved["opt_state"])}
    return jax.tree.map(jax.numpy.asarray, serialization.from_state_dict(state, full))


def _merged(shape: Any, saved: Any) -> Any:
    """`saved` within `shape`: optax states without arrays (EmptyState) are missing from what was saved."""
    if not isinstance(shape, dict):
        return saved
    return {key: _merged(value, saved[key]) if key in saved else value for key, value in shape.items()}


def main() -> None:
    """`demo_check DIR OUTPUT.json`, in a process with eight devices."""
    target, output = Path(sys.argv[1]), Path(sys.argv[2])
    output.write_text(json.dumps(compare(target), default=str))
