"""`@gin.configurable(denylist=["name"])`: gin refuses a list that names what the constructor does not take.

Every Linen module takes `name` and `parent`, no NNX module does.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .class_write import ClassWriter

_GIN = frozenset({"gin.configurable", "gin.register", "gin.config.configurable", "gin.config.register"})
_LISTS = frozenset({"denylist", "allowlist", "blacklist", "whitelist"})
_OF_LINEN = frozenset({"name", "parent"})


def write(writer: ClassWriter) -> None:
    """Take the arguments that are Linen's own out of the lists of a class's decorators."""
    source = writer.source
    for decorator in writer.model.node.decorator_list:
        if not isinstance(decorator, ast.Call) or writer.run.project.qualname(source, decorator.func) not in _GIN:
            continue
        for keyword in decorator.keywords:
            listed = keyword.value.elts if isinstance(keyword.value, ast.List | ast.Tuple) else []
            left = [item for item in listed if not (isinstance(item, ast.Constant) and item.value in _OF_LINEN)]
            if keyword.arg not in _LISTS or len(left) == len(listed):
                continue
            denied = keyword.arg in ("denylist", "blacklist")  # an allowlist of nothing allows nothing
            if not left and denied and len(decorator.keywords) == 1 and not decorator.args:
                writer.put(decorator, source.span(decorator.func))
            elif not left and denied:
                writer.put(keyword.value, "None")
            else:
                parts = [part for item in left for part in (", ", source.span(item))]
                writer.put(keyword.value, "[", *parts[1:], "]")


__all__ = ["write"]
