"""Subclasses of `nn.Embed` with a table of their own shape, that look up in it as the layer does: with the layer's text."""

from __future__ import annotations

import ast

from ..edits import EditSet
from ..linen.project.index import Project
from ..linen.project.layer_fields import said_somewhere
from ..source import SourceFile
from ..trees import subtree
from .bindings import free_name

_EMBED = """
{i}def {name}(self, inputs):
{i}{u}if not {jnp}.issubdtype(inputs.dtype, {jnp}.integer):
{i}{u}{u}raise ValueError("Input type must be an integer or unsigned integer.")
{i}{u}embedding = {jnp}.asarray(self.embedding, self.dtype)
{i}{u}if self.num_embeddings == 1:
{i}{u}{u}return {jnp}.broadcast_to(embedding, inputs.shape + (self.features,))
{i}{u}return {jnp}.take(embedding, inputs, axis=0)
"""


def looked_up(project: Project, source: SourceFile, model: ast.ClassDef, setup: ast.FunctionDef) -> str | None:
    """`setup` makes another `self.embedding`, and `super().__call__(ids)` reads it: a method does what the layer does."""
    if [project.qualname(source, base) for base in model.bases] != ["flax.linen.Embed"]:
        return None
    calls = [n for n in subtree(model) if isinstance(n, ast.Call) and _is_layers_call(n)]
    supers = [n for n in subtree(model) if isinstance(n, ast.Name) and n.id in ("super", "__class__")]
    if not calls or len(supers) != len(calls) or not _makes_the_table(setup):
        return None
    methods = [s for s in model.body if isinstance(s, ast.FunctionDef)]
    own = {id(n) for method in methods if _is_of_self(method) for n in subtree(method)}
    jnp = next((local for local, dotted in source.names.module_imports.items() if dotted == "jax.numpy"), "")
    hidden = any(source.names.is_hidden(jnp, n) for n in [*methods, *calls])
    if any(id(call) not in own for call in calls) or not jnp or hidden or source.shares_line(model.body[-1]):
        return None
    if said_somewhere("promote_dtype", project.files.values()):
        return None
    name = free_name("look_up", source.words)
    edits = EditSet(source.text)
    for call in calls:
        edits.replace(source.span(call.func), f"self.{name}")
    text = _EMBED.format(i=source.indent_of(setup), u=source.indent_unit, name=name, jnp=jnp)
    edits.insert(source.line_span(methods[-1]).end, text)
    return edits.render()


def _is_layers_call(node: ast.Call) -> bool:
    """`super().__call__(ids)`."""
    plain = len(node.args) == 1 and not isinstance(node.args[0], ast.Starred) and not node.keywords
    return plain and ast.unparse(node.func) == "super().__call__"


def _makes_the_table(setup: ast.FunctionDef) -> bool:
    """Does `setup` make the parameter that the layer reads, on every path?"""
    for statement in setup.body:
        value = statement.value if isinstance(statement, ast.Assign) else None
        targets = [ast.unparse(t) for t in statement.targets] if isinstance(statement, ast.Assign) else []
        if targets == ["self.embedding"] and isinstance(value, ast.Call):
            return ast.unparse(value.func) == "self.param"
    return False


def _is_of_self(method: ast.FunctionDef) -> bool:
    """A plain method, with no function in it that could have a `self` of its own."""
    nested = any(isinstance(n, ast.FunctionDef | ast.Lambda | ast.ClassDef) for n in subtree(method) if n is not method)
    named = [a.arg for a in [*method.args.posonlyargs, *method.args.args]][:1] == ["self"]
    stored = any(isinstance(n, ast.Name) and n.id == "self" and isinstance(n.ctx, ast.Store) for n in subtree(method))
    return named and not nested and not stored


__all__ = ["looked_up"]
