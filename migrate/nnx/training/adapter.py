"""The fallback that always holds: the loop stays as it is and a generated `Functional` gives it `init` and `apply`."""

from __future__ import annotations

import ast

from ...context import FileContext
from ...diagnostics import Severity
from ...edits import Span
from ...linen.flow.flow import Flow
from ...linen.flow.flow_values import Bound, Collection, Method, Model
from ...plan import ClassPlan, call_names
from ..text.text_parts import Namer, first_on_its_line
from . import advice, awaited_errors
from .components import EXAMPLE, Component, names_in, sizes_lambda

_TABULATE = (
    *("module", "rngs", "depth", "show_repeated", "mutable", "console_kwargs", "table_kwargs", "column_kwargs"),
    *("compute_flops", "compute_vjp_flops"),
)
_LIFTED = ("flax.linen.apply", "flax.linen.init")


def write(component: Component, flow: Flow, contexts: dict[str, FileContext]) -> None:
    """`Model(...)` → `Functional(Model, ..., sizes=lambda x, *_, **__: {'in_features': x.shape[-1]})` at every site."""
    waited = _is_waited_for(component, flow)
    for site, plans in zip(component.sites, component.plans, strict=True):
        source = flow.site_source[site]
        _wrap(contexts[source.module], site, plans, component, waited)
    for call in flow.uses.calls(_LIFTED):
        _lifted(contexts[flow.source_of[call].module], component, flow, call)
    for call in flow.uses.calls(("flax.linen.tabulate",)):
        _tabulated(contexts[flow.source_of[call].module], component, flow, call)
    for call in flow.uses.calls(("dataclasses.replace",)):
        _replaced(contexts[flow.source_of[call].module], component, flow, call)
    _sizes_unknown(component, flow, contexts)
    for node, value in flow.uses.tracked(component.sites):
        if isinstance(value, Collection):
            _opened(contexts[flow.source_of[node].module], node)
        elif isinstance(value, Bound):
            _of_bound(contexts[flow.source_of[node].module], node)


_INITIALIZING = ("init", "init_with_output", "lazy_init")


def _is_waited_for(component: Component, flow: Flow) -> bool:
    """Does the program wait for the errors of the call that init makes?"""
    for node, value in flow.uses.tracked(component.sites):
        if isinstance(value, Method) and value.name in _INITIALIZING:
            source = flow.source_of[node]
            call = source.parents.get(node)
            called = isinstance(call, ast.Call) and call.func is node
            if awaited_errors.for_errors(flow.project, source, call if called and call is not None else node):
                return True
    return False


def _sizes_unknown(component: Component, flow: Flow, contexts: dict[str, FileContext]) -> None:
    """Marks where a model that nothing initializes is asked for a method, whose arguments need not tell its sizes.

    Single sizes are seen in the shapes of params; whole shapes and examples of inputs are not.
    """
    used = [(node, value) for node, value in flow.uses.tracked(component.sites) if isinstance(value, Method)]
    plans = [plan for plans in component.plans for plan in plans]
    asked = {a.name for plan in plans for a in plan.added_arguments if a.whole or a.name.endswith("_shape")}
    if not asked or any(value.name in _INITIALIZING for _, value in used):
        return
    for node, value in used:
        call = flow.source_of[node].parents[node]
        if not isinstance(call, ast.Call) or call.func is not node:
            continue
        if value.name == "bind" or any(keyword.arg == "method" for keyword in call.keywords):
            contexts[flow.source_of[node].module].report(
                call,
                "NNX603",
                f"{_name(plans[0])} is not initialized here, and the call of another method than __call__ may not tell "
                f"its {', '.join(sorted(asked))}",
                severity=Severity.WARNING,
                help="Call jax.eval_shape(model.init, key, x) before, with inputs of the right shapes, or give them to the "
                "constructor.",
            )
            return


def write_site(context: FileContext, site: ast.Call, plans: tuple[ClassPlan, ...]) -> None:
    """One construction that no component holds: `block_cls(features)`, which another module is given."""
    _wrap(context, site, plans)


