"""Functions that nothing of the project mentions, and that take a Linen state: no call says which model theirs is.

    @jax.jit
    def eval_step(state, batch):  # in steps.py, of which the program imports train_step alone
      return loss_of(state.apply_fn({'params': state.params}, batch['x']), batch['y'])

They are left as they are, and marked where the states of their program became something else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ...context import FileContext
from ...diagnostics import Severity
from ...linen.flow.flow import Flow
from ...linen.flow.flow_values import Method, Nothing, State
from ...linen.flow.unmentioned import is_unmentioned
from ...source import SourceFile
from ...trees import subtree
from .components import Component
from .passed_trees import PassedTrees
from .rewrite import Unsupported


def report(changed: Iterable[Component], flow: Flow, contexts: dict[str, FileContext]) -> None:
    """NNX609, in the files that run with models whose variables are no dictionaries any more."""
    project = flow.project
    changed = list(changed)
    for helper, value in flow.unmentioned.items():
        if any(component.holds(value) for component in changed):
            contexts[flow.source_of[helper].module].report(
                helper,
                "NNX609",
                f"nothing here calls {helper.name}: it takes what its program has for the params of the model",
                help="Where another program calls it, migrate the two together.",
            )
    sites = [site for component in changed for site in component.sites]
    if not sites:
        return
    for module in sorted(project.running_with({flow.site_source[site].module for site in sites})):
        source = project.files[module]
        for function in source.tree.body:
            asked = next(_asked(flow, source, function), None) if isinstance(function, ast.FunctionDef) else None
            if isinstance(function, ast.FunctionDef) and asked and is_unmentioned(flow.project, source, function):
                contexts[module].report(
                    function,
                    "NNX609",
                    f"nothing here calls {function.name}, which takes {asked} of Linen: it is left as it was",
                    severity=Severity.WARNING,
                    help="Take it out, or write it for what the functions beside it take now. Where another program "
                    "calls it, migrate the two together.",
                )


def check_states(form: PassedTrees) -> None:
    """Unsupported where a state that nobody follows would be asked for the function that it has no more."""
    modules = {form.source(node).module for node, value in form.tracked() if isinstance(value, State)}
    for name in sorted({reader.module for module in modules for reader in form.readers(module)}):
        source = form.flow.project.files[name]
        for node in source.by_kind.get(ast.Attribute, ()):
            if isinstance(node, ast.Attribute) and node.attr == "apply_fn" and node in form.flow.source_of:
                if not isinstance(form.flow.value(node), Method) and not _never_runs(form.flow, source, node):
                    raise Unsupported(node, "a state that is not followed")


def _never_runs(flow: Flow, source: SourceFile, node: ast.AST) -> bool:
    """Does it stand in a function that nothing mentions?"""
    outer = [parent for parent in source.ancestors(node) if isinstance(parent, ast.FunctionDef)]
    return bool(outer) and outer[-1] in source.tree.body and is_unmentioned(flow.project, source, outer[-1])


def _asked(flow: Flow, source: SourceFile, function: ast.FunctionDef) -> Iterator[str]:
    """What such a function asks a parameter for: `state.apply_fn`, `model.apply({'params': params}, x)`."""
    for node in subtree(function):
        if not isinstance(node, ast.Attribute) or node.attr not in ("apply_fn", "apply"):
            continue
        if not isinstance(node.value, ast.Name):
            continue
        scope = source.names.binding_scope(node.value.id, node.value)
        if scope is not function or not isinstance(flow.value(node.value), Nothing):
            continue
        call = source.parents[node]
        variables = call.args[0] if isinstance(call, ast.Call) and call.func is node and call.args else None
        if node.attr == "apply_fn":
            yield "a state"
        elif node.attr == "apply" and isinstance(variables, ast.Dict):
            if any(isinstance(key, ast.Constant) and key.value == "params" for key in variables.keys):
                yield "a model"
