"""Random streams that a field names are drawn from as in Linen: proved, with the pattern of the keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import pytest
from flax import nnx
from nnx_migrate.compat.equivalence import compare_migrated
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module as _module

TEXT = (Path(__file__).parent / "forms_named_streams.py").read_text()


@pytest.fixture(scope="module")
def sides() -> tuple[Any, str]:
    result = migrate_project([SourceFile.parse(Path("streams.py"), "streams", TEXT)])
    for created, content in result.created.items():
        _module(created.stem, content)
    return _module("streams_linen", TEXT), result.files[0].after or ""


def _proved(linen: Any, native: Any, name: str, streams: list[str], **fields: str) -> bool:
    cls = getattr(native, name)

    def made() -> Any:
        return cls(**fields, in_features=3, rngs=nnx.Rngs(0, **{stream: i + 1 for i, stream in enumerate(streams)}))

    x = jax.ShapeDtypeStruct((2, 3), "float32")
    module = getattr(linen, name)(**fields)
    report = compare_migrated(module, made, x, rngs=streams, numbers_if_not_proved=False, train=True)
    return bool(report.proved)


@pytest.mark.parametrize("name, streams", [("TwoStreams", ["dropout", "noise"]), ("StreamInSetup", ["noise"])])
def test_draws_are_proved(sides: tuple[Any, str], name: str, streams: list[str]) -> None:
    linen, after = sides
    assert _proved(linen, _module("streams_nnx", after), name, streams)


@pytest.mark.parametrize("kind", ["normal", "uniform"])
def test_draws_of_methods_that_are_handed_out_are_proved(sides: tuple[Any, str], kind: str) -> None:
    linen, after = sides
    assert _proved(linen, _module("streams_nnx", after), "DrawnByMethod", ["noise"], kind=kind)


def test_another_stream_is_not_proved(sides: tuple[Any, str]) -> None:
    linen, after = sides
    changed = after.replace("rate=0.2, rng_collection='noise'", "rate=0.2")
    assert changed != after
    assert not _proved(linen, _module("streams_changed", changed), "TwoStreams", ["dropout", "noise"])