def _lifted(context: FileContext, component: Component, flow: Flow, call: ast.Call) -> None:
    """`nn.apply(function, model)` → `functools.partial(model.apply, method=function)`."""
    name = flow.name(call.func) or ""
    if len(call.args) != 2:
        return
    function, model = call.args
    if not component.holds(flow.value(model)):
        return
    method = name.rpartition(".")[2]
    parts: list[str | ast.AST] = [f"{context.name('functools.partial')}(", model, f".{method}, method=", function]
    for keyword in call.keywords:
        parts += [", ", keyword]
    context.replace(call, *parts, ")", code="NNX603")


def _tabulated(context: FileContext, component: Component, flow: Flow, call: ast.Call) -> None:
    """`nn.tabulate(model, key, depth=1)(x)` → `model.tabulate(key, x, depth=1)`: nnx.tabulate takes no `Functional`."""
    outer = context.source.parents[call]
    if not isinstance(outer, ast.Call) or outer.func is not call or not 0 < len(call.args) <= len(_TABULATE):
        return
    if any(isinstance(a, ast.Starred) for a in call.args) or not component.holds(flow.value(call.args[0])):
        return
    model, *given = call.args
    options = [(f"{name}=", value) for name, value in zip(_TABULATE[1:], given, strict=False)]
    options += [(f"{k.arg}=" if k.arg else "**", k.value) for k in call.keywords]
    keys = [value for word, value in options if word == "rngs="]
    if not keys:
        return
    inputs: list[str | ast.AST] = [part for argument in outer.args for part in (", ", argument)]
    named = [(f"{k.arg}=" if k.arg else "**", k.value) for k in outer.keywords]
    for word, value in [*named, *(option for option in options if option[0] != "rngs=")]:
        inputs += [f", {word}", value]
    context.replace(outer, model, ".tabulate(", keys[0], *inputs, ")", code="NNX603")


def _replaced(context: FileContext, component: Component, flow: Flow, call: ast.Call) -> None:
    """`dataclasses.replace(model, train=False)` → `model.clone(train=False)`: a `Functional` is no dataclass."""
    if len(call.args) == 1 and isinstance(flow.value(call.args[0]), Model) and component.holds(flow.value(call.args[0])):
        listed = [part for keyword in call.keywords for part in (", ", keyword)]
        context.replace(call, call.args[0], ".clone(", *listed[1:], ")", code="NNX603")


def _opened(context: FileContext, node: ast.AST) -> None:
    """`params["W"].unbox()` and its like: a sharded parameter is an `nnx.Variable` here."""
    attribute = context.source.parents[node]
    if not isinstance(attribute, ast.Attribute) or not isinstance(attribute.ctx, ast.Load):
        return
    call = context.source.parents[attribute]
    called = isinstance(call, ast.Call) and call.func is attribute
    opened = ".get_value()" if called else None
    said = {"names": ".out_sharding", "unbox": opened, "replace_boxed": ".replace"}.get(attribute.attr)
    if said is not None:
        end = context.span(call if attribute.attr == "unbox" else attribute).end
        context.replace(Span(context.span(node).end, end), said, code="NNX603")


# What a bound module has in Linen, and an nnx.Module has not.
_OF_SCOPES = {"scope", "path", "get_variable", "has_variable", "put_variable", "variable", "param", "has_rng", "make_rng"}


