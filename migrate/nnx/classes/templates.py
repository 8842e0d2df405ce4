"""Modules that code outside of modules hands over, which become factories: `AutoEncoder(functools.partial(Encoder, 8))`,
`Classifier(head=functools.partial(nnx.Linear, out_features=10))`.

The class that is handed one calls it in its constructor, with the sizes that it has there: `self.encoder = encoder(...)`.
"""

from __future__ import annotations

import ast
import builtins
import re
from typing import TYPE_CHECKING

from ...edits import Edit, Span
from ...linen.modules import default_modules
from ...linen.modules.passed import held_modules
from ...linen.outside.given_outside import TEMPLATE_LAYERS
from ...linen.project.classes import Field
from ...linen.values.sites import Site, Unmigratable
from ...plan import Outcome, Plan
from ...trees import subtree
from ..factories.outside_chains import made_of
from ..linen_copies.behind import behind
from ..text.text_parts import DryNamer, first_on_its_line
from .constructions import added_value, built_layer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ...context import FileContext
    from ...edits import Parts
    from ...linen.execution.analyser import Analyser
    from .class_text import ClassText


def check(text: ClassText) -> None:
    """Refuse what is handed over where the constructor could not call it, or other code has the class differently."""
    model, analyser = text.model, text.analyser
    handed = analyser.templates(model.qualname)
    if not handed:
        return
    template = next(iter(handed.values()))[0]
    where = f"a module is passed to it outside of modules ({template.source.path.name}:{template.call.lineno})"
    defaults = {field.default for field in text.run.fields.values()}
    if all(given.call in defaults for templates in handed.values() for given in templates):
        where = "a field of it is a module by default"
    why = ""
    if model.bases or any(analyser.classes.derived(model)):
        why = "it is inherited from, or inherits"
    elif set(handed) - text.run.fields.keys():
        why = "it has no field for it"
    elif any(analyser.kinds.of(model, name) for name in handed):
        why = "factories are passed to it too"
    elif any(text.run.fields[name].factory is not None or _has_value(text, text.run.fields[name]) for name in handed):
        why = "it has a default"
    elif any((model.qualname, n) in analyser.given_outside.nothing and not _is_none(text.run.fields[n]) for n in handed):
        why = "elsewhere None is, which is not its default"
    for templates in handed.values():
        for template in templates:
            name = analyser.classes.project.qualname(template.source, template.call.func) or ""
            if name in TEMPLATE_LAYERS:
                made_of(template.source, template.call, name, DryNamer())
    if why:
        raise Unmigratable("NNX127", f"{where}, and {why}", model.node)


def check_takers(analyser: Analyser, reasons: dict[str, Unmigratable]) -> None:
    """What is handed to two classes of which one stays Linen can be a factory for neither: `reasons` gets the other."""
    for template, takers in analyser.given_outside.takers.items():
        left = sorted(name for name in takers if name in reasons)
        for name in takers - {*left} if left else ():
            said = f"a module is passed to it outside of modules ({template.source.path.name}:{template.call.lineno})"
            reasons[name] = Unmigratable("NNX127", f"{said} and to {left[0].rpartition('.')[2]}, which stays Linen")


def check_handed(plan: Plan, analyser: Analyser, reasons: dict[str, Unmigratable]) -> None:
    """Refuse classes that are handed some that stay Linen and are given modules, as what wraps these shares none of them, or
    that have variables in collections of their own, which cannot be wrapped, and native ones that Linen's init calls.
    """
    given, project = analyser.given_outside, analyser.classes.project
    staying = {name for name in given.fields if name in reasons}
    wrapped = {name for name in reasons if _has_own_collections(analyser, name)} if given.handed else set()
    called = {name for name, made in plan.classes.items() if made.called_by_init or made.modes} - reasons.keys()
    for target, source, argument in given.givers if staying | wrapped | called else ():
        if target not in given.handed or target in reasons:
            continue
        for where, value in [(source, argument), *behind(given.functions, source, argument, given.holds)]:
            calls = [call for call in subtree(value) if isinstance(call, ast.Call)]
            made = {project.qualname(where, call.func) or "" for call in calls}
            any_made = made | {name for call in calls for name in analyser.made_outside(where, call)}
            for found, why in (
                (made & staying, "which stays Linen and is given modules, which others may share with it"),
                (any_made & wrapped, "which stays Linen and has variables in collections of its own"),
                (any_made & called, "which makes or changes variables in the call of init"),
            ):
                if found:
                    what = f"{min(found).rpartition('.')[2]} ({source.path.name}:{argument.lineno}), {why}"
                    reasons.setdefault(target, Unmigratable("NNX127", f"it is handed {what}"))


def _has_own_collections(analyser: Analyser, name: str) -> bool:
    """May a class of Linen's, or what it contains, have other variables than parameters and statistics of batches?"""
    queue, seen = [name], set[str]()
    while queue:
        model = analyser.classes.get(queue.pop())
        if model is None or model.qualname in seen:
            continue
        seen.add(model.qualname)
        queue += [base.qualname for base in model.bases]
        for node in subtree(model.node):
            if isinstance(node, ast.Name | ast.Attribute):
                inner = analyser.classes.project.qualname(model.source, node)
                if inner in analyser.classes.project.linen_classes:
                    queue.append(inner)
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("self.variable", "self.sow", "self.put_variable"):
                first = node.args[0] if node.args else None
                known = first.value if isinstance(first, ast.Constant) else None
                if known not in ("params", "batch_stats", "params_axes", "intermediates"):
                    return True
    return False


