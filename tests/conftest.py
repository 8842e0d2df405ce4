"""Eight virtual devices for every test, whichever files a run selects; jax must not have been started before.

What jax compiles is kept in `build/` for the next run, of this process only: programs that tests start compile themselves.
Nothing of it runs for long, so that it is compiled as quickly as can be: that halves the time of a first run.
"""

from __future__ import annotations

import collections
import os
from pathlib import Path

os.environ["XLA_FLAGS"] = " ".join(
    [
        *(f for f in os.environ.get("XLA_FLAGS", "").split() if "device_count" not in f),
        "--xla_force_host_platform_device_count=8",
        "--xla_backend_optimization_level=0",
        "--xla_llvm_disable_expensive_passes=true",
        "--xla_cpu_use_fusion_emitters=false",
    ]
)
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import pytest

jax.config.update("jax_compilation_cache_dir", str(Path(__file__).resolve().parent.parent / "build" / "jax-cache"))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)

_TESTS = 200  # after so many, what is compiled is let go: a process may hold 65,530 pieces of memory, some 50 for a test
_run = 0


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`one_in(n)`: of a function's cases that are not slow already, only every n-th stays quick."""
    seen: collections.Counter[str] = collections.Counter()
    for item in items:
        marker = item.get_closest_marker("one_in")
        if marker is None or item.get_closest_marker("slow"):
            continue
        function = item.nodeid.partition("[")[0]
        if seen[function] % marker.args[0]:
            item.add_marker(pytest.mark.slow)
        seen[function] += 1


def pytest_runtest_teardown() -> None:
    """Clear jax's caches now and then: a worker that runs thousands of tests ends in a segmentation fault otherwise."""
    global _run
    _run += 1
    if _run % _TESTS == 0:
        jax.clear_caches()
