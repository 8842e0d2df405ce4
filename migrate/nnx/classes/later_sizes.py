"""Modules whose input sizes the constructor cannot say: they are made last, when the class was called once, on shapes.

    self.Dense_0 = linen_parity.Later(lambda rngs, inputs: nnx.Linear(inputs.shape[-1], 4, rngs=rngs))
    ...
    linen_parity.settle(self, jax.ShapeDtypeStruct(in_shape, jnp.float32), rngs=rngs)

This is how Linen finds all sizes. It is the last resort, for a class that would stay Linen otherwise; what is known is made
as ever. Each such module must be reached by a call of the class with its defaults. An argument of the call that may be
something else than one array is given to the constructor as an example: `settle(self, in_example, rngs=rngs)`.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...catalog import layers
from ...edits import Parts
from ...linen.execution import entry_arguments
from ...linen.execution.graph_networks import BY_NETWORKS
from ...linen.lists.unsized_items import UNSIZED
from ...linen.modules import by_passes, made_later
from ...linen.modules.by_passes import IN_TURN
from ...linen.modules.by_sizes import BY_SIZES
from ...linen.modules.made_later import LATER, NAMED, TYPED
from ...linen.modules.made_under_flags import made_under_flags
from ...linen.modules.merged_fields import merges
from ...linen.outside import handed
from ...linen.project.forwarded_calls import forwarded
from ...linen.values import shown_by_shapes
from ...linen.values.detached import DETACHED
from ...linen.values.presence import whole_argument
from ...linen.values.sites import Site, Unmigratable
from ...linen.values.values import Array, Int, Tup, Value
from ...linen.values.wrappers import is_wrapper
from ...plan import AddedArgument
from ...trees import subtree
from ..calls import call_dtypes, merged_flags
from ..generated import bridging, example_flags, foreign, late_fields
from ..setup import carried
from ..text.text_parts import InitLines, joined, resolved
from . import (
    argument_parts,
    array_arguments,
    asking,
    call_defaults,
    captured_names,
    constructions,
    constructor_names,
    first_calls,
    first_inputs,
    given_trees,
    late_arguments,
    later_stacks,
)
from .constructor_text import CHANGING

if TYPE_CHECKING:
    from ...linen.execution.analyser import Analyser
    from ...linen.project.classes import ClassModel
    from .class_text import ClassText

CODE = "NNX185"
_CODES = frozenset({"NNX110", "NNX111", "NNX112", "NNX113", "NNX114", "NNX123", "NNX155", "NNX157"})
_FLAG = re.compile(r"\b(bool|Any)\b")


def may_find(analyser: Analyser, model: ClassModel, failure: Unmigratable) -> bool:
    """Could a class that failed so find its sizes when it is constructed?"""
    return (failure.code in _CODES or failure.lacks is not None) and may_wait(analyser, model)


def may_wait(analyser: Analyser, model: ClassModel) -> bool:
    """Could the sizes of a class be found when it is constructed?"""
    method = model.method("__call__")
    derived = analyser.classes.derived(model)
    family = [*model.mro(), *derived]
    # What a base's setup makes its own constructor makes, which cannot call the derived class yet.
    pairs = [*((base, model) for base in model.mro() if base is not model), *((model, other) for other in derived)]
    apart = all("setup" not in base.own_methods or _sets_up_apart(base, other) for base, other in pairs)
    alone = len(family) == 1 or (apart and all(len(m.bases) < 2 for m in family))
    if model.source.marked(model.source.line_span(model.node).start, "NNX1"):
        return False  # an earlier run has left it, and what uses it gives it no size
    if forwarded(analyser.classes.project, model.source, model.node) is not None:
        return False  # its call says what it takes in another form
    return alone and method is not None and model.qualname not in analyser.later | analyser.never_later


def _sets_up_apart(model: ClassModel, derived: ClassModel) -> bool:
    """Does the constructor of a derived class not call that of one with a setup, or is it the same?"""
    setup = derived.method("setup")
    if setup is None:
        return False
    if setup.owner is not model:
        return not any(isinstance(node, ast.Name) and node.id in ("super", model.name) for node in setup.nodes)
    between = itertools.takewhile(lambda m: m is not model, derived.mro())
    return not any(m.own_methods or m.own_fields or len(m.bases) != 1 for m in between)


def site_lines(text: ClassText, site: Site) -> InitLines:
    """The constructor expression of a site; a `Later` where its sizes are not known and the class finds such."""
    if LATER in site.renders:
        return InitLines((), _variable(text, site))
    if DETACHED in site.renders:
        return InitLines((), _detached(text, site))
    if site in text.later:
        return InitLines((), _later(text, site))
    if IN_TURN in site.renders or BY_SIZES in site.renders:
        return InitLines((), _in_turn(text, site))
    if UNSIZED in site.renders:
        why = _unfit(text, site)
        if why:
            reason = f"{site.renders[UNSIZED]}; and it cannot be made later: {why}"
            raise Unmigratable("NNX114", reason, site.node)
        text.needs = set()
        text.later[site] = None
        return InitLines((), _later(text, site))
    if _is_told_by_first_call(text, site):
        text.later[site], before = None, set(text.needs)
        try:
            return InitLines((), _later(text, site))
        except Unmigratable:  # it is always made
            del text.later[site]
            text.needs = before
    try:
        said = constructions.site_lines(text, site)
        if not _changes(text, site):
            return said
        raise asking.lacking(Unmigratable(*CHANGING, site.node), site)
    except Unmigratable as error:
        of_call = error.code == "NNX113" and text.model.qualname in text.analyser.later and _may_be_given(text, site)
        if text.model.qualname not in text.analyser.later or not (of_call or _is_lacking(error, site)):
            raise
        why = _unfit(text, site)
        if why:
            raise Unmigratable(error.code, f"{error.reason}; and it cannot be made later: {why}", error.node) from error
    text.needs = set()
    text.later[site] = None
    return InitLines((), _later(text, site))


def _changes(text: ClassText, site: Site) -> bool:
    """Is it said by a size that a loop changes, which the constructor of this class cannot follow?"""
    plain = site.kind in ("layer", "class") and text.model.qualname in text.analyser.untracked_sizes
    return plain and bool(text.needs & text.run.trackers - carried.followed(text.run))


def _is_told_by_first_call(text: ClassText, site: Site) -> bool:
    """Does the first call of the program, which the constructor is given, say whether there is a module?"""
    if text.model.qualname not in text.analyser.given_outside.handed:
        return False
    return any(one is site for one, _ in made_under_flags(text.run)) and not _unfit(text, site)


def _may_be_given(text: ClassText, site: Site) -> bool:
    """Can the call on shapes give a module the arguments that only the call knows?"""
    return late_fields.find(text, site) if site.foreign else late_arguments.find(text, site)


def _in_turn(text: ClassText, site: Site) -> Parts:
    """What makes the modules of a loop whose passes the call knows, or one that is made or not by sizes."""
    why = _unfit(text, site)
    if (site.lifted and later_stacks.is_alone(site)) or first_calls.caller(text.run, site) is not site:
        why = why or "it is lifted, or handed on"
    if site.name is not None and text.model.qualname in text.analyser.given_outside.handed:
        why = why or "the class is made by its first call"
    try:
        constructions.site_lines(text, site)
    except Unmigratable as error:
        if error.code == "NNX113" and not _may_be_given(text, site):
            why = why or error.reason
    if why:
        where = "or not by sizes" if BY_SIZES in site.renders else "in a loop whose passes only the call knows"
        reason = f"a module is made {where}; and it cannot be made later: {why}"
        raise Unmigratable("NNX123", reason, site.node)
    text.needs = set()
    text.later[site] = None
    return _later(text, site)


def _variable(text: ClassText, site: Site) -> Parts:
    """A parameter or variable whose shape the call knows."""
    shown = functools.partial(_is_shown, text, site) if TYPED in site.renders else None
    why = first_calls.why_not_by_default(text.run, site.node, site.source, shown)
    if NAMED in site.renders:
        why = why or first_calls.why_not_in_functions(text.run, site.node, site.source, shown)
        if text.model.qualname in text.analyser.given_outside.handed:
            why = why or "the class is made by its first call"
    own = site.name.constant if site.name is not None else None
    unsaid = NAMED in site.renders and own is None
    if any(r.site is site or (r.site is None and (unsaid or own in r.path[:1])) for r in text.run.variable_reads.values()):
        why = "it is read elsewhere"
    if why:
        name = own or "?"
        what, code = ("parameter", "NNX111") if site.kind == "param" else ("variable", "NNX112")
        reason = f"the {what} `{name}` has a shape that only the call knows; and it cannot be made later: {why}"
        raise Unmigratable(code, reason, site.node)
    text.later[site] = None
    if NAMED in site.renders:
        return ("None",)  # nothing is written for it
    kind = text.variable_type(site.target) if site.kind == "variable" else text.namer.name("flax.nnx.Param")
    drawn = ", drawn=False" if site.kind == "variable" else ""
    return (f"{text.namer.parity('LaterVariable')}({kind}{drawn})",)


def _is_shown(text: ClassText, site: Site, test: ast.expr) -> bool:
    """Does a call on an example go the way that all go?"""
    method = made_later.method_of(text.run, site.source, test)
    return method is not None and shown_by_shapes.shown(text.run, method, test, typed=True)


def found(text: ClassText, site: Site) -> Parts:
    """How the call reads such a variable: with what it starts from, in the call's own words."""
    span = site.source.span
    if NAMED in site.renders:
        said: list[Parts] = [(span(a),) for a in site.node.args]
        said += [(f"{k.arg}=", span(k.value)) for k in site.node.keywords]
        return joined((text.namer.parity("named_parameter"),), [("self",), *said])
    given: list[Parts] = [(span(a),) for a in site.node.args[2 if site.kind == "variable" else 1 :]]
    given += [(f"{k.arg}=", span(k.value)) for k in site.node.keywords if k.arg not in ("name", "unbox", "init_fn", "axes")]
    axes = next((k.value for k in site.node.keywords if k.arg == "axes"), None)
    if axes is not None and not (isinstance(axes, ast.Constant) and axes.value is None):  # of `param_with_axes`
        given[0] = joined((text.namer.parity("param_with_axes"),), [given[0], (span(axes),)])
    reader = "late_variable" if site.kind == "variable" else "late_parameter"
    return joined((text.namer.parity(reader),), [text.reference(site), *given])


