"""Programs around the classes of a test: a class that nothing outside of modules names may ask for more sizes."""

from __future__ import annotations

import re


def named_outside(text: str) -> str:
    """The text, with code that names its classes outside of modules."""
    names = re.findall(r"^class (\w+)", text, re.MULTILINE)
    return f"{text.rstrip()}\n\n\nMODELS = [{', '.join(names)}]\n"
