"""Runs programs of several files in one process and prints what each prints, as JSON: folders are the arguments.

A script of its own: XLA's flags are set before jax starts. Weights and dropout masks are functions of their shapes, so that
both sides of a comparison start alike, whoever draws them.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import sys
import traceback
import types
import warnings
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ["JAX_PLATFORMS"] = "cpu"
warnings.simplefilter("ignore")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax._src.nn import initializers  # noqa: E402


def ramp(shape: tuple[int, ...]) -> jax.Array:
    return (0.5 * jnp.sin(1.0 + jnp.arange(np.prod(shape), dtype=jnp.float32))).reshape(shape)


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None, *rest: Any, **options: Any) -> jax.Array:
    size = int(np.prod(shape)) if shape else 1
    return (jnp.arange(size) % 10 < jnp.asarray(p) * 10).reshape(shape or ())


initializers.random = types.SimpleNamespace(  # type: ignore[attr-defined]
    normal=lambda key, shape, *rest, **options: ramp(shape),
    uniform=lambda key, shape, *rest, **options: ramp(shape),
    truncated_normal=lambda key, low, high, shape, *rest, **options: ramp(shape),
    orthogonal=lambda key, n, shape=(), dtype=None, m=None: ramp((n, n if m is None else m)),
    key=jax.random.key,
    split=jax.random.split,
)
jax.random.bernoulli = bernoulli


def run(folder: str) -> str:
    """What `main.py` of a folder prints, with the error that ends it."""
    known = set(sys.modules)
    said = io.StringIO()
    sys.path.insert(0, folder)
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(said):
            runpy.run_path("main.py", run_name="__main__")
    except Exception:
        said.write(traceback.format_exc())
    finally:
        sys.path.remove(folder)
        for name in set(sys.modules) - known:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(folder):
                del sys.modules[name]
    return said.getvalue()


if __name__ == "__main__":
    print("RESULT" + json.dumps({folder: run(folder) for folder in sys.argv[1:]}))