def _has_value(text: ClassText, field: Field) -> bool:
    """Has a field a default other than None, or a module that makes nothing?"""
    return field.default is not None and not _is_none(field) and not default_modules.makes_nothing(text.analyser, field)


def _is_none(field: Field) -> bool:
    return isinstance(field.default, ast.Constant) and field.default.value is None


def sites(text: ClassText) -> dict[str, list[Site]]:
    """Field → what it holds, for the fields that are handed templates."""
    found: dict[str, list[Site]] = {name: [] for name in text.analyser.templates(text.model.qualname)}
    for field, module in held_modules(text.run):
        if field in found:
            found[field].append(module.site)
    return found


def lines(text: ClassText) -> list[Parts]:
    """`self.encoder = encoder(in_features=..., rngs=rngs)`, each behind those whose attributes its sizes read."""
    made: dict[str, str] = {}
    by_field = sites(text)
    for field in text.model.fields():
        if field.name not in by_field:
            continue
        said = {_called(text, field.name, site) for site in by_field[field.name]}
        if len(said) != 1:
            why = "is never called" if not said else "is given modules that NNX constructs differently"
            raise Unmigratable("NNX163", f"its field `{field.name}` {why}", field.node)
        call = said.pop()
        _check_names(text, call)
        made[field.name] = call if not _is_none(field) else f"None if {field.name} is None else {call}"
    out: list[Parts] = []
    while made:
        free = [n for n, call in made.items() if not any(re.search(rf"\bself\.{o}\b", call) for o in made if o != n)]
        if not free:
            raise Unmigratable("NNX127", f"the sizes of `{'` and `'.join(made)}` follow from one another", text.model.node)
        for name in free:
            out.append((f"self.{name} = {made.pop(name)}",))
    return out


def _check_names(text: ClassText, call: str) -> None:
    """Refuse sizes in terms of what the constructor computes later: the modules are made first."""
    names = text.source.names
    known = {*text.run.fields, *(added.name for added, _, _ in text.added()), "self", "rngs"}
    known.update(names.definitions, names.module_imports, vars(builtins))
    for node in subtree(ast.parse(call)):
        if isinstance(node, ast.Name) and node.id not in known:
            why = "a size of what is passed to it outside of modules depends on a branch or loop of the call"
            raise Unmigratable("NNX114", why, text.model.node)


def _called(text: ClassText, field: str, site: Site) -> str:
    if site.kind == "layer":
        built = built_layer(text, site)
        given: list[Parts] = [*built.positional, *((f"{name}=", *parts) for name, parts in built.keywords)]
        said = ["".join(str(part) for part in text.named(parts)) for parts in given]
        return f"{field}({', '.join([*said, *(['rngs=rngs'] if built.rngs else [])])})"
    plan = text.plans.get(site.target)
    if plan is None or plan.outcome is not Outcome.NATIVE:
        why = f"a module is passed to it outside of modules, and {site.target.rpartition('.')[2]} is not native"
        raise Unmigratable("NNX127", why, text.model.node)
    sizes = {a.name: added_value(text, site, a, argument, index) for a, argument, index in plan.details.added}
    return f"{field}({', '.join([*(f'{name}={size}' for name, size in sizes.items()), 'rngs=rngs'])})"


def calls(text: ClassText) -> Iterator[ast.Call]:
    """The calls that make the templates of a class."""
    for templates in text.analyser.templates(text.model.qualname).values():
        for template in templates:
            yield template.call


def classes(analyser: Analyser, name: str) -> set[str]:
    """The classes of the templates that a class is handed."""
    project = analyser.classes.project
    found = {project.qualname(t.source, t.call.func) for given in analyser.templates(name).values() for t in given}
    return {qualname for qualname in found if qualname is not None}


def rewrite(text: ClassText, contexts: Mapping[str, FileContext], copied: Collection[ast.AST]) -> None:
    """The calls that make the templates become partials of their classes; `copied`: what means a Linen copy now, which is
    given modules as before."""
    for templates in text.analyser.templates(text.model.qualname).values():
        for template in templates:
            source, call = template.source, template.call
            around = [call, *(p for p in source.ancestors(call) if isinstance(p, ast.Call))]
            if any(made.func in copied for made in around):
                continue
            context = contexts[source.module]
            name = text.run.project.qualname(source, call.func) or ""
            if name in TEMPLATE_LAYERS:
                made = made_of(source, call, name, context)
                parts = [f"{context.name('functools.partial')}(", *made, ")"] if len(made) > 1 else made
                context.replace(call, *parts, code="NNX100")
                continue
            if not call.args and not call.keywords:
                context.edits.add(Edit(source.span(call), (source.span(call.func),), "NNX100"))
                continue
            function = source.span(call.func)
            opening = source.text.index("(", function.end)
            lead = first_on_its_line(source.text, opening + 1, source.span(call).end)
            partial = f"{context.name('functools.partial')}({lead}"
            context.edits.add(Edit(Span(function.start, opening + 1), (partial, function, "," if lead else ", "), "NNX100"))


__all__ = ["calls", "check", "check_handed", "check_takers", "classes", "lines", "rewrite", "sites"]
