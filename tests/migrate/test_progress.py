"""What a run says of itself while it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from nnx_migrate.migrate import progress
from nnx_migrate.migrate.cli_run import migrate_contents
from nnx_migrate.migrate.config import Config
from nnx_migrate.migrate.context import Options

MODEL = b"""import flax.linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x)
"""


def test_a_run_says_what_it_is_at() -> None:
    said: list[str] = []
    report = migrate_contents({Path("m.py"): MODEL}, Options(), Config(), version="1", progress=said.append)
    assert [found.outcome for found in report.classes] == ["native"]
    assert [text.partition(":")[0] for text in said] == [
        "reading files",
        "rewriting 1 of 1 files",
        "following classes",
        "deciding on classes",
        "applying rules",
        "writing files",
    ]
    before = list(said)
    migrate_contents({Path("m.py"): MODEL}, Options(), Config(), version="1")
    assert said == before


def test_messages_come_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    times = iter([5.0, 5.0, 5.01, 5.02, 5.2, 5.2, 5.21])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))
    with progress.watched(said.append):
        assert list(progress.counted("abcde", "letters")) == list("abcde")
    assert said == ["letters: 0 of 5", "letters: 3 of 5"]
