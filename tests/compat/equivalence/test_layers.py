"""Pairs of Linen and NNX modules that are equal are proved so; changed ones are rejected and the cause is named."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate.compat.equivalence.api import assert_equivalent, check_equivalence, compare_migrated, init_shapes
from nnx_migrate.compat.equivalence.report import NotEquivalent, Verdict

X = jax.ShapeDtypeStruct((2, 4), jnp.float32)
IMAGE = jax.ShapeDtypeStruct((2, 8, 8, 3), jnp.float32)
SEQUENCE = jax.ShapeDtypeStruct((2, 5, 8), jnp.float32)


class LinenNet(nn.Module):
    @nn.compact
    def __call__(self, x: Any, train: bool = False) -> Any:
        x = nn.relu(nn.Dense(4)(x))
        x = nn.LayerNorm()(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.Dropout(0.5, deterministic=not train)(x)
        return nn.Dense(4)(x)


class Net(nnx.Module):
    """The faithful migration of LinenNet, and by its options the unfaithful ones."""

    def __init__(
        self,
        *,
        rngs: nnx.Rngs,
        epsilon: float = 1e-6,
        activation: Any = nnx.relu,
        swap: bool = False,
        dtype: Any = None,
        axis: int = -1,
        momentum: float = 0.99,
        train_always: bool = False,
        stop: bool = False,
        rate: float = 0.5,
        twice: bool = False,
    ) -> None:
        self.Dense_0 = nnx.Linear(4, 4, rngs=rngs)
        self.LayerNorm_0 = nnx.LayerNorm(4, epsilon=epsilon, dtype=dtype, rngs=rngs)
        self.BatchNorm_0 = nnx.BatchNorm(4, momentum=momentum, rngs=rngs)
        self.Dropout_0 = nnx.Dropout(rate, rngs=rngs)
        self.Dense_1 = nnx.Linear(4, 4, rngs=rngs)
        self.activation, self.swap, self.train_always, self.stop, self.twice = (
            activation,
            swap,
            train_always,
            stop,
            twice,
        )

    def __call__(self, x: Any, train: bool = False) -> Any:
        first, last = (self.Dense_1, self.Dense_0) if self.swap else (self.Dense_0, self.Dense_1)
        x = self.LayerNorm_0(self.activation(first(x)))
        x = self.BatchNorm_0(x, use_running_average=not (train or self.train_always))
        x = self.Dropout_0(x, deterministic=not train)
        if self.twice:
            x = self.Dropout_0(x, deterministic=not train)
        if self.stop:
            x = jax.lax.stop_gradient(x)
        return last(x)


def net(**options: Any) -> Any:
    return lambda: Net(rngs=nnx.Rngs(0), **options)


def test_eval_and_training_are_proved() -> None:
    report = compare_migrated(LinenNet(), net(), X)
    assert report.verdict is Verdict.PROVED, report
    report = compare_migrated(LinenNet(), net(), X, train=True, rngs=["dropout"], mutable=["batch_stats"])
    assert report.verdict is Verdict.PROVED, report
    assert "1 random keys matched" in report["forward"].detail


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"epsilon": 1e-5}, "another constant"),
        ({"activation": nnx.gelu}, ""),
        ({"activation": nnx.leaky_relu}, ""),
        ({"swap": True}, "another input"),
        ({"dtype": jnp.bfloat16}, ""),
        ({"momentum": 0.9}, "another constant"),
        ({"rate": 0.1}, "another constant"),
        ({"twice": True}, ""),
    ],
)
def test_changed_migrations_are_rejected_in_training(options: dict[str, Any], reason: str) -> None:
    report = compare_migrated(LinenNet(), net(**options), X, train=True, rngs=["dropout"], mutable=["batch_stats"])
    assert report.verdict is Verdict.DIFFERENT
    assert reason in report["forward"].reason_not_proved


def test_missing_gradient_shows_in_the_gradient_alone() -> None:
    report = compare_migrated(LinenNet(), net(stop=True), X)
    assert report["forward"].verdict is Verdict.PROVED
    assert report["gradient"].verdict is Verdict.DIFFERENT


def test_statistics_that_change_in_eval_are_caught() -> None:
    report = compare_migrated(LinenNet(), net(train_always=True), X)
    assert report["forward"].verdict is Verdict.DIFFERENT


def test_report_names_source_lines_of_both_sides() -> None:
    report = compare_migrated(LinenNet(), net(epsilon=1e-5), X)
    (found, *_) = report["forward"].divergences
    assert "test_layers.py" in found["left"]["source"] and "LinenNet" in found["left"]["source"]
    assert "Net.__call__" in found["right"]["source"]
    assert "1e-06" in found["left"]["what"] and "1e-05" in found["right"]["what"]


def test_missing_and_extra_keys_are_all_listed() -> None:
    class Less(nnx.Module):
        def __init__(self, *, rngs: nnx.Rngs) -> None:
            self.Dense_0 = nnx.Linear(4, 4, use_bias=False, rngs=rngs)
            self.other = nnx.Linear(4, 4, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.other(self.Dense_0(x))

    class Linen(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            return nn.Dense(4)(x)

    report = compare_migrated(Linen(), lambda: Less(rngs=nnx.Rngs(0)), X)
    assert "missing in NNX: params/Dense_0/bias" in report["keys"].detail
    assert "only in NNX: params/other/kernel" in report["keys"].detail
    assert not report.equal


def test_a_parameter_of_another_dtype_is_different() -> None:
    class Linen(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            return nn.Dense(4, name="d")(x)

    class Half(nnx.Module):
        def __init__(self, *, rngs: nnx.Rngs) -> None:
            self.d = nnx.Linear(4, 4, param_dtype=jnp.bfloat16, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.d(x)

    report = compare_migrated(Linen(), lambda: Half(rngs=nnx.Rngs(0)), X)
    assert report["shapes"].verdict is Verdict.DIFFERENT
    assert "float32[4, 4] in Linen, bfloat16[4, 4] in NNX" in report["shapes"].detail


LAYERS = {
    "dense": (lambda: nn.Dense(3), lambda r: nnx.Linear(4, 3, rngs=r), X),
    "dense bf16": (lambda: nn.Dense(3, dtype=jnp.bfloat16), lambda r: nnx.Linear(4, 3, dtype=jnp.bfloat16, rngs=r), X),
    "conv": (lambda: nn.Conv(4, (3, 3)), lambda r: nnx.Conv(3, 4, (3, 3), rngs=r), IMAGE),
    "group norm": (lambda: nn.GroupNorm(2), lambda r: nnx.GroupNorm(8, 2, rngs=r), SEQUENCE),
    "rms norm": (lambda: nn.RMSNorm(), lambda r: nnx.RMSNorm(8, rngs=r), SEQUENCE),
    "embed": (lambda: nn.Embed(7, 4), lambda r: nnx.Embed(7, 4, rngs=r), jax.ShapeDtypeStruct((2, 3), jnp.int32)),
    "general": (
        lambda: nn.DenseGeneral((2, 3), axis=(-2, -1)),
        lambda r: nnx.LinearGeneral((5, 8), (2, 3), axis=(-2, -1), rngs=r),
        SEQUENCE,
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_proved(name: str) -> None:
    linen, make, x = LAYERS[name]
    report = compare_migrated(linen(), lambda: make(nnx.Rngs(0)), x)
    assert report.verdict is Verdict.PROVED, report


def test_masks_held_as_arrays_are_the_constants_that_they_are() -> None:
    mask = jnp.arange(48, dtype=jnp.float32).reshape(3, 4, 4) % 2
    linen = nn.Conv(4, (3,), mask=mask, name=None)
    x = jax.ShapeDtypeStruct((2, 8, 4), jnp.float32)
    same = compare_migrated(linen, lambda: nnx.Conv(4, 4, (3,), mask=mask, rngs=nnx.Rngs(0)), x)
    assert same.verdict is Verdict.PROVED, same
    other = compare_migrated(linen, lambda: nnx.Conv(4, 4, (3,), mask=1 - mask, rngs=nnx.Rngs(0)), x)
    assert other.verdict is Verdict.DIFFERENT


def test_attention_without_dropout_takes_another_kernel() -> None:
    linen = nn.MultiHeadDotProductAttention(num_heads=2)
    report = compare_migrated(linen, lambda: nnx.MultiHeadAttention(2, 8, decode=False, rngs=nnx.Rngs(0)), SEQUENCE)
    assert report["forward"].verdict in (Verdict.CLOSE, Verdict.BITWISE)
    assert report["forward"].reason_not_proved


class LinenBlock(nn.Module):
    rate: float = 0.5

    @nn.compact
    def __call__(self, x: Any, _: Any) -> Any:
        y = nn.Dropout(self.rate, deterministic=False)(nn.gelu(nn.Dense(8)(nn.LayerNorm()(x))))
        return x + y, None


class LinenStack(nn.Module):
    layers: int = 3

    @nn.compact
    def __call__(self, x: Any) -> Any:
        block = nn.remat(LinenBlock, prevent_cse=False)
        stack = nn.scan(block, variable_axes={"params": 0}, split_rngs={"params": True, "dropout": True}, length=self.layers)
        x, _ = stack(name="blocks")(x, None)
        return x


class Block(nnx.Module):
    def __init__(self, *, rngs: nnx.Rngs) -> None:
        self.LayerNorm_0 = nnx.LayerNorm(8, rngs=rngs)
        self.Dense_0 = nnx.Linear(8, 8, rngs=rngs)
        self.Dropout_0 = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return x + self.Dropout_0(nnx.gelu(self.Dense_0(self.LayerNorm_0(x))), deterministic=False)


class Stack(nnx.Module):
    def __init__(self, layers: int = 3, *, remat: bool = True, plain_scan: bool = False, rngs: nnx.Rngs) -> None:
        @nnx.split_rngs(splits=layers)
        @nnx.vmap(in_axes=0, out_axes=0)
        def make(rngs: nnx.Rngs) -> Block:
            return Block(rngs=rngs)

        self.blocks, self.remat, self.plain_scan = make(rngs), remat, plain_scan

    def __call__(self, x: Any) -> Any:
        def run(x: Any, block: Block) -> Any:
            call = nnx.remat(lambda b, x: b(x), prevent_cse=False) if self.remat else (lambda b, x: b(x))
            return call(block, x)

        if self.plain_scan:
            return jax.lax.scan(lambda x, b: (run(x, b), None), x, self.blocks)[0]
        return nnx.scan(run, in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)(x, self.blocks)


def test_scanned_and_rematerialised_stack_with_dropout_is_proved() -> None:
    report = compare_migrated(LinenStack(), lambda: Stack(rngs=nnx.Rngs(0)), SEQUENCE, rngs=["dropout"])
    assert report.verdict is Verdict.PROVED, report


def test_a_stack_of_another_length_is_different() -> None:
    assert (
        compare_migrated(LinenStack(), lambda: Stack(2, rngs=nnx.Rngs(0)), SEQUENCE, rngs=["dropout"]).verdict == "different"
    )


def test_lost_rematerialisation_is_said_and_values_are_proved_all_the_same() -> None:
    report = compare_migrated(LinenStack(), lambda: Stack(remat=False, rngs=nnx.Rngs(0)), SEQUENCE, rngs=["dropout"])
    assert report["forward"].verdict is Verdict.PROVED
    assert "rematerialisation" in report["forward annotations"].reason_not_proved
    assert not report.equal


def test_masks_that_repeat_on_every_call_are_caught() -> None:
    report = compare_migrated(LinenStack(), lambda: Stack(plain_scan=True, rngs=nnx.Rngs(0)), SEQUENCE, rngs=["dropout"])
    assert report["forward"].verdict is Verdict.DIFFERENT
    assert "does not advance" in report["forward"].detail


def test_assert_equivalent_raises_with_the_report() -> None:
    variables = init_shapes(LinenNet(), {"params": jax.random.key(0)}, (X,), {})
    assert assert_equivalent(LinenNet(), variables, net(), X, at_least="proved").proved
    with pytest.raises(NotEquivalent, match="1e-05") as caught:
        assert_equivalent(LinenNet(), variables, net(epsilon=1e-5), X)
    assert caught.value.report["forward"].verdict is Verdict.DIFFERENT


def test_concrete_models_and_variables_work_and_are_not_changed() -> None:
    x = jnp.ones((2, 4))
    variables = LinenNet().init(jax.random.key(0), x)
    model = Net(rngs=nnx.Rngs(0))
    before = [v.copy() for v in jax.tree.leaves(nnx.state(model, nnx.BatchStat))]
    assert check_equivalence(LinenNet(), variables, model, x).proved
    assert all((a == b).all() for a, b in zip(before, jax.tree.leaves(nnx.state(model, nnx.BatchStat))))


def test_a_module_that_cannot_be_traced_is_unchecked_with_the_reason() -> None:
    class Broken(Net):
        def __call__(self, x: Any, train: bool = False) -> Any:
            raise RuntimeError("needs a TPU")

    report = compare_migrated(LinenNet(), lambda: Broken(rngs=nnx.Rngs(0)), X)
    assert report["forward"].verdict is Verdict.UNCHECKED and "needs a TPU" in report["forward"].detail
    assert not report.equal