def _is_lacking(error: Unmigratable, site: Site) -> bool:
    return error.lacks is not None and error.lacks[0].node is site.node


def _unfit(text: ClassText, site: Site) -> str:
    """Why a module cannot be made when the class has been called; "" where it can."""
    lifted = (site.lifted or site.scopes) and not later_stacks.is_fit(text, site)
    if lifted or site.held or first_calls.is_part(site) or site.kind not in ("layer", "class"):
        return "it is lifted, or made elsewhere"
    if is_wrapper(site) or not first_calls.maps_at_once(text.run, site):
        return "it wraps others"
    called = first_calls.caller(text.run, site)
    handed = (site.passed or site.adopted) and called is None
    if handed or any(text.run.holds_module(b.abs.value) for b in site.bound.values()):
        return "it is passed on, or is given modules"
    reached = called is not None and (called.calls or called.renders.keys() & {BY_NETWORKS, "mapped"})
    if called is None or site.call is None or not reached or first_calls.asks_more(text.run, called):
        return "it is not only called"
    if site.renders.get("method", "__call__") != "__call__":
        return "it is not only called"
    if first_calls.is_read(text.run, site):
        return "something of it is read"
    if text.model.qualname in text.analyser.given_outside.handed:
        return ""  # it is called as the program first calls it
    node, source, why = first_calls.in_method(text.run, called)
    own = [call for call, _, env in called.calls if env.source is source]
    why = why or first_calls.why_not_by_default(text.run, node, source, calls=own)
    listed = site.in_setup and bool(site.loops)
    if why and (listed or IN_TURN in site.renders or UNSIZED in site.renders):  # of passes that only an example tells
        shown = functools.partial(_is_shown, text, site)
        if not first_calls.why_not_by_default(text.run, node, source, shown):
            site.renders[TYPED] = True
            return ""
    return why


