"""What the tests of modules share."""

from __future__ import annotations

import contextlib
import inspect
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from nnx_migrate.migrate.nnx.classes import later_sizes

# Where jax's initializers find their distributions.
DRAWS = pytest.importorskip("jax._src.random")


def _quick(draw: Callable[..., Any], numbers: Callable[..., np.ndarray]) -> Callable[..., Any]:
    """`draw` for keys that are arrays, without a compiled program for every shape."""

    def drawn(key: Any, *arguments: Any, **keywords: Any) -> Any:
        shape, dtype = keywords.get("shape"), keywords.get("dtype")
        tuples = [a for a in arguments if isinstance(a, tuple | list)]
        shape = shape if shape is not None else tuples[0] if tuples else ()
        dtype = dtype if dtype is not None else arguments[-1] if arguments and arguments[-1] not in tuples else float
        if isinstance(key, jax.core.Tracer) or jnp.issubdtype(dtype, jnp.complexfloating):
            return draw(key, *arguments, **keywords)
        seed = np.asarray(jax.random.key_data(key) if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else key)
        return jnp.asarray(numbers(np.random.RandomState(seed.astype(np.uint32).ravel()), tuple(shape)), dtype)

    return drawn


def _normal(random: np.random.RandomState, shape: Sequence[int]) -> np.ndarray:
    return random.standard_normal(tuple(shape))


def _clipped(random: np.random.RandomState, shape: Sequence[int]) -> np.ndarray:
    return np.clip(_normal(random, shape), -2, 2)


@pytest.fixture
def sizes_by_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """No class finds sizes by a call (NNX185), which it does as the last resort: tests of what reading the code can tell."""
    monkeypatch.setattr(later_sizes, "may_find", lambda *_: False)


@pytest.fixture
def quick_initializers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of any values: jax compiles its random numbers anew for every shape, which is most of a test's time.

    For tests that carry weights from one side to the other, not for those that compare how a model starts.
    """
    monkeypatch.setattr(DRAWS, "normal", _quick(DRAWS.normal, _normal))
    monkeypatch.setattr(DRAWS, "truncated_normal", _quick(DRAWS.truncated_normal, _clipped))


@contextlib.contextmanager
def drawn_by_shape() -> Iterator[None]:
    """Initializers draw numbers that follow from shapes alone: so both sides of a migration start from the same values."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("normal", "truncated_normal", "uniform", "orthogonal"):
            patch.setattr(DRAWS, name, _by_shape(getattr(DRAWS, name)))
            patch.setattr(jax.random, name, getattr(DRAWS, name))
        yield


def _by_shape(draw: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(draw)

    def drawn(*arguments: Any, **keywords: Any) -> Any:
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        given = bound.arguments
        shape = tuple(map(int, given["shape"] or ()))
        if draw.__name__ == "orthogonal":
            shape = (*shape, given["n"], given["n"] if given["m"] is None else given["m"])
        dtype = jax.dtypes.canonicalize_dtype(given["dtype"] or float)
        part = np.random.RandomState(zlib.crc32(repr(shape).encode())).uniform(size=shape)
        low, high = given.get("lower", given.get("minval", -2.0)), given.get("upper", given.get("maxval", 2.0))
        numbers = low + (high - low) * part
        return jnp.asarray(numbers * (1 + 0.5j) if jnp.issubdtype(dtype, jnp.complexfloating) else numbers, dtype)

    return drawn
