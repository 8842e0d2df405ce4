"""Eight virtual devices for every test, whichever files a run selects; jax must not have been started before."""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = " ".join(
    [
        *(f for f in os.environ.get("XLA_FLAGS", "").split() if "device_count" not in f),
        "--xla_force_host_platform_device_count=8",
    ]
)
os.environ.setdefault("JAX_PLATFORMS", "cpu")
