"""What the tests need of gin: it registers classes and functions, and gives them what is bound for their names."""

from __future__ import annotations

import functools
import inspect
from typing import Any

REQUIRED = object()
_bindings: dict[str, dict[str, Any]] = {}
_registered: set[str] = set()


def configurable(name_or_fn: Any = None, module: str | None = None, denylist: Any = None, allowlist: Any = None) -> Any:
    """Gin's decorator, with and without arguments."""
    if not isinstance(name_or_fn, str | None):
        return _register(name_or_fn, name_or_fn.__name__, None, ())
    listed = [*(denylist or ()), *(allowlist or ())]
    return lambda found: _register(found, name_or_fn or found.__name__, module, listed)


def _register(found: Any, name: str, module: str | None, listed: Any) -> Any:
    selector = f"{module or found.__module__}.{name}"
    if any(known.rpartition(".")[2] == name for known in _registered - {selector}):
        raise ValueError(f"{name} is registered twice")
    _registered.add(selector)
    made = found.__init__ if isinstance(found, type) else found
    signature = inspect.signature(made)
    if any(name not in signature.parameters for name in listed):
        raise ValueError(f"{listed} names what {found} does not take")

    @functools.wraps(made)
    def configured(*args: Any, **kwargs: Any) -> Any:
        kwargs = {name: value for name, value in kwargs.items() if value is not REQUIRED}
        given = signature.bind_partial(*args, **kwargs).arguments
        bound = {name: value for name, value in get_bindings(selector).items() if name not in given}
        for name, parameter in signature.parameters.items():
            if parameter.default is REQUIRED and name not in given and name not in bound:
                raise RuntimeError(f"{name} is required")
        return made(*args, **kwargs, **bound)

    if made is found:
        return configured
    found.__init__ = configured
    return found


def get_bindings(selector: str) -> dict[str, Any]:
    """What is bound for a name."""
    if selector not in _registered:
        raise ValueError(f"{selector} is not registered")
    return dict(_bindings.get(selector, {}))


def bind(selector: str, **values: Any) -> None:
    _bindings.setdefault(selector, {}).update(values)


def clear_config() -> None:
    _bindings.clear()


def forget() -> None:
    """Forget what has been registered, for another side of a program."""
    _registered.clear()
    _bindings.clear()
