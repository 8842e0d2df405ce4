"""Classes of packages that are not migrated with the project: `lib.Block(8)(x)`, whose module a native class wraps.

What such a name really is no code here shows. Its first letter says that it is a class, by which Linen names what it makes;
what a function makes is followed in `setup`, which names it. The generated code looks at what was made when it runs. Only a
class that would stay Linen for it is followed so.
"""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path
from typing import Any

from ...source import SourceFile
from ...trees import subtree
from ..values.arguments import Arguments
from ..values.kind_results import make_asked
from ..values.sites import CallRecord, Factory, Site, Unmigratable
from ..values.values import Array, Shape, Unknown, Value
from .bridged_results import OUT_SHAPE
from .lost_factories import factories_in
from .unknown_callees import is_there

_CACHED = re.compile(r"(^|_)(decode|decoding|cache|caching)(_|$)")
_LEVELS = 8  # of folders above a file in which the program's other packages are looked for
_ROOTS = (".git", "pyproject.toml", "setup.py", "setup.cfg")


def may_be_wrapped(project: Any, source: SourceFile, qualname: str) -> bool:
    """Is it of another package for certain?

    What is part of the program, only not of this run, is migrated in the next one: then it is no Linen module any more.
    """
    package = qualname.partition(".")[0]
    if any(module.partition(".")[0] == package for module in project.files):
        return False
    return not any(is_there(folder, package) for folder in _folders(source.path.absolute().parent))


@functools.lru_cache(maxsize=1024)
def _folders(folder: Path) -> list[Path]:
    """The folders of a file's program: up to the root of its repository, or out of its package."""
    found: list[Path] = []
    for parent in [folder, *folder.parents][:_LEVELS]:
        found.append(parent)
        if any((parent / name).exists() for name in _ROOTS):
            return found
    return found[: 1 + next((n for n, f in enumerate(found) if not (f / "__init__.py").exists()), len(found))]


def may_decode(call: ast.Call) -> bool:
    """Does a call speak of a cache? Linen makes that in the first call that may, which is no call of the constructor."""
    for node in subtree(call):
        word = node.arg or "" if isinstance(node, ast.keyword) else getattr(node, "id", getattr(node, "attr", ""))
        if isinstance(word, str) and _CACHED.search(word):
            return True
    return False


def _looks_like_class(qualname: str) -> bool:
    return qualname.rpartition(".")[2][:1].isupper()


def factory(run: Any, qualname: str | None, node: ast.Call, env: Any) -> Factory | None:
    """The class of another package that a call makes an instance of, in a class that is followed with such."""
    if qualname is None or qualname not in run.analyser.foreign.get(run.model.qualname, ()):
        return None
    return Factory(qualname, ast.unparse(node.func), node=node.func, source=env.source)


def is_one(run: Any, target: str) -> bool:
    """Is what makes a module such a class?"""
    return target in run.analyser.foreign.get(run.model.qualname, ())


def check_name(run: Any, target: str, name: Any, node: ast.Call) -> None:
    """Refuse what a function makes, unless `setup` names it by an attribute: its class, or what is done with a name, no code
    here shows.
    """
    if not _looks_like_class(target) and (name is not None or not run.in_setup):
        made = target.rpartition(".")[2]
        raise Unmigratable("NNX150", f"how Linen names what `{made}`, of another package, makes is not known", node)


def check_arguments(run: Any, target: str, arguments: Arguments, env: Any) -> None:
    """Refuse arguments that may be or hold modules: Linen names these after the place where they are made."""
    name = target.rpartition(".")[2]
    for node, found in [*arguments.positional, *((n, a) for _, n, a in arguments.keywords)]:
        holds = run.holds_module(found.value) or next(factories_in(found.value), None) is not None
        if holds or isinstance(node, ast.Starred):
            raise Unmigratable("NNX150", f"`{name}`, of another package, is given `{ast.unparse(node)}`", arguments.node)
        for inner in subtree(node):
            called = run.project.qualname(env.source, inner.func) if isinstance(inner, ast.Call) else None
            if isinstance(inner, ast.Lambda) or (called is not None and _looks_like_class(called)):
                raise Unmigratable("NNX150", f"`{name}`, of another package, is given `{ast.unparse(node)}`", arguments.node)


def result(run: Any, site: Site, method: str, record: CallRecord) -> Value:
    """What calling it gives: one array, where the code does nothing with it that would tell otherwise."""
    nothing = Unknown(f"what {site.target.rpartition('.')[2]} gives, which is of another package")
    given = [*record.args, *record.keywords.values()]
    if method != "__call__" or not any(isinstance(v, Array) for v in given) or len(site.calls) > 1:
        return nothing
    if run.model.qualname in run.analyser.later or site.conditions or _is_taken_apart(site):
        return nothing
    if site.in_setup:
        own_statement = isinstance(site.source.parents.get(site.node), ast.Assign)  # the next ones find it there
        known = bool(site.container) and not site.loops and own_statement
        site.renders[OUT_SHAPE] = known
        return Array(Shape.argument(f"=self.{site.container}.{OUT_SHAPE}")) if known else nothing
    if "block" not in site.renders:
        return nothing
    site.renders[OUT_SHAPE] = True
    return Array(Shape.argument(f"={make_asked(run, site, 'shape', OUT_SHAPE)}"))


def _is_taken_apart(site: Site) -> bool:
    """`x, aux = lib.Block()(x)`, `lib.Block()(x)[0]`, `lib.Block()(x).hidden`: there may be several results."""
    node, _, env = site.calls[-1]
    parent = env.source.parents.get(node)
    if isinstance(parent, ast.Assign):
        if any(isinstance(target, ast.Tuple | ast.List) for target in parent.targets):
            return True
        names = {t.id for t in parent.targets if isinstance(t, ast.Name)}
        function = env.source.function_of(node)
        for inner in subtree(function) if function is not None else ():
            if isinstance(inner, ast.Name) and inner.id in names and isinstance(inner.ctx, ast.Load):
                user = env.source.parents.get(inner)
                if isinstance(user, ast.Subscript) and user.value is inner and isinstance(user.slice, ast.Constant):
                    return True
                if isinstance(user, ast.Assign) and any(isinstance(t, ast.Tuple | ast.List) for t in user.targets):
                    return True
        return False
    return isinstance(parent, ast.Subscript | ast.Attribute | ast.Starred)


__all__ = ["check_arguments", "check_name", "factory", "is_one", "may_be_wrapped", "may_decode", "result"]
