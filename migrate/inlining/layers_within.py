"""Subclasses of a Linen layer that add to its call: `class PaddedConv(nn.Conv)` with fields, and `super().__call__(x)`.

The layer is a submodule that shares the class's scope: the same variables, under the same names.

    @nn.compact                                   @nn.compact
    def __call__(self, x):                        def __call__(self, x):
      x = jnp.pad(x, self.pads)                     layer = nn.Conv(features=self.features, ...)
      return super().__call__(x)                    nn.share_scope(self, layer)
                                                    x = jnp.pad(x, self.pads)
                                                    return layer(x)
"""

from __future__ import annotations

import ast

from ..catalog import layers
from ..edits import EditSet
from ..linen.project.index import Project
from ..linen.project.layer_fields import SELDOM, WHOLE, said_somewhere
from ..source import SourceFile
from ..trees import subtree
from .bindings import free_name

_COMPACT = "flax.linen.compact"
_EMBED = "flax.linen.Embed"  # whose `setup` makes its table
_OF_LINEN = frozenset({"setup", "param", "variable", "make_rng", "__post_init__", "__getattr__", "__setattr__"})
_BRANCHES = ast.If | ast.IfExp | ast.BoolOp | ast.For | ast.While | ast.Try | ast.With | ast.comprehension


def with_layer_within(project: Project, source: SourceFile, model: ast.ClassDef) -> str | None:
    """The file with the layer as a submodule of such a class; None where it is no such class."""
    base = project.qualname(source, model.bases[0]) if len(model.bases) == 1 else None
    if base not in WHOLE or source.shares_line(model.body[-1]) or _hides_the_layer(model, base):
        return None
    linen = next((local for local, dotted in source.names.module_imports.items() if dotted == "flax.linen"), "")
    method = _call_of(model)
    if not linen or method is None or source.names.is_hidden(linen, method):
        return None
    within = f"\n{source.indent_of(method)}{source.indent_unit * 2}"
    made = f"{source.text_of(model.bases[0])}({''.join(f'{within}{f}=self.{f},' for f in _fields(project, base))}"
    return (_of_setup if base == _EMBED else _of_call)(project, source, model, method, linen, made)


def _of_call(
    project: Project, source: SourceFile, model: ast.ClassDef, method: ast.FunctionDef, linen: str, made: str
) -> str | None:
    """The layer made at the beginning of `__call__`."""
    calls = _asked_of_layer(source, model, [method], ("__call__",))
    if not calls:
        return None
    name, indent = free_name("layer", _taken(project, model)), source.indent_of(method.body[0])
    edits = EditSet(source.text)
    if not any(project.qualname(source, d) == _COMPACT for d in method.decorator_list):
        edits.insert(source.line_start(source.span(method).start), f"{source.indent_of(method)}@{linen}.compact\n")
    first = method.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(method.body) > 1
    lines = f'{indent}{name} = {made} name="{name}")\n{indent}{linen}.share_scope(self, {name})\n'
    edits.insert(source.line_span(method.body[1 if documented else 0]).start, lines)
    for call in calls:
        edits.replace(source.span(call), name)
    return edits.render()


def _of_setup(
    project: Project, source: SourceFile, model: ast.ClassDef, method: ast.FunctionDef, linen: str, made: str
) -> str | None:
    """The table made in `setup`, where Linen makes it, for a `__call__` that looks something up whatever it is given."""
    methods = [s for s in model.body if isinstance(s, ast.FunctionDef)]
    asked = _asked_of_layer(source, model, methods, ("__call__", "attend"))
    first = next((a for a in asked if source.function_of(a) is method), None)
    if first is None or not _is_in_every_call(source, method, first):
        return None
    tables = [n for n in subtree(model) if isinstance(n, ast.Attribute) and n.attr == "embedding"]
    elsewhere = any(_reads_table(file) for file in project.files.values())
    elsewhere = elsewhere or "embedding" in _words(_derived(project, model))
    if elsewhere or any(isinstance(n.ctx, ast.Store) for n in tables):
        return None
    name, indent, unit = free_name("layer", _taken(project, model)), source.indent_of(method), source.indent_unit
    lines = f"{indent}def setup(self):\n{indent}{unit}self.{name} = {made})\n"
    lines += f"{indent}{unit}{linen}.share_scope(self, self.{name})\n\n"
    if not any(m.name == "attend" for m in methods) and any("attend" in file.words for file in project.files.values()):
        lines += f"{indent}def attend(self, query):\n{indent}{unit}return self.{name}.attend(query)\n\n"
    edits = EditSet(source.text)
    edits.insert(_above_comments(source, methods[0]), lines)
    for node in asked:
        edits.replace(source.span(node), f"self.{name}{'.attend' if node.attr == 'attend' else ''}")
    for node in tables:
        edits.replace(source.span(node), f"self.{name}.embedding")
    return edits.render()


