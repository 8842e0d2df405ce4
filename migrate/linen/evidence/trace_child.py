"""Runs in a subprocess with the user's Python: calls one function abstractly and records every Linen module call.

Usage: python trace_child.py MODULE:CALLABLE OUTPUT.json

The callable needs no arguments. It may initialise or apply modules itself, or return a module with example inputs,
`(module, *inputs)`, which is then initialised. Everything happens inside `jax.eval_shape`: no array is computed.
This file stands alone: it imports nothing of this package, which the user's Python may not have.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import traceback
from typing import Any

# Environment the run wants unless the user chose otherwise: an accelerator is of no use to shapes.
os.environ.setdefault("JAX_PLATFORMS", "cpu")


def _shape(value: Any) -> list[int] | None:
    shape = getattr(value, "shape", None)
    if shape is None or not hasattr(value, "dtype"):
        return [] if isinstance(value, int | float) and not isinstance(value, bool) else None
    return [int(size) for size in shape]


def _plain(value: Any) -> Any:
    """Fields and arguments that JSON can hold."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return None


def _location(cls: type) -> dict[str, str]:
    try:
        file = inspect.getsourcefile(cls) or ""
    except (TypeError, OSError):
        file = ""
    return {"module": cls.__module__, "qualname": cls.__qualname__, "file": os.path.abspath(file) if file else ""}


class Recorder:
    """Notes the first call of every method of every module instance, by its path."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self._seen: set[tuple[Any, ...]] = set()

    def interceptor(self, next_function: Any, args: Any, kwargs: Any, context: Any) -> Any:
        module = context.module
        key = (type(module), tuple(module.path) if module.scope is not None else (), context.method_name)
        if module.scope is not None and context.method_name != "setup" and key not in self._seen:
            self._seen.add(key)
            self.calls.append(self._call(module, context.method_name, args, kwargs))
        return next_function(*args, **kwargs)

    def _call(self, module: Any, method: str, args: Any, kwargs: Any) -> dict[str, Any]:
        parent = getattr(module, "parent", None)
        fields = {}
        for name in getattr(module, "__dataclass_fields__", {}):
            if name not in ("parent", "name"):
                fields[name] = _plain(getattr(module, name, None))
        arguments: dict[str, Any] = {}
        try:
            bound = inspect.signature(getattr(type(module), method)).bind(module, *args, **kwargs)
        except (AttributeError, TypeError, ValueError):  # a lifted class calls through a lambda
            bound = None
        if bound is not None:
            for name, value in list(bound.arguments.items())[1:]:
                arguments[name] = _shape(value)
        return {
            "class": _location(type(module)),
            "parent": _location(type(parent)) if hasattr(parent, "scope") and hasattr(parent, "path") else None,
            "name": module.name,
            "path": list(module.path),
            "method": method,
            "arguments": {name: shape for name, shape in arguments.items() if shape is not None},
            "fields": {name: value for name, value in fields.items() if value is not None},
        }


def _target(text: str) -> Any:
    module_name, _, name = text.partition(":")
    if not module_name or not name:
        raise ValueError(f"{text!r} is not MODULE:CALLABLE")
    found: Any = importlib.import_module(module_name)
    for part in name.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise TypeError(f"{text} is not callable")
    return found


def trace(text: str) -> list[dict[str, Any]]:
    """The recorded calls of running the target abstractly."""
    sys.path.insert(0, os.getcwd())
    function = _target(text)
    import jax
    from flax import linen as nn

    recorder = Recorder()

    def run() -> int:
        result = function()
        if isinstance(result, nn.Module):
            raise TypeError(f"{text} returned a module without inputs; return (module, *inputs)")
        if isinstance(result, tuple) and result and isinstance(result[0], nn.Module):
            module, *inputs = result
            keys = {name: jax.random.PRNGKey(0) for name in ("params", "dropout", "default")}
            module.init(keys, *inputs)
        return 0

    with nn.intercept_methods(recorder.interceptor):
        jax.eval_shape(run)
    return recorder.calls


def main(text: str, output: str) -> int:
    try:
        report: dict[str, Any] = {"version": 1, "calls": trace(text)}
    except BaseException as error:  # whatever the user's code raises is reported, sys.exit included
        report = {"version": 1, "error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
    with open(output, "w", encoding="utf-8") as file:
        json.dump(report, file)
    return 1 if "error" in report else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: trace_child.py MODULE:CALLABLE OUTPUT.json")
    # Not through `__main__`'s own directory: it holds this package's modules, not the user's.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    sys.exit(main(sys.argv[1], sys.argv[2]))
