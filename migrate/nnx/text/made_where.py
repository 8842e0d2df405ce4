"""Where a class's methods make a module, and names that they have not taken."""

from __future__ import annotations

import ast
import itertools
import keyword

from ...linen.execution.execute import Execution
from ...linen.values.detached import DETACHED
from ...linen.values.sites import Site, Unmigratable
from ...linen.values.wrappers import is_wrapper
from ...source import SourceFile
from ...trees import subtree


def is_handed(run: Execution, site: Site) -> bool:
    """Is it an argument of another module's constructor: `Residual(nn.Dense(4))(x)`?"""
    makers = {other.node for other in run.sites if other is not site and not is_wrapper(other)}
    around = itertools.takewhile(lambda node: not isinstance(node, ast.stmt), site.source.ancestors(site.node))
    within: ast.AST = site.node
    for node in around:
        if node in makers and isinstance(node, ast.Call) and within is not node.func:
            return True
        within = node
    return False


def method_of(site: Site) -> ast.AST | None:
    """The method whose text makes the site."""
    source, call = site.anchor()
    chain = [a for a in source.ancestors(call) if isinstance(a, ast.FunctionDef)]
    return chain[-1] if chain else None


def home_of(run: Execution, node: ast.AST) -> SourceFile:
    """The file in which a node of the class's methods stands: of its own, or of a base that another file defines."""
    own: SourceFile = run.model.source
    return next((owner.source for owner in run.model.mro() if node in owner.source.parents), own)


def outermost(run: Execution, sites: list[Site]) -> ast.stmt:
    """The statement of the method's body that holds the first site."""
    source = sites[0].anchor()[0]
    best: ast.stmt | None = None
    for site in sites:
        call = site.anchor()[1]
        chain = [a for a in [call, *source.ancestors(call)] if isinstance(a, ast.stmt)]
        functions = [i for i, a in enumerate(chain) if isinstance(a, ast.FunctionDef)]
        if not functions:
            raise Unmigratable("NNX158", "modules are made outside of a method", site.node)
        top = chain[functions[-1] - 1]
        if best is None or top.lineno < best.lineno:
            best = top
    assert best is not None
    return best


def fresh_counter(run: Execution, node: ast.For) -> str:
    used = {n.id for n in subtree(node) if isinstance(n, ast.Name)}
    for name in ("i", "j", "k", "index"):
        if name not in used and name not in run.fields:
            return name
    return "index_"


def fresh_name(run: Execution, name: str) -> str:
    used = {n.id for m in run.model.methods().values() for n in m.nodes if isinstance(n, ast.Name)}
    used |= set(run.fields)
    stem = f"{name}s"
    while stem in used or keyword.iskeyword(stem):
        stem += "_"
    return stem


def own_name_of(run: Execution, site: Site, name: str) -> str:
    """The attribute for a name; another one for what has no name in Linen, where something else has that."""
    taken = {s.name.constant for s in run.sites if s.name is not None and s is not site} | run.fields.keys()
    while DETACHED in site.renders and (name in taken or name in run.model.methods()):
        name += "_"
    return name
