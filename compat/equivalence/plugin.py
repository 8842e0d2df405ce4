"""A pytest fixture for people's own suites: `pytest_plugins = ["nnx_migrate.compat.equivalence.plugin"]`.

    def test_migrated(assert_equivalent):
        assert_equivalent(OldNet(4), lambda: Net(4, in_features=3, rngs=nnx.Rngs(0)), jnp.ones((2, 3)))

jax is imported when the fixture is first used, not when pytest loads the plugin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def assert_equivalent() -> Callable[..., Any]:
    """Compare a Linen module with a factory of its NNX counterpart on example arguments; fails with the report.

    The arguments are those of `compare_migrated`; `at_least` is the verdict that is wanted (`close` by default: proved,
    bitwise and close pass). Returns the report.
    """

    def check(linen_module: Any, nnx_factory: Callable[[], Any], *args: Any, at_least: str = "close", **options: Any) -> Any:
        from .api import compare_migrated
        from .report import NotEquivalent, Verdict

        report = compare_migrated(linen_module, nnx_factory, *args, **options)
        order = list(Verdict)
        if not report.equal or order.index(report.verdict) > order.index(Verdict(at_least)):
            raise NotEquivalent(report)
        return report

    return check


__all__ = ["assert_equivalent"]