def _later(text: ClassText, site: Site) -> Parts:
    assert site.call is not None
    wrapped = _wrapped(text, site)
    if wrapped is not None and late_fields.by_call(site):
        return wrapped
    if wrapped is not None and late_arguments.parameters(site):
        raise Unmigratable("NNX113", "a Linen module is given what only the call knows", site.node)
    if wrapped is not None:
        names = _bound(text, site, wrapped) - {"args", "kwargs"}
        if names & site.call.keywords.keys():
            raise Unmigratable("NNX150", "its names are those of what it is given", site.node)
        bound = [f"{name}={name}" for name in sorted(names)]
        parameters = ["rngs", "*args", *bound, "**kwargs"]
        return (f"{text.namer.parity('Later')}(lambda {', '.join(parameters)}: ", *wrapped, ")")
    of_kinds = site.kind == "layer" or site.alternatives or site.choice
    first = _free(text, next(iter(first_inputs.parameters(text, site)), "inputs"))
    made = late_arguments.in_terms(later_stacks.member(site), first)
    inner, given, named = (_of_kinds if of_kinds else _class)(text, made)
    told = late_arguments.parameters(site)
    if told and first_calls.caller(text.run, site) is not site:
        raise Unmigratable("NNX113", "a part of a Sequential is given what only the call knows", site.node)
    if told and site.lifted:
        raise Unmigratable("NNX113", "a stack of modules is given what only the call knows", site.node)
    make = _making(text, site, inner, given, [*named, *told])
    if not later_stacks.is_alone(site):
        return later_stacks.said(text, site, make)
    return (f"{text.namer.parity('LaterGiven' if told else 'Later')}(", *make, ")")