def _of_bound(context: FileContext, node: ast.AST) -> None:
    """`bound.encoder.unbind()` → `linen_parity.unbind(bound.encoder)`, and `bound.variables`, its second result."""
    attribute = context.source.parents[node]
    if not isinstance(attribute, ast.Attribute) or not isinstance(attribute.ctx, ast.Load):
        return
    call = context.source.parents[attribute]
    called = isinstance(call, ast.Call) and call.func is attribute and not (call.args or call.keywords)
    if attribute.attr == "variables" or (attribute.attr == "unbind" and called):
        whole, second = (attribute, "[1]") if attribute.attr == "variables" else (call, "")
        context.insert(context.span(node).start, f"{context.parity('unbind')}(", code="NNX603", order=-1)
        context.replace(Span(context.span(node).end, context.span(whole).end), f"){second}", code="NNX603")
    elif attribute.attr in _OF_SCOPES or (attribute.attr in ("clone", "copy") and called):
        context.report(
            attribute,
            "NNX603",
            f"a bound model is an nnx.Module now, which has no `{attribute.attr}`",
            severity=Severity.WARNING,
            help="Its variables are its attributes; `nnx.clone(bound)` copies it, `nnx.split(bound)` takes it apart.",
        )


def _wrap(
    context: FileContext,
    site: ast.Call,
    plans: tuple[ClassPlan, ...],
    component: Component | None = None,
    waited: bool = False,
) -> None:
    for plan in plans:
        unknown = names_in(plan.added_arguments) - call_names(plan)
        if not unknown:
            continue
        context.report(
            site,
            "NNX603",
            f"{plan.qualname} needs {', '.join(a.name for a in plan.added_arguments)}, which cannot be told from the "
            f"arguments of its __call__ ({', '.join(sorted(unknown))})",
            severity=Severity.WARNING,
            help="Pass the sizes to the constructor here.",
        )
    for plan in _mistakable(plans):
        context.report(
            site,
            "NNX603",
            f"several classes called {_name(plan)} may be constructed here, which ask for the same sizes of "
            "inputs that they call differently",
            severity=Severity.WARNING,
            help="Give these classes different names, or pass the sizes to the constructor here.",
        )
    said = options(plans, context, waited)
    text = context.source.text
    mixed = component is not None and site in component.mixed
    name = context.parity("functional_or_linen" if mixed else "Functional")
    function = context.span(site.func)
    opening = text.index("(", _after_parentheses(text, function.end, site))
    given = [*site.args, *[k.value for k in site.keywords]]
    end = context.span(site).end - 1
    last = max((context.span(g).end for g in given), default=0)
    own_words = ("sizes", "create", "late", "updated", "modes")  # of Functional itself
    fields = {field for plan in plans for field in plan.fields} if any(k.arg is None for k in site.keywords) else set()
    bound = any(word in own_words for word in (*fields, *(keyword.arg for keyword in site.keywords)))
    lead = first_on_its_line(text, opening + 1, end) if given and not bound else ""
    opened = f"{context.name('functools.partial')}(" if bound else lead
    start = _before_parentheses(text, function, opening)
    if start < function.start:
        context.replace(Span(start, function.start), f"{name}({opened}", code="NNX603")
    else:
        context.insert(start, f"{name}({opened}", code="NNX603", order=-1)
    if not given and not said:
        context.replace(Span(function.end, opening + 1), code="NNX603")
    else:
        first = text[opening + 1 : opening + 2]
        context.replace(Span(function.end, opening + 1), "," if lead or first in "\r\n" else ", ", code="NNX603")
    if bound:
        context.insert(end, f"){said and f', {said}'}", code="NNX603")
    elif said:
        comma = "" if not given or "," in _code_between(text, last, end) else ","
        if lead and "\n" in text[last:end]:
            context.insert(last, comma, code="NNX603")
            at = text.rindex("\n", last, end)
            context.insert(at - (text[at - 1] == "\r"), f"{lead}{said},", code="NNX603")
        else:
            context.insert(end, f"{comma and ', '}{said}", code="NNX603")
    context.report(
        site,
        "NNX603",
        f"the code around {' or '.join(p.qualname.rpartition('.')[2] for p in plans)} keeps its variables outside of "
        "the model: it works on a `Functional`, which gives the NNX class pure `init` and `apply`",
        help=f"{_kept_by(component)}The variables keep their names, so old checkpoints fit.",
    )


