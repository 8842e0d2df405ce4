"""The sharding helpers of the generated parity module, as other writers ask for them."""

from __future__ import annotations

from ..context import FileContext


def parity_name(ctx: FileContext, part: str) -> str:
    """Text that means the helper `part` in this file; the parity module gets it, and the file its import."""
    from . import parity

    return parity.use(ctx, part)