def _making(text: ClassText, site: Site, inner: Parts, given: list[str], named: list[str]) -> Parts:
    """A lambda that makes a module of what it is first given, by place and by name, as the constructor would now."""
    bound = sorted(_bound(text, site, inner) - {*(name.removeprefix("*") for name in given), *named})
    captured_names.refuse(site, set(bound))
    parameters = ["rngs", *call_defaults.optional(text, site, given)]
    if (bound or named) and not any(name.startswith("*") for name in given):
        parameters.append("*")
    parameters += [*named, *[f"{name}={name}" for name in bound]]
    return (f"lambda {', '.join(parameters)}: ", *inner)


def _detached(text: ClassText, site: Site) -> Parts:
    """A module that is only initialized and applied: it is made for what it is given there."""
    if site.call is None:
        raise Unmigratable("NNX149", f"`{ast.unparse(site.node)}` is applied where the code is not followed", site.node)
    if call_dtypes.of_call(text, site):  # it is the same module in all calls
        reason = f"`{ast.unparse(site.node)}` is applied, and its dtype is known only when the module is called"
        raise Unmigratable("NNX113", reason, site.node)
    make = _making(text, site, *(_of_kinds if site.kind == "layer" else _class)(text, site))
    layer = layers.lookup(site.target) if site.kind == "layer" else None
    said = layer.attributes if layer is not None else {}
    read = [(f"{said.get(n, n)}=", *text.argument(site.bound[n], n, site)) for n in site.renders[DETACHED]]
    return joined((text.namer.parity("Detached"),), [make, *read])


def _wrapped(text: ClassText, site: Site) -> Parts | None:
    """A module that stays Linen, on what it is given first."""
    called = text.plans.get(site.target) if site.kind == "class" else None
    stays = site.kind == "class" and (called is None or called.details is None)
    if not stays or text.model.qualname not in text.analyser.bridging or text.references is None:
        return None
    taken = constructor_names.bound_names(text.run) | text.run.fields.keys()
    if taken & {"args", "kwargs"}:
        raise Unmigratable("NNX150", "its names are those of what it is given", site.node)
    if site.foreign:
        return foreign.bridged(text, site, later=True)
    return bridging.bridged(text, site, text.references, site.bridged, later=True)


def _of_kinds(text: ClassText, site: Site) -> tuple[Parts, list[str], list[str]]:
    """A layer, or one of several kinds of modules, with the sizes of what it is given first, and what that is called."""
    assert site.call is not None
    known, by_place = first_inputs.parameters(text, site), len(site.call.args)
    site = first_inputs.in_order(site, known)
    call = site.call
    assert call is not None
    names = [_free(text, name) for name in known[: len(call.args)]]
    if len(call.args) > len(known) or not names or names[by_place:] != known[by_place : len(names)]:
        raise Unmigratable("NNX110", "a layer is given its input by name, and its size is not known", site.node)
    lines = constructions.site_lines(text, first_inputs.called_with(site, names))
    if lines.before:
        raise Unmigratable("NNX110", "a module that is made of several has an input of unknown size", site.node)
    return lines.expression, names, []


