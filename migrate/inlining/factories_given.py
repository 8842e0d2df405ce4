"""What a `default_factory` makes, given by each call of the class that leaves it out: the same Linen program.

    mlp: nn.Module = field(default_factory=MLP)         mlp: nn.Module = None
    ...                                                 ...
    x = Block(width=8)(x)                               x = Block(width=8, mlp=MLP())(x)

The factory is called while the class is constructed, behind all of its arguments, so that Linen takes what it makes for a
module of whoever constructs: in a compact method it is `MLP_0` there, and not `mlp` below the block.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..catalog import layers
from ..edits import EditSet
from ..linen.project.index import Project
from ..source import SourceFile
from ..trees import subtree
from .callees import NotInlined
from .rewritten import class_of, reparsed


def with_factories_given(project: Project, sources: Mapping[str, SourceFile], qualname: str) -> dict[str, SourceFile]:
    """The files that change; none where the class has no such field. Raises NotInlined where a call cannot be seen."""
    home = sources[project.linen_classes[qualname].source.module]
    model = class_of(home, _last(qualname))
    made = _factories(project, home, model)
    if not made:
        return {}
    if any(qualname in info.bases for info in project.linen_classes.values()):
        raise NotInlined("classes derive from it")
    if any(base in project.linen_classes for base in project.linen_classes[qualname].bases):
        raise NotInlined("its base may have fields before its own")
    if any("flax.linen" in (project.qualname(home, d) or "") or ast.unparse(d) == "classmethod" for d in _decorators(model)):
        raise NotInlined("its class methods construct it")
    for name in made:
        _check_reads(home, model, name)
    places = [s.target.id for s in model.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    if any("ClassVar" in ast.unparse(s.annotation) for s in model.body if isinstance(s, ast.AnnAssign)):
        raise NotInlined("some of its annotations are no fields")
    edits = {home.module: EditSet(home.text)}
    for statement in model.body:
        if isinstance(statement, ast.AnnAssign) and ast.unparse(statement.target) in made:
            assert statement.value is not None
            edits[home.module].replace(home.span(statement.value), "None")
    given = dict[str, int]()
    for source in sources.values():
        if model.name not in source.words:
            continue
        if any(_last(meant) == model.name != local for local, meant in source.names.imports.items()):
            raise NotInlined("a file has another name for it")
        for call in _calls(project, source, qualname):
            text = _arguments(project, source, call, made, places)
            if text:
                edits.setdefault(source.module, EditSet(source.text)).insert(source.span(call).end - 1, text)
                given[source.module] = given.get(source.module, 0) + text.count("=")
    if not given or any("\r" in sources[module].text for module in edits):
        raise NotInlined("no call of it can be changed")
    found = {module: reparsed(sources[module], changed.render()) for module, changed in edits.items()}
    for module, count in given.items():
        before, after = (_given(project, files[module], qualname, made) for files in (sources, found))
        if before + count != after:
            raise NotInlined("what its callers would say means something else there")
    return found


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def _given(project: Project, source: SourceFile, qualname: str, made: Mapping[str, str]) -> int:
    """How many arguments of the class's calls are what its factories make."""
    keywords = [k for call in _calls(project, source, qualname) for k in call.keywords if isinstance(k.value, ast.Call)]
    return sum(project.qualname(source, k.value.func) == made.get(k.arg or "") for k in keywords)  # type: ignore[attr-defined]


def _decorators(model: ast.ClassDef) -> list[ast.expr]:
    methods = [s for s in model.body if isinstance(s, ast.FunctionDef)]
    return [d for method in methods for d in method.decorator_list if not ast.unparse(d).endswith("compact")]


def _factories(project: Project, source: SourceFile, model: ast.ClassDef) -> dict[str, str]:
    """Field → the dotted name of the class that its `default_factory` is."""
    found: dict[str, str] = {}
    for statement in model.body:
        value = statement.value if isinstance(statement, ast.AnnAssign) else None
        if not isinstance(value, ast.Call) or project.qualname(source, value.func) != "dataclasses.field":
            continue
        factory = next((k.value for k in value.keywords if k.arg == "default_factory"), None)
        name = project.qualname(source, factory) or "" if factory is not None else ""
        if name in project.linen_classes or (name.startswith("flax.linen.") and layers.lookup(name) is not None):
            if len(value.keywords) > 1:
                raise NotInlined("its field has options")
            found[ast.unparse(statement.target)] = name  # type: ignore[attr-defined]
    return found


def _check_reads(source: SourceFile, model: ast.ClassDef, field: str) -> None:
    """None in its place must fail, not be another program: the class calls the field, or asks it for something."""
    for node in subtree(model):
        if isinstance(node, ast.Attribute) and node.attr == field and ast.unparse(node.value) == "self":
            parent = source.parents[node]
            asked = isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Call) and parent.func is node)
            if not asked or not isinstance(node.ctx, ast.Load):
                raise NotInlined(f"it does more with `self.{field}` than call it")
        if isinstance(node, ast.Constant) and node.value == field:
            raise NotInlined(f"it says the name of `{field}`")


def _calls(project: Project, source: SourceFile, qualname: str) -> list[ast.Call]:
    """The calls of a class in a file that does nothing else with it."""
    name = _last(qualname)
    found: list[ast.Call] = []
    for node in source.saying(name):
        if project.qualname(source, node) != qualname:
            continue
        parent = source.parents.get(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            found.append(parent)
        elif not _is_annotation(source, node):
            raise NotInlined(f"`{ast.unparse(parent) if parent is not None else name}` is not followed")
    return found


def _is_annotation(source: SourceFile, node: ast.AST) -> bool:
    child = node
    for parent in source.ancestors(node):
        if child in (getattr(parent, "annotation", None), getattr(parent, "returns", None)):
            return True
        if isinstance(parent, ast.stmt | ast.Call):
            return False
        child = parent
    return False


def _arguments(project: Project, source: SourceFile, call: ast.Call, made: Mapping[str, str], places: list[str]) -> str:
    """What a call is to give besides, in the order of the fields."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        raise NotInlined(f"`{ast.unparse(call.func)}` is given arguments that are not written out")
    given = {*places[: len(call.args)], *(k.arg for k in call.keywords)}
    missing = [field for field in made if field not in given]
    if not missing:
        return ""
    text = ", ".join(f"{field}={_name_of(source, call, made[field])}()" for field in missing)
    between = source.text[source.span(call.func).end : source.span(call).end - 1].rstrip()
    return text if between.endswith(("(", ",")) else f", {text}"


def _name_of(source: SourceFile, node: ast.AST, dotted: str) -> str:
    """How a file names a class where it constructs another."""
    names = source.names
    own = {name: f"{source.module}.{name}" for name in names.definitions if name not in names.module_imports}
    for local, meant in (names.module_imports | own).items():
        if dotted == meant or dotted.startswith(f"{meant}."):
            bound = [b for b in names.binders(local) if names.bound_by(b) is None]  # imports are none of these
            if len(bound) == (local in own) and not names.is_hidden(local, node):
                return local + dotted.removeprefix(meant)
    raise NotInlined(f"its caller has no name for `{dotted}`")


__all__ = ["with_factories_given"]