def _above_comments(source: SourceFile, method: ast.FunctionDef) -> int:
    """Where a method begins, with the comments that stand right above it."""
    at = source.line_start(source.full_span(method).start)
    while at and source.text[(above := source.line_start(at - 1)) : at].lstrip().startswith("#"):
        at = above
    return at


def _call_of(model: ast.ClassDef) -> ast.FunctionDef | None:
    """The class's `__call__`, with lines of its own."""
    found = [s for s in model.body if isinstance(s, ast.FunctionDef) and s.name == "__call__"]
    return None if len(found) != 1 or found[0].body[0].lineno == found[0].lineno else found[0]


def _asked_of_layer(
    source: SourceFile, model: ast.ClassDef, methods: list[ast.FunctionDef], words: tuple[str, ...]
) -> list[ast.Attribute]:
    """Where methods call the layer, as `super().__call__`; none where the class asks its base for anything else."""
    supers = [n for n in subtree(model) if isinstance(n, ast.Name) and n.id in ("super", "__class__")]
    bases = ("super()", f"super({model.name}, self)")
    nodes = (n for method in methods for n in subtree(method) if isinstance(n, ast.Attribute) and n.attr in words)
    found = [n for n in nodes if ast.unparse(n.value) in bases]
    called = all(isinstance(call := source.parents[n], ast.Call) and call.func is n for n in found)
    own = all(source.function_of(n) in methods and _is_self(source.function_of(n)) for n in found)
    return found if called and own and len(found) == len(supers) else []


def _is_self(method: ast.FunctionDef | None) -> bool:
    """Is it a method that calls its module `self` throughout?"""
    if method is None or [a.arg for a in [*method.args.posonlyargs, *method.args.args]][:1] != ["self"]:
        return False
    return not any(isinstance(n, ast.Name) and n.id == "self" and not isinstance(n.ctx, ast.Load) for n in subtree(method))


def _is_in_every_call(source: SourceFile, method: ast.FunctionDef, node: ast.AST) -> bool:
    """Does no call of a method go without what stands there?"""
    around = [a for a in source.ancestors(node) if a in set(subtree(method))]
    leaving = [n for n in subtree(method) if isinstance(n, ast.Return | ast.Raise) and n not in around]
    return not any(isinstance(a, _BRANCHES) for a in around) and all(n.lineno > node.lineno for n in leaving)  # type: ignore[attr-defined]


def _reads_table(source: SourceFile) -> bool:
    """Does a file read an `embedding` of anything but `self`, or say its name in a string?"""
    if "embedding" not in source.words:
        return False
    read = (n for n in source.by_kind.get(ast.Attribute, ()) if isinstance(n, ast.Attribute) and n.attr == "embedding")
    said = (n for n in source.by_kind.get(ast.Constant, ()) if isinstance(n, ast.Constant) and n.value == "embedding")
    return any(said) or not all(isinstance(n.value, ast.Name) and n.value.id == "self" for n in read)


def _derived(project: Project, model: ast.ClassDef) -> list[ast.ClassDef]:
    """The classes that inherit from one."""
    found = [name for name, info in project.linen_classes.items() if info.node.name == model.name]
    for name in found:
        found += [other for other, info in project.linen_classes.items() if name in info.bases and other not in found]
    return [project.linen_classes[name].node for name in found if project.linen_classes[name].node.name != model.name]


def _words(classes: list[ast.ClassDef]) -> set[str]:
    """The names and attributes in these classes."""
    nodes = [n for owner in classes for n in subtree(owner)]
    names = {getattr(n, "id", getattr(n, "attr", getattr(n, "arg", getattr(n, "name", None)))) for n in nodes}
    return {name for name in names if isinstance(name, str)}


def _taken(project: Project, model: ast.ClassDef) -> set[str]:
    """What the layer may not be called."""
    return _words([model, *_derived(project, model)])


def _hides_the_layer(model: ast.ClassDef, base: str) -> bool:
    """Does the class define what the layer's own text reads: another `param`, a property, a field that is no argument?"""
    layer = layers.lookup(base)
    assert layer is not None
    parameters = {p.name for p in layer.parameters}
    names = {s.name for s in model.body if isinstance(s, ast.FunctionDef | ast.ClassDef)}
    names |= {t.id for s in model.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
    return bool(names & (_OF_LINEN | (WHOLE[base] - {"attend"}) | parameters))


def _fields(project: Project, base: str) -> list[str]:
    """The layer's fields that the class has, see `linen/project/layer_fields.py`."""
    layer = layers.lookup(base)
    assert layer is not None
    files = list(project.files.values())
    return [p.name for p in layer.parameters if p.name not in SELDOM or said_somewhere(p.name, files)]


__all__ = ["with_layer_within"]