def _class(text: ClassText, site: Site) -> tuple[Parts, list[str], list[str]]:
    """A module of the project, with the sizes that it asks for as its own call shows them."""
    called, call = text.plans.get(site.target), site.call
    model = text.analyser.classes.get(site.target)
    method = model.method("__call__") if model is not None else None
    if called is None or called.details is None or method is None or call is None:
        raise Unmigratable("NNX150", f"it contains {site.target.rpartition('.')[2]}, which is not native", site.node)
    parameters = [p.arg for p in method.positional][: len(call.args)]
    rest = method.vararg if len(call.args) >= len(method.positional) else ""
    flags = [*merged_flags.moved(text, site), *site.calltime]  # which Linen's constructor took
    keywords = dict.fromkeys([*call.keywords, *flags])
    others = {name: _free(text, name) for name in [*parameters, *keywords, *([rest] if rest else [])]}
    callee, arguments = constructions.class_parts(text, site)
    # What is given by name keeps that, also where a field has it: of the constructor's own, nothing here reads it.
    own = _names(text, site, joined(callee, arguments))
    others |= {name: name for name in keywords.keys() - own - {"rngs", "self"}}
    added: list[tuple[str, str]] = []
    read: set[str] = set()
    for argument, asked, _ in called.details.added:
        if text.analyser.is_asked_value(site.target, asked):
            raise asking.TakenBack(site.target, text.model.qualname)  # it may find that by a call of its own
        names = {n.id for n in subtree(ast.parse(argument.origin, mode="eval")) if isinstance(n, ast.Name)}
        if names <= others.keys():
            if not argument.whole:
                values = dict(zip(parameters, call.args)) | dict(call.keywords)
                values |= {rest: Tup(tuple(call.args[len(parameters) :]))} if rest else {}
                given_trees.check(text, site, argument.origin, names, values)
            read |= names
            said = re.sub(r"(?<![\w.])[A-Za-z_]\w*", lambda m: others.get(m[0], m[0]), argument.origin)
            added.append((argument.name, said))
        elif argument.default:
            continue  # its call leaves it out, and so may its constructor
        elif argument.origin.startswith("None if") or (argument.whole and _is_none(method.default(argument.origin))):
            added.append((argument.name, "None"))
        else:
            raise Unmigratable("NNX110", f"`{argument.name}` is not shown by its call", site.node)
    inner = joined(callee, [*arguments, *((f"{name}=", size) for name, size in added), ("rngs=rngs",)])
    if any(others[n] != n for n in keywords if n in read):
        raise Unmigratable("NNX110", "its argument has the name of a field", site.node)
    last = max([i for i, name in enumerate(parameters) if name in read or rest in read], default=-1)
    given = [others[n] for n in parameters[: last + 1]] + ([f"*{others[rest]}"] if rest in read else [])
    return inner, given, [others[n] for n in keywords if n in read]


def _is_none(default: ast.expr | None) -> bool:
    return isinstance(default, ast.Constant) and default.value is None


def _free(text: ClassText, name: str) -> str:
    """A name for what is given at the first call that is none of the constructor's own."""
    while name in text.run.fields or name in constructor_names.bound_names(text.run) or name in ("rngs", "self"):
        name += "_"
    return name


def _parsed(text: ClassText, site: Site, inner: Parts) -> ast.AST:
    try:
        return ast.parse(resolved(inner, text.source.text).strip(), mode="eval")
    except SyntaxError as error:
        raise Unmigratable("NNX110", "its size is not known", site.node) from error


def _names(text: ClassText, site: Site, inner: Parts) -> set[str]:
    return {n.id for n in subtree(_parsed(text, site, inner)) if isinstance(n, ast.Name)}


def _bound(text: ClassText, site: Site, inner: Parts) -> set[str]:
    """The constructor's variables in an expression: what they hold now is what it means."""
    tree = _parsed(text, site, inner)
    names = {n.id for n in subtree(tree) if isinstance(n, ast.Name)}
    own = {n.target for n in subtree(tree) if isinstance(n, ast.comprehension)}
    hidden = {n.id for target in own for n in subtree(target) if isinstance(n, ast.Name)}
    hidden |= {a.arg for n in subtree(tree) if isinstance(n, ast.Lambda) for a in subtree(n.args) if isinstance(a, ast.arg)}
    setup = text.model.method("setup") if site.in_setup else None
    loops = [n.target for n in subtree(setup.node) if isinstance(n, ast.comprehension)] if setup is not None else []
    around = {n.id for target in loops for n in subtree(target) if isinstance(n, ast.Name)}
    mine = text.needs | constructor_names.bound_names(text.run) | text.bound | text.run.trackers | around
    return (names - hidden - constructor_names.RESERVED) & mine


