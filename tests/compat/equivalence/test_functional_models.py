"""Models of a migrated program that are a `linen_parity.Functional`: checked as they are, without opening them by hand."""

from __future__ import annotations

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate.compat.equivalence.api import check_equivalence, compare_migrated
from nnx_migrate.compat.equivalence.report import Verdict
from nnx_migrate.migrate.nnx.generated import parity

X = jax.ShapeDtypeStruct((4, 8), jnp.float32)
SCOPE: dict[str, Any] = {}
exec(compile(parity.render({"Functional"}), "linen_parity.py", "exec"), SCOPE)


class Linen(nn.Module):
    @nn.compact
    def __call__(self, x: Any, train: bool = False) -> Any:
        x = nn.BatchNorm(use_running_average=not train)(nn.Dense(5)(x))
        return nn.Dropout(0.5, deterministic=not train)(x)


class Native(nnx.Module):
    def __init__(self, slope: float = 1.0, *, in_features: int, rngs: nnx.Rngs) -> None:
        self.slope = slope
        self.Dense_0 = nnx.Linear(in_features, 5, rngs=rngs)
        self.BatchNorm_0 = nnx.BatchNorm(5, rngs=rngs)
        self.Dropout_0 = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x: Any, train: bool = False) -> Any:
        x = self.BatchNorm_0(self.Dense_0(x), use_running_average=not train)
        return self.Dropout_0(x, deterministic=not train) * self.slope


def functional(**fields: Any) -> Any:
    return SCOPE["Functional"](Native, sizes=lambda x, *_, **__: {"in_features": x.shape[-1]}, **fields)


@pytest.mark.parametrize("made", [functional, lambda: functional()], ids=["model", "function"])
@pytest.mark.parametrize("train", [False, True])
def test_a_functional_is_opened_for_the_call(made: Any, train: bool) -> None:
    given = functional() if made is functional else made
    options = {"rngs": ("dropout",), "mutable": "batch_stats"} if train else {}
    report = compare_migrated(Linen(), given, X, init_kwargs={}, nnx_kwargs={"train": train}, **options, train=train)
    assert report.equal and report.verdict is Verdict.PROVED, report


def test_what_a_functional_computes_otherwise_is_different() -> None:
    variables = Linen().init(jax.random.key(0), jnp.ones(X.shape))
    report = check_equivalence(Linen(), variables, functional(slope=1.5), X)
    assert report.verdict is Verdict.DIFFERENT, report
    assert check_equivalence(Linen(), variables, functional(), X).proved
