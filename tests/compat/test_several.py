"""Where a path holds more than one thing: several steps, runs, items, models; and keys that read alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import flax
import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
import pytest
from click.testing import CliRunner
from flax import nnx, serialization
from flax.training import checkpoints, train_state
from nnx_migrate import compat
from nnx_migrate.compat.command import checkpoint as command


class One(nnx.Module):
    def __init__(self) -> None:
        self.w = nnx.Param(jnp.zeros(2))


class Two(nnx.Module):
    def __init__(self) -> None:
        self.w = nnx.Param(jnp.zeros(2))
        self.v = nnx.Param(jnp.zeros(2))


def full(value: float) -> np.ndarray:
    return np.full(2, value, np.float32)


def write(path: Path, tree: Any) -> Path:
    path.write_bytes(serialization.msgpack_serialize(serialization.to_state_dict(tree)))
    return path


def with_optimizer() -> tuple[One, nnx.Optimizer]:
    model = One()
    return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)


# -- steps and runs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["checkpoint_", "model", "model-step", "run_v1_"])
def test_any_prefix_of_flax(prefix: str, tmp_path: Path) -> None:
    flax.config.update("flax_use_orbax_checkpointing", False)
    for step in (2, 9, 10):
        checkpoints.save_checkpoint(tmp_path, {"params": {"w": full(step)}}, step, prefix=prefix, keep=9)
    assert compat.restore(tmp_path, One).w[0] == 10
    assert compat.restore(tmp_path, One, step=9).w[0] == 9
    assert compat.open_checkpoint(tmp_path).steps == [2, 9, 10]


def test_steps_with_decimals(tmp_path: Path) -> None:
    """flax took them; by the last digits alone 1.75 would come after 2.5."""
    flax.config.update("flax_use_orbax_checkpointing", False)
    for step in (1.75, 2.5):
        checkpoints.save_checkpoint(tmp_path, {"params": {"w": full(step)}}, step, keep=9)
    assert compat.restore(tmp_path, One).w[0] == 2.5
    assert compat.restore(tmp_path, One, step=1.75).w[0] == 1.75
    done = CliRunner().invoke(command, ["inspect", str(tmp_path), "--step", "1.75"])
    assert done.exit_code == 0 and "step 1.75; also 2.5" in done.output
    done = CliRunner().invoke(command, ["inspect", str(tmp_path), "--step", "last"])
    assert done.exit_code == 2 and "is no number" in done.output


def test_runs_side_by_side_are_not_mixed(tmp_path: Path) -> None:
    flax.config.update("flax_use_orbax_checkpointing", False)
    for prefix, value in (("run_", 1.0), ("ema_", 2.0)):
        checkpoints.save_checkpoint(tmp_path, {"params": {"w": full(value)}}, 3 + value, prefix=prefix, keep=9)
    with pytest.raises(compat.CheckpointError, match=r"several runs side by side .*ema_5.0.*run_4.0"):
        compat.restore(tmp_path, One)
    assert compat.restore(tmp_path / "run_4.0", One).w[0] == 1
    # Files that merely end in a number are no run.
    (tmp_path / "ema_5.0").unlink()
    (tmp_path / "events.out.1700000000").write_bytes(b"\x18\x00\x00")
    (tmp_path / "log_7").mkdir()
    assert compat.restore(tmp_path, One).w[0] == 1


def test_a_save_that_was_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "state.orbax-checkpoint-tmp-17").mkdir()
    with pytest.raises(compat.CheckpointError, match=r"state: is still being written.*wait_until_finished"):
        compat.restore(tmp_path / "state", One)
    with pytest.raises(compat.CheckpointError, match="other: does not exist"):
        compat.restore(tmp_path / "other", One)


# -- items -------------------------------------------------------------------------------------------------------------


def items(path: Path, **saved: Any) -> Path:
    with ocp.CheckpointManager(path) as manager:
        manager.save(2, args=ocp.args.Composite(**saved))
    return path


def test_a_state_that_is_spread_over_items(tmp_path: Path, make_mesh: Any) -> None:
    params = {"w": full(1)}
    tx = optax.adam(1e-3)
    _, opt_state = tx.update({"w": full(3)}, tx.init(params), params)
    path = items(
        tmp_path,
        params=ocp.args.StandardSave(params),
        opt_state=ocp.args.PyTreeSave(opt_state),
        rng=ocp.args.JaxRandomKeySave(jax.random.key(7)),
        extra=ocp.args.JsonSave({"step": 4, "name": "x", "loss": 0.5}),
    )

    def create() -> dict[str, Any]:
        model, optimizer = with_optimizer()
        return {"model": model, "optimizer": optimizer, "rng": jax.random.key(0)}

    with pytest.raises(compat.MismatchError, match=r"1 missing and 0 extra(.|\n)*optimizer/step .*expected key step"):
        compat.restore(path, create)
    found = compat.restore(path, create, mesh=make_mesh((2, 4)), rename={"extra/step": "step"})
    assert found["model"].w[0] == 1 and found["optimizer"].step[...] == 4
    assert np.array_equal(found["optimizer"].opt_state[0].mu["w"][...], opt_state[0].mu["w"])
    assert found["rng"] == jax.random.key(7)
    assert np.array_equal(compat.open_checkpoint(path, item="rng").leaves["array",].read(), jax.random.PRNGKey(7))
    # One that fits alone is taken alone, and conversion finds the same as restoring.
    assert compat.restore(path, One).w[0] == 1
    compat.convert_checkpoint(path, tmp_path / "nnx", create=create, rename={"extra/step": "step"})
    with ocp.StandardCheckpointer() as checkpointer:
        tree = checkpointer.restore(tmp_path / "nnx")
    assert tree["optimizer"]["step"]["value"] == 4 and tree["model"]["w"]["value"][0] == 1


# -- models ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("gen", "disc"), ("gen_state", "disc_state"), ("Generator", "discriminator")])
def test_two_models_with_the_same_keys(names: tuple[str, str], tmp_path: Path) -> None:
    def state(value: float, step: int) -> Any:
        made = train_state.TrainState.create(apply_fn=None, params={"w": full(value)}, tx=optax.adam(1e-3))
        return made.replace(step=step)

    path = write(tmp_path / "ck", {names[0]: state(1, 5), names[1]: state(2, 9)})

    def create() -> dict[str, Any]:
        (gen, gen_opt), (disc, disc_opt) = with_optimizer(), with_optimizer()
        return {"disc": disc, "gen": gen, "gen_opt": gen_opt, "disc_opt": disc_opt}

    found = compat.restore(path, create)
    assert (found["gen"].w[0], found["disc"].w[0]) == (1, 2)
    assert (found["gen_opt"].step[...], found["disc_opt"].step[...]) == (5, 9)
    with pytest.raises(compat.MismatchError, match="found in several places"):
        compat.restore(path, lambda: {"first": One(), "second": One()})


def test_ema_and_target_copies(tmp_path: Path) -> None:
    for name in ("params_ema", "ema_params", "target_params"):
        path = write(tmp_path / name, {"params": {"w": full(1)}, name: {"w": full(2)}})
        with pytest.raises(compat.MismatchError, match=f"extra: {name}/w"):
            compat.restore(path, One)
        copy = "target" if "target" in name else "ema"
        found = compat.restore(path, lambda copy=copy: {"model": One(), copy: One()})  # type: ignore[misc]
        assert (found["model"].w[0], found[copy].w[0]) == (1, 2)


def test_some_of_the_parameters_only_on_request(tmp_path: Path) -> None:
    """A model that fits a part of the parameters does not say that the rest is not wanted."""
    path = write(tmp_path / "ck", {"params": {"encoder": {"w": full(1)}, "decoder": {"v": full(2)}}})
    with pytest.raises(compat.MismatchError, match="extra: params/decoder/v"):
        compat.restore(path, One)
    assert compat.restore(path, One, item="params/encoder").w[0] == 1


# -- keys that read alike, and dtypes ----------------------------------------------------------------------------------


def test_keys_with_the_same_form(tmp_path: Path) -> None:
    class Model(nnx.Module):
        def __init__(self) -> None:
            self.enc = nnx.Dict(out_w=nnx.Param(jnp.zeros(2)))
            self.enc_out = nnx.Dict(w=nnx.Param(jnp.zeros(2)))

    params = {"enc": {"out_w": full(1)}, "enc_out": {"w": full(2)}}
    state = train_state.TrainState.create(apply_fn=None, params=params, tx=optax.sgd(1e-3, momentum=0.9))
    state = state.apply_gradients(grads=params)

    def create() -> tuple[Model, nnx.Optimizer]:
        model = Model()
        return model, nnx.Optimizer(model, optax.sgd(1e-3, momentum=0.9), wrt=nnx.Param)

    model, optimizer = compat.restore(write(tmp_path / "ck", state), create)
    assert np.array_equal(model.enc["out_w"][...], state.params["enc"]["out_w"])
    assert np.array_equal(model.enc_out["w"][...], state.params["enc_out"]["w"])
    assert np.array_equal(optimizer.opt_state[0].trace["enc"]["out_w"][...], full(1))
    # Two names that become one by rename= are a clash all the same.
    with pytest.raises(compat.MismatchError, match="two keys map to one"):
        compat.restore(tmp_path / "ck", create, rename={"enc/out_w": "enc_out/w"})


def typed(impl: str) -> Callable[[], dict[str, Any]]:
    return lambda: {"model": One(), "rng": jax.random.key(0, impl=impl)}


def test_keys_of_another_kind(tmp_path: Path) -> None:
    for impl in ("threefry2x32", "rbg", "unsafe_rbg"):
        with ocp.StandardCheckpointer() as checkpointer:
            checkpointer.save(tmp_path / impl, {"params": {"w": full(1)}, "rng": jax.random.key(3, impl=impl)})
        assert compat.restore(tmp_path / impl, typed(impl))["rng"] == jax.random.key(3, impl=impl)
    for have, want in (("threefry2x32", "rbg"), ("rbg", "threefry2x32"), ("rbg", "unsafe_rbg")):
        with pytest.raises(compat.MismatchError, match=f"rng: the target has a key of {want}, rng is one of {have}"):
            compat.restore(tmp_path / have, typed(want))
    raw = write(tmp_path / "raw", {"params": {"w": full(1)}, "rng": np.zeros(4, np.uint32)})
    with pytest.raises(compat.MismatchError, match=r"a key of threefry2x32 has 2 words, rng has shape \(4,\)"):
        compat.restore(raw, typed("threefry2x32"))


def test_values_that_a_dtype_cannot_hold(tmp_path: Path) -> None:
    path = write(tmp_path / "complex", {"params": {"w": full(1) + 2j * full(1)}})
    with pytest.raises(compat.MismatchError, match="which float32 cannot hold"):
        compat.restore(path, One, dtype="target")

    class Flags(nnx.Module):
        def __init__(self) -> None:
            self.w = nnx.Param(jnp.zeros(2, bool))

    with pytest.raises(compat.MismatchError, match="not to be held by bool"):
        compat.restore(write(tmp_path / "ints", {"params": {"w": np.array([2, 1])}}), Flags, dtype="target")
    assert compat.restore(write(tmp_path / "bits", {"params": {"w": np.array([0, 1])}}), Flags, dtype="target").w[1]


def test_numpy_loses_small_dtypes(tmp_path: Path) -> None:
    np.savez(tmp_path / "ck.npz", **{"params/w": np.asarray(jnp.ones(2, jnp.float8_e4m3fn))})
    with pytest.raises(compat.CheckpointError, match=r"params/w.npy' lost its dtype.*save it as safetensors"):
        compat.restore(tmp_path / "ck.npz", One)


def test_diff_keeps_the_names_of_modules(tmp_path: Path) -> None:
    """Submodules called `model` and `params`, a collection of one's own, and a copy of the parameters."""

    def linen(value: float) -> dict[str, Any]:
        return {
            "params": {"w": full(1), "model": {"w": full(2)}, "params": {"w": full(3)}},
            "memory": {"m": full(value)},
            "ema_params": {"w": full(5)},
        }

    nnx_tree = {"w": full(1), "model": {"w": full(2)}, "params": {"w": full(3)}, "m": full(4)}
    write(tmp_path / "linen", linen(4))
    write(tmp_path / "nnx", {"model": nnx_tree, "optimizer": {"step": np.array(3)}})

    def lines(*arguments: str) -> list[str]:
        paths = (str(tmp_path / "linen"), str(tmp_path / "nnx"))
        return CliRunner().invoke(command, ["diff", *arguments, *paths]).output.splitlines()

    found = lines()
    assert [line.split()[:2] for line in found if line.startswith("only")] == [
        ["only_a", "ema_params/w:"],
        ["only_b", "optimizer/step:"],
    ]
    assert not any(line.startswith("value") for line in found) and "4 arrays" in found[-1]
    write(tmp_path / "linen", linen(6))
    assert any(line.startswith("value") and "memory/m = model/m" in line for line in lines())


def test_a_dtype_by_its_name(tmp_path: Path) -> None:
    """Any text but 'target' once meant 'target'."""
    path = write(tmp_path / "ck", {"params": {"w": full(1)}})
    for dtype in ("bfloat16", jnp.bfloat16, np.dtype("float16")):
        assert compat.restore(path, One, dtype=dtype).w.dtype == jnp.dtype(dtype)
    assert compat.from_linen({"params": {"w": full(1)}}, One(), dtype="bfloat16").w.dtype == jnp.bfloat16
    for dtype in ("bf16", "int8"):
        with pytest.raises(compat.MismatchError, match="dtype= is not valid"):
            compat.restore(path, One, dtype=dtype)