# calling the class ---------------------------------------------------------------------------------------------------


def lines(text: ClassText) -> list[Parts]:
    """The last line of the constructor of a class that finds sizes."""
    if text.model.qualname in text.analyser.given_outside.handed:
        text.call_example = handed.NAME
        settled = f"{text.namer.parity('settle_by')}(self, {handed.NAME}, rngs=rngs)"
        if not any(text.analyser.classes.derived(text.model)):
            return [(settled,)]
        own = f"{text.model.name}.__init__"  # one of a derived class settles what this one has made, too
        return [(f"if type(self).__init__ is {own}:",), (text.source.indent_unit, settled)]
    if not text.later:
        return []
    named = any(NAMED in s.renders or (IN_TURN in s.renders and s.name is not None) for s in text.later)
    settle = "settle_named" if named else "settle"
    return [joined((text.namer.parity(settle),), [("self",), *_examples(text), ("rngs=rngs",)])]


def _is_merged(text: ClassText, name: str, node: ast.AST) -> bool:
    """Must a flag be given to the constructor or to the call: `merge_param("train", self.train, train)`?

    Raises Unmigratable for what is no flag (`axis: int | None`) and may change sizes.
    """
    field = text.run.fields.get(name)
    merged = field is not None and any(
        merges(text.run.project, model.source, part, name) for model in text.model.mro() for part in model.nodes
    )
    if merged and (field is None or field.annotation is None or not _FLAG.search(ast.unparse(field.annotation))):
        raise Unmigratable("NNX110", f"`{name}` may be given to the constructor or to the call, and may change sizes", node)
    return merged


def takes_a_list(text: ClassText) -> bool:
    """Does it ask for the shape of what it is given an example of too, and goes through: of a list of arrays?"""
    method = text.model.method("__call__")
    both = text.examples.keys() & text.used.keys()
    return method is not None and any(p.arg in both and by_passes.goes_through(method, p) for p in method.parameters)


def note_of_handed(text: ClassText) -> str:
    """What the report says of a class that is handed modules."""
    fields = "`, `".join(sorted(text.analyser.given_outside.handed[text.model.qualname]))
    return f"it is called once when it is made, on shapes, as `{text.call_example}` says: that makes `{fields}`"


def note(text: ClassText) -> str:
    """What the report says of such a class."""
    lines = sorted({site.anchor()[1].lineno for site in text.later})
    return f"it is called once when it is made, on shapes: the sizes of what line {', '.join(map(str, lines))} makes"


def _examples(text: ClassText) -> Iterator[Parts]:
    """What the class is called with: the arguments that have no default, and the optional arrays on which such modules may
    depend.
    """
    method = text.model.method("__call__")
    assert method is not None
    wanted = {name for site in text.later for name in _optional(text, site)}
    typed = is_typed(text)
    values = entry_arguments.of_method(text.run, method)
    for parameter in method.parameters:
        name, default = parameter.arg, method.default(parameter.arg)
        value = values[name].value
        by_name = parameter not in method.positional or default is not None
        optional = name in text.run.optional_arguments
        matters = typed or name in wanted or name in text.used or array_arguments.is_handed_on(text.run, method, name)
        if default is not None and not (optional and matters):
            if _is_merged(text, name, parameter):
                yield f"{name}=", f"False if {name} is None else None"
            elif call_defaults.may_decide(text, method, name, default):
                said = text.examples[name] = _named(text, name)
                yield f"{name}=", said
            continue
        try:
            if typed and not (isinstance(value, Int) or name in example_flags.FLAGS):
                raise Unmigratable("NNX110", f"the dtype of `{name}`, or what else it holds, counts", parameter)
            said = _example(text, name, value)
            said = f"{said} if {text.sized(name, 'shape')} is not None else None" if optional else said
        except Unmigratable:
            said = text.examples[name] = _named(text, name)
        yield (f"{name}=" if by_name else "", said)
    if method.vararg and any(isinstance(n, ast.Name) and n.id == method.vararg for n in method.nodes):
        if any(method.default(p.arg) is not None for p in method.positional):
            raise Unmigratable("NNX110", "a size is not known, and the call takes *args behind defaults", text.model.node)
        said = text.examples[method.vararg] = _named(text, method.vararg)
        yield "*", said
    rest = method.node.args.kwarg
    if rest and not method.parameters and any(isinstance(n, ast.Name) and n.id == rest.arg for n in method.nodes):
        raise Unmigratable("NNX110", "a size is not known, and the call takes **kwargs alone", text.model.node)


