"""Model construction, init, apply, TrainState and loops → nnx.Optimizer and nnx.jit, or pure functions."""

from __future__ import annotations

from ...context import FileContext
from ...linen.flow import self_names
from ...linen.flow.flow import Flow
from ...linen.project.index import Project
from ...plan import Outcome, Plan
from . import (
    adapter,
    asked_types,
    components,
    configured,
    device_copies,
    functional,
    functional_gradients,
    module_names,
    native,
    notices,
    sequences,
    uncalled,
)


def write(project: Project, plan: Plan, contexts: dict[str, FileContext]) -> None:
    """Add the edits of training code to every file's context.

    Each component (the models, variables, states and functions that values flow between) takes one form as a whole:
    the NNX idiom where every use is understood, else the same program over a `Functional`.
    """
    native_classes = any(found.outcome is Outcome.NATIVE for found in plan.classes.values())
    if not native_classes and not any("linen" in source.text for source in project.files.values()):
        return
    flow = Flow(project, plan)
    attributes = self_names.wanted(flow.env)
    with self_names.in_trees(project, attributes):
        _write(Flow(project, plan) if attributes else flow, contexts)


def _write(flow: Flow, contexts: dict[str, FileContext]) -> None:
    module_names.drop(flow, contexts)
    found = components.find(flow)
    free = [component for component in found if not components.applied_by_itself(component)]
    native_ones = set(native.write([c for c in free if _selected(c, "NNX601", flow, contexts)], flow, contexts))
    left = [c for c in found if c not in native_ones]
    able = [c for c in free if c not in native_ones and _selected(c, "NNX602", flow, contexts)]
    trees = set(functional.write(able, flow, contexts))
    for component in left:
        device_copies.report(component, flow, contexts)
        if component not in trees:
            functional_gradients.report(component, flow, contexts)
            adapter.write(component, flow, contexts)
    asked_types.write([component for component in left if component not in trees], flow, contexts)
    configured.write(flow, contexts)
    sequences.write(flow, contexts)
    uncalled.report([*native_ones, *trees], flow, contexts)
    notices.report(flow, contexts)


def _selected(component: components.Component, code: str, flow: Flow, contexts: dict[str, FileContext]) -> bool:
    options = [contexts[flow.site_source[site].module].options for site in component.sites]
    return all(option.selects(code) for option in options)
