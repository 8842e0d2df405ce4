"""Modules that are reached along several paths, or in a dict: under which path Linen stores their variables.

`nnx.state` gives a shared variable once, at the first path in alphabetical order (`decoder/embed/embedding`); Linen
stores it where the module was first attached (`shared/embedding`). Linen attaches what a module is handed through its
fields first, in the order of the fields, each with all that it holds in turn; then what `setup` or a compact method
makes. Fields are the parameters of an NNX constructor, so the same walk over the objects finds Linen's path of each.
A module names in `shares_scope` the submodules for which `nn.share_scope` took away the level of their own.
Of what is no parameter a module's own attribute comes before what its other attributes hold: the migration leaves code
that attaches in another order in Linen (NNX127), since the order of attributes is lost when a model is split and merged.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

Path = tuple[Any, ...]


def linen_paths(target: Any) -> dict[Path, Path]:
    """NNX path → Linen's path, for every variable of a model (or container of models) whose two paths differ."""
    from flax import nnx

    places = _places(target)
    found: dict[Path, Path] = {}
    for path, node in nnx.iter_graph(target):
        if isinstance(node, nnx.Variable):
            place = places.get(id(node), path)
            if place != tuple(path):
                found[tuple(path)] = place
    return found


def _places(target: Any) -> dict[int, Path]:
    """Variable (by identity) → Linen's path."""
    from flax import nnx

    claimed: dict[int, Path] = {}
    variables: dict[int, Path] = {}
    owned = _owned(target)

    def claim(node: Any, path: Path) -> None:
        """A node and all that it holds, unless another has it already."""
        if id(node) in claimed:
            return
        claimed[id(node)] = path
        walk(node, path)

    def walk(node: Any, path: Path) -> None:
        children = _children(node)
        fields = [name for name in _parameters(node) if name in children]
        open_ = getattr(node, "__dict__", {}).get("shares_scope", ())  # what these hold is stored as the module's own
        own = [name for name in children if name not in fields]
        for name in fields:
            if id(children[name]) not in owned:  # else some module made it for itself, and has it
                enter(children[name], (*path, name))
        direct: list[tuple[Any, Path]] = []
        for name in own:
            inner = path if name in open_ else _entry(node, path, name, children[name])
            reserve(children[name], inner, direct)
        for child, place in direct:
            walk(child, place)

    def enter(child: Any, path: Path) -> None:
        if isinstance(child, nnx.Variable):
            variables.setdefault(id(child), path)
        else:
            claim(child, path)

    def reserve(child: Any, path: Path, direct: list[tuple[Any, Path]]) -> None:
        """An attribute that is a module, or a container of such, belongs here before anything is looked into."""
        if isinstance(child, nnx.Variable):
            variables.setdefault(id(child), path)
        elif id(child) not in claimed:
            claimed[id(child)] = path
            if _is_container(child):
                for key, item in _children(child).items():
                    reserve(item, _entry(child, path, key, item), direct)
            else:
                direct.append((child, path))

    claim(target, ())
    return variables


def _entry(node: Any, path: Path, key: Any, child: Any) -> Path:
    """Where Linen has what a module or container holds: the module `a` of the dict `heads` is `heads_a`.

    The entries of lists keep their numbers here; `target.linen_key` joins them. One that says its name in `linen_name`
    (`linen_parity.named`) has that.
    """
    from flax import nnx

    own = getattr(child, "__dict__", {}).get("linen_name") if path and _is_container(node) else None
    if own is not None:
        head = list(path)
        while isinstance(head[-1], int) and len(head) > 1:
            head.pop()
        return (*head[:-1], own)
    if not path or not isinstance(node, nnx.Dict) or isinstance(child, nnx.Variable):
        return (*path, key)
    name, head = str(key), list(path)
    while head and isinstance(head[-1], int):
        name = f"{head.pop()}_{name}"
    return (*head[:-1], f"{head[-1]}_{name}") if head else (*path, key)


def _owned(target: Any) -> set[int]:
    """Modules (by identity) that some module has as an attribute that is no field: it made them itself."""
    from flax import nnx

    found: set[int] = set()

    def take(child: Any) -> None:
        found.add(id(child))
        if _is_container(child):
            for item in _children(child).values():
                take(item)

    for _, node in nnx.iter_graph(target):
        if isinstance(node, nnx.Module) and not _is_container(node):
            children, fields = _children(node), _parameters(node)
            handed_in = {id(children[name]) for name in fields if name in children}
            for name, child in children.items():
                if name not in fields and id(child) not in handed_in:
                    take(child)
    return found


def _children(node: Any) -> Mapping[Any, Any]:
    """The nodes and variables that a node holds, by name, in the order in which it got them.

    The entries of a container come in the order of their names, as Linen goes through them.
    """
    from flax import nnx

    implementation = nnx.graph.get_node_impl(node)
    if implementation is None:
        return {}
    found = {
        name: child
        for name, child in dict(implementation.node_dict(node)).items()
        if isinstance(child, nnx.Variable) or nnx.graph.is_node(child)
    }
    if _is_container(node):
        return dict(sorted(found.items(), key=lambda item: str(item[0])))
    order = {name: position for position, name in enumerate(getattr(node, "__dict__", ()))}
    return dict(sorted(found.items(), key=lambda item: order.get(item[0], len(order))))


def _parameters(node: Any) -> tuple[str, ...]:
    """The parameters of a module's constructor: Linen's fields, in their order. Containers have none."""
    from flax import nnx

    if not isinstance(node, nnx.Module) or _is_container(node):
        return ()
    try:
        return tuple(inspect.signature(type(node).__init__).parameters)
    except (TypeError, ValueError):
        return ()


def _is_container(node: Any) -> bool:
    from flax import nnx

    return isinstance(node, (nnx.List, nnx.Dict, list, tuple, dict))