def example(text: ClassText, argument: str, name: str) -> AddedArgument:
    """What the constructor takes for such an example, by `name`."""
    return AddedArgument(name, argument, whole=True, default=call_defaults.said(text.model.method("__call__"), argument))


def is_typed(text: ClassText) -> bool:
    """Does what the class makes follow the dtypes of its call, or what its arguments hold beside arrays?"""
    plans = [text.plans.get(site.target) for site in text.later if site.kind == "class"]
    below = any(plan is not None and plan.details is not None and plan.details.typed for plan in plans)
    return below or any(TYPED in site.renders for site in text.later)


def _named(text: ClassText, argument: str) -> str:
    """What the constructor calls an example of what the call is given."""
    name = "in_example" if argument == text.first_argument() else f"{argument}_example"
    while name in text.run.fields or name in text.bound:
        name += "_"
    return name


def _optional(text: ClassText, site: Site) -> set[str]:
    """The optional arrays of the class's call that a module is given."""
    if LATER in site.renders:
        return first_calls.optional_asked(text.run, site.node, site.source)
    assert site.call is not None
    node, source, _ = first_calls.in_method(text.run, first_calls.caller(text.run, site) or site)
    given = [*site.call.args, *site.call.keywords.values()]
    handed = {whole_argument(v) for v in given if isinstance(v, Array)} & text.run.optional_arguments
    return handed | first_calls.optional_asked(text.run, node, source)


def _example(text: ClassText, name: str, value: Value) -> str:
    if isinstance(value, Tup) and type(value) is Tup and value.items:
        method = text.model.method("__call__")
        if method is not None and any(array_arguments.has_number(method, name, i) for i in range(len(value.items))):
            raise Unmigratable("NNX110", f"a size is not known, and `{name}` holds numbers", text.model.node)
        if method is not None and argument_parts.are_read(method, name):
            raise Unmigratable("NNX110", f"a size is not known, and `{name}` holds more than arrays", text.model.node)
        items = [_example(text, f"{name}[{i}]", item) for i, item in enumerate(value.items)]
        return f"[{', '.join(items)}]" if value.kind == "list" else f"({', '.join(items)}{',' * (len(items) == 1)})"
    if isinstance(value, Array):
        return _array(text, name)
    if isinstance(value, Int):
        return text.dim(value.dim)
    if name in example_flags.FLAGS:
        return example_flags.FLAGS[name]
    raise Unmigratable("NNX110", f"a size is not known, and neither is the argument `{name}` of the call", text.model.node)


def _array(text: ClassText, name: str) -> str:
    """`jax.ShapeDtypeStruct(in_shape, jnp.float32)`"""
    method, whole = text.model.method("__call__"), name.partition("[")[0]
    if method is None or (whole == name and not array_arguments.is_array(text.run, method, name)):
        raise Unmigratable("NNX110", f"a size is not known, and nothing shows that `{name}` is an array", text.model.node)
    numpy = text.namer.name("jax.numpy")
    if "mask" in name:
        dtype = "bool"
    elif bridging.INTEGER.search(name) or name in text.analyser.token_arguments(text.model.qualname):
        dtype = f"{numpy}.int32"
    elif text.references is None or bridging.traits_of(text.references, text.model).lookups:
        raise Unmigratable("NNX110", f"a size is not known, and `{name}` may be of integers", text.model.node)
    else:
        dtype = f"{numpy}.float32"
    return f"{text.namer.name('jax.ShapeDtypeStruct')}({text.sized(name, 'shape')}, {dtype})"


__all__ = ["CODE", "example", "found", "lines", "may_find", "note", "note_of_handed", "site_lines", "takes_a_list"]