def _named(plans: tuple[ClassPlan, ...]) -> list[str]:
    """`updated=("Counter.count",)`, and the classes that ask what is mutable."""
    found = {"updated": {n for plan in plans for n in plan.updated}, "modes": {n for plan in plans for n in plan.modes}}
    quoted = {word: [f'"{name}"' for name in sorted(names)] for word, names in found.items() if names}
    return [f"{word}=({', '.join(names)}{',' * (len(names) == 1)})" for word, names in quoted.items()]


def _kept_by(component: Component | None) -> str:
    """What keeps a loop from nnx.Optimizer, and from split state."""
    if component is None:
        return ""
    split = component.split_obstacle
    if not component.obstacle:  # nnx.Optimizer was not asked for: `--jit functional`
        return f"What keeps it from split state: {split}{advice.to(split)}. " if split else ""
    also = f", and from split state: {split}" if split and split != component.obstacle else ""
    return f"What keeps it: {component.obstacle}{advice.to(component.obstacle)}{also}. "


def options(plans: tuple[ClassPlan, ...], namer: Namer, waited: bool = False) -> str:
    """What a `Functional` is told of its class beside the arguments: `sizes=lambda x, *_, **__: {...}, late=True`.

    `waited`: for the errors of the call that init makes.
    """
    sizes = said_sizes(plans, namer)
    late = waited or any(plan.late or plan.sown - {"intermediates"} for plan in plans)  # init gives what is sown, too
    return ", ".join([f"sizes={sizes}"] * bool(sizes) + ["late=True"] * late + _named(plans))


def said_sizes(plans: tuple[ClassPlan, ...], namer: Namer) -> str:
    """The `sizes` of classes, as a file says it."""
    sizes = _sizes(plans)
    return sizes.replace(EXAMPLE, namer.parity("Example")) if EXAMPLE in sizes else sizes


def _sizes(plans: tuple[ClassPlan, ...]) -> str:
    """The `sizes` argument: a function, or functions by the name of the class where several may be constructed, and by what
    they ask for where several have one name."""
    texts: dict[str, dict[str, str]] = {}
    for plan in plans:
        if names_in(plan.added_arguments) <= call_names(plan):
            asked = ", ".join(sorted(a.name for a in plan.added_arguments))
            texts.setdefault(_name(plan), {})[asked] = sizes_lambda(plan)
    said = [text for by_asked in texts.values() for text in by_asked.values()]
    if len(set(said)) == 1 and len(set(map(_name, plans))) == len(texts):
        return said[0]
    items = []
    for name, by_asked in texts.items():
        alike = len(set(by_asked.values())) == 1
        inner = ", ".join(f"'{asked}': {text or None}" for asked, text in by_asked.items())
        if any(by_asked.values()):
            items.append(f"'{name}': {next(iter(by_asked.values())) if alike else f'{{{inner}}}'}")
    return "{" + ", ".join(items) + "}"


def _mistakable(plans: tuple[ClassPlan, ...]) -> list[ClassPlan]:
    """Classes that neither their name nor what they ask for tells from another one, whose sizes are found elsewhere."""
    known: dict[tuple[str, frozenset[str]], str] = {}
    found = []
    for plan in plans:
        asked = frozenset(a.name for a in plan.added_arguments)
        if known.setdefault((_name(plan), asked), sizes_lambda(plan)) != sizes_lambda(plan):
            found.append(plan)
    return found


def _name(plan: ClassPlan) -> str:
    return plan.qualname.rpartition(".")[2]


def _after_parentheses(text: str, at: int, site: ast.Call) -> int:
    """Past a `)` that closes a parenthesised callee."""
    while text[at : at + 1].isspace() or text[at : at + 1] == ")":
        at += 1
    return at


def _before_parentheses(text: str, function: Span, opening: int) -> int:
    """In front of those that are closed behind a callee: `(Small if small else Wide)(8)`."""
    start = function.start
    for _ in range(text.count(")", function.end, opening)):
        start = text.rindex("(", 0, start)
    return start


def _code_between(text: str, start: int, end: int) -> str:
    return "\n".join(line.split("#", 1)[0] for line in text[start:end].splitlines())
