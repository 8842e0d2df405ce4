"""Names in the generated constructor: its own variables against the fields that it is given under the same names."""

from __future__ import annotations

import ast
import functools

from ...linen.execution.execute import Execution
from ...linen.values.sites import Block, For, Local, Unmigratable, steps_of
from ...trees import of_kind, subtree

# What the constructor calls its own parameters, apart from fields and sizes.
RESERVED = frozenset({"rngs"})


def is_identity(step: Local) -> bool:
    """`dtype = self.dtype`: the constructor has the field under that name already."""
    return isinstance(step.statement, ast.Assign) and _keeps_field(step.statement)


def _keeps_field(node: ast.Assign) -> bool:
    target, value = node.targets[0], node.value
    return (
        len(node.targets) == 1
        and isinstance(target, ast.Name)
        and isinstance(value, ast.Attribute)
        and isinstance(value.value, ast.Name)
        and value.value.id == "self"
        and target.id == value.attr
    )


def bound_names(run: Execution) -> frozenset[str]:
    """Names that a constructor of this class may bind: copied assignments, loop targets, what setup assigns."""
    return bound_in_setup(run).union(*[names_bound_in(block) for block in run.blocks.values()])


def bound_in_setup(run: Execution) -> frozenset[str]:
    """Names that the text of setup and of `__post_init__` assigns, other than by `name = self.name`."""
    setup = run.model.method("setup")
    found: set[str] = set(run.computing.names) if run.computing is not None else set()
    if setup is None:
        return frozenset(found)
    identities: set[ast.AST] = set()
    for node in subtree(setup.node):
        if isinstance(node, ast.Assign) and _keeps_field(node):
            identities.update(node.targets)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in identities:
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef) and node is not setup.node:
            found.add(node.name)
    return frozenset(found)


def inner_names(run: Execution) -> frozenset[str]:
    """Names that lambdas, comprehensions and nested functions bind: copied, they would hide a field of that name."""
    found: set[str] = set()
    for method in run.model.methods().values():
        for loop in of_kind(method.node, ast.comprehension):
            found |= {n.id for n in subtree(loop.target) if isinstance(n, ast.Name)}
        inside = [n.args for n in of_kind(method.node, ast.FunctionDef) if n is not method.node]
        for arguments in (*inside, *(n.args for n in of_kind(method.node, ast.Lambda))):
            found |= {a.arg for a in subtree(arguments) if isinstance(a, ast.arg)}
    return frozenset(found)


def names_bound_in(block: Block) -> frozenset[str]:
    """Names that a skeleton binds: copied assignments and loop targets."""
    found: set[str] = set()
    for step in steps_of(block):
        if isinstance(step, Local) and not is_identity(step):
            found |= step.names
        elif isinstance(step, For):
            found |= names_of(step)
    return frozenset(found)


def names_of(step: For) -> frozenset[str]:
    """The names of a loop's target."""
    return _names_in(step.target)


@functools.lru_cache(maxsize=1024)
def _names_in(target: str) -> frozenset[str]:
    return frozenset(n.id for n in subtree(ast.parse(target, mode="eval").body) if isinstance(n, ast.Name))


def refuse_reserved(run: Execution, bound: frozenset[str]) -> None:
    """A local variable of the constructor's that would take the place of a parameter of its own."""
    clash = sorted(bound & RESERVED)
    if clash:
        reason = f"a local variable is called `{clash[0]}`, which the NNX constructor needs for itself"
        raise Unmigratable("NNX151", reason, run.model.node)
