"""Readers of every on-disk layout behind one interface: `open_checkpoint`."""

from __future__ import annotations

from .base import Checkpoint, Index, Key, Leaf, StoredSharding
from .locate import list_steps, open_checkpoint

__all__ = ["Checkpoint", "Index", "Key", "Leaf", "StoredSharding", "list_steps", "open_checkpoint"]
