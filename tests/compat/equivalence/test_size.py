"""A 70B decoder with specs on an abstract mesh of 256 devices is proved from shapes, and wrong ones are not."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from nnx_migrate.compat.equivalence.report import Verdict

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def bench() -> Any:
    return load("bench_proof")


def test_the_scanned_decoder_is_proved_within_a_minute(bench: Any) -> None:
    started = time.perf_counter()
    mesh = bench.mesh(data=8, fsdp=8, model=64)
    assert bench.prove_forward(bench.Size(), mesh).verdict is Verdict.PROVED
    assert bench.prove_step(bench.Size(), mesh).verdict is Verdict.PROVED
    assert time.perf_counter() - started < 60


def test_a_few_unrolled_layers_are_proved(bench: Any) -> None:
    report = bench.prove_forward(bench.Size(layers=3), bench.mesh(data=16, model=16), scan=False)
    assert report.verdict is Verdict.PROVED, report


@pytest.mark.slow
def test_a_lost_constraint_is_told_apart_from_values(bench: Any) -> None:
    report = bench.prove_forward(bench.Size(layers=3), bench.mesh(data=16, model=16), constrained=False)
    assert report["forward"].verdict is Verdict.PROVED
    assert "only sharding constraints differ" in report["forward annotations"].reason_not_proved
    assert not report.equal


def test_another_spec_is_named(bench: Any) -> None:
    over = bench.mesh(data=16, model=16)
    report = bench.prove_forward(bench.Size(layers=3), over, head_axes=("vocab", "embed"))
    assert report["specs"].verdict is Verdict.DIFFERENT
    assert "params/head/kernel: P(None, 'model') in Linen, P('model', None) in NNX" in report["specs"].detail


@pytest.mark.slow
def test_a_slice_of_the_mutation_campaign() -> None:
    mutants = load("mutants")
    outcome = mutants.campaign(6, 4, seed=7)
    assert outcome.different == 6 and outcome.refactored == 4
    assert not outcome.false_proofs and not outcome.false_alarms, outcome


@pytest.mark.slow
def test_a_slice_of_the_campaign_of_programs() -> None:
    """One change of each base: a lost update, another axis of a mean, exchanged carries, streams, a lost constraint."""
    outcome = load("mutant_programs").campaign(5, kept=False)
    assert outcome.different == 5 and not outcome.broken
    assert not outcome.false_proofs, outcome
