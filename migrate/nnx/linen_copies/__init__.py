"""Linen copies of classes that become native, for the classes that stay Linen and use them.

A class P that stays Linen can hold Linen modules only. Where it uses a class C that becomes an nnx.Module, the Linen text
of C is kept as it was, with all that it needs, in a module `<file>_linen.py` beside the file, and P's references to C are
pointed to it. So P computes what it did, under the same parameter names, with the same random numbers and checkpoints.
`nnx.bridge.to_linen(C, ...)` inside of P would do neither: its variables have other keys, its parameters other streams.

The module has another name (`<file>_linen_copies.py`) in a project that has a file of its own where one would stand.

`references` reads what a definition refers to, `settle` decides which definitions are kept and which classes must stay
Linen after all, `recipe` says what such a module is made of, `write` makes its text and points the references to it.
"""

from .file_names import is_copy_module
from .references import References
from .settle import Copies, of_earlier_runs, settle
from .write import add_plans, applies, copy_sources, finish, write

__all__ = [
    "Copies",
    "References",
    "add_plans",
    "applies",
    "copy_sources",
    "finish",
    "is_copy_module",
    "of_earlier_runs",
    "settle",
    "write",
]
