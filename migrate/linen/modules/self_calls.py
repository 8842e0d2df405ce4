"""Methods that Linen gives every module: `self.param`, `self.variable`, `self.make_rng`, `self.sow` and the like."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...frozen import frozen
from ..lifted.lifting import variable_axis
from ..project.classes import Field, Method
from ..shapes import shapes
from ..values import closures, detached
from ..values.apart import run_apart
from ..values.arguments import arguments_of, defaults_of, function_env, parameters_of
from ..values.bundles import Bundle
from ..values.default_dtypes import with_argument
from ..values.drawn_names import drawn_by_constructor, drawn_first
from ..values.merging import ArrayOrModule, on_this_side
from ..values.presence import Step
from ..values.sites import Abs, DtypePart, Function, Localized, Make, NameSpec, Site, Static, Table, Unmigratable, Variable
from ..values.values import DTYPES, Array, Const, DtypeOf, Global, Int, Real, Shape, ShapeOf, Tup, Unknown, Value
from . import made_later, own_shapes
from .asked_variables import has_variable
from .construction import name_spec
from .made_later import LATER, NAMED, SEVERAL
from .put_variables import put_variable
from .settled_fields import settled
from .variable_reads import get_variable


def dtype_default(run: Any, method: Method, name: str) -> str:
    """The dtype that an argument has unless it is given, as jax calls it: `def __call__(self, x, dtype=np.float32)`."""
    default = method.default(name)
    known = run.project.qualname(method.source, default) if isinstance(default, ast.Attribute) else None
    module, _, kind = (known or "").rpartition(".")
    return f"jax.numpy.{kind}" if module in ("numpy", "jax.numpy") and kind in DTYPES else ""


def _literal_name(run: Any, node: ast.Call, position: int, keyword: str, env: Any) -> tuple[ast.expr, Abs]:
    argument = node.args[position] if len(node.args) > position else None
    if argument is None:
        argument = next((k.value for k in node.keywords if k.arg == keyword), None)
    if argument is None:
        raise Unmigratable("NNX142", f"`{ast.unparse(node)}` has no name", node)
    return argument, run.evaluate(argument, env)


def self_param(run: Any, node: ast.Call, env: Any) -> Abs:
    """`self.param(name, init, ...)`: a parameter is made here."""
    name_node, name = _literal_name(run, node, 0, "name", env)
    drawn = drawn_first(node, 2) if not run.in_setup else {}
    run.first_draws |= drawn
    mark, streams = len(run.sites), set(run.used_streams)
    arguments = arguments_of(run, node, env)
    rest = [(n, a) for n, a in arguments.positional[1:]]
    keywords = {k: (n, a) for k, n, a in arguments.keywords if k not in ("name", "unbox", "module")}
    _refuse_boxed(node)
    site = Site(
        "param", node, env.source, "params", loops=tuple(run.loops), in_setup=run.in_setup, method=run.entry,
        scopes=run.scopes, holder=run.holder,
    )  # fmt: skip
    site.name = name_spec(run, name_node, name, env)
    init = rest[0] if rest else keywords.pop("init_fn", None)
    if init is None or any(isinstance(n, ast.Starred) for n, _ in rest):
        raise Unmigratable("NNX142", f"`{ast.unparse(node)}` has no plain initializer", node)
    localized: list[Localized] = []
    late = made_later.is_one_of_family(run, site, node, env)
    for argument_node, given in [init, *rest[1:]] if not late else ():
        said = run.drawn.first(run, argument_node, env) or _dtype_argument(run, site, argument_node, given, env)
        if said is None and made_later.is_one(run, site, node, env):
            localized = []
            break
        if said is None:
            raise Unmigratable(
                "NNX111",
                f"the parameter `{_shown(name)}` needs `{ast.unparse(argument_node)}`, known only when it is called",
                argument_node,
            )
        localized.append(said)
    for key, (argument_node, value) in keywords.items() if LATER not in site.renders else ():
        said = run.drawn.first(run, argument_node, env) or _dtype_argument(run, site, argument_node, value, env)
        if said is None and key == "axes" and run.given:
            continue  # it is executed for what it gives, with what one construction says, and nothing of it is written
        if said is None and made_later.is_one(run, site, node, env):
            localized = []
            break
        if said is None or key is None:
            raise Unmigratable("NNX111", f"the parameter `{_shown(name)}` needs `{key}` when it is called", node)
        if key != "axes":
            site.renders[f"kw:{key}"] = said
        elif not (isinstance(value.value, Const) and value.value.value is None):
            site.renders["axes"] = said  # param_with_axes: the logical names of its dimensions
    if LATER not in site.renders and made_later.is_named_so(run, site, node, env):
        localized = []
    site.init_localized = tuple(localized)
    shape_value = rest[1][1].value if len(rest) > 1 else (keywords["shape"][1].value if "shape" in keywords else None)
    site.shape = _array_of(run, shape_value if _is_shape(run, shape_value) else None, init[1].value)
    if isinstance(init[1].value, Function):
        first = follow_init(run, init[1].value, [Abs(Unknown("a key")), *[a for _, a in rest[1:]]])
        site.number = _is_number(run, first)
        site.several = isinstance(first, Tup | Table | Bundle) or detached.gives_tree(run, init[1].value)
        shaped = shape_value is not None and _is_shape(run, shape_value)
        if site.several or own_shapes.is_whole(first) or (not shaped and isinstance(first, Array)):
            site.shape = first  # `lambda *_: w`: it says the shape itself
    else:
        site.several = _may_make_several(init[1].value, shape_value)
    of_number = isinstance(shape_value, Int) and site.shape == Array(Shape((shape_value.dim,)))
    if of_number and not own_shapes.is_of_library(run, init[0], env):
        site.shape = Array(Shape.unknown())  # `def rows(key, width)`: what it makes of the number is not known
    site.shape = own_shapes.taken_apart(site, site.shape)
    site.several |= (node, SEVERAL) in run.analyser.shared_readings
    drawn_by_constructor(run, drawn if LATER not in site.renders else {}, mark, streams)
    site.origin = len(run.sites)
    run.sites.append(site)
    if NAMED in site.renders:  # whose name the constructor does not know: the call on shapes makes it
        site.shape = site.shape if isinstance(site.shape, Array) else Array(Shape.unknown())
    elif not run.in_setup or not env.in_method():  # what a function makes for setup is said beside setup's own text
        run.block.steps.append(Make(site))
    made_by = init[1].value if shape_value is not None and not site.several else None
    if isinstance(made_by, Function) and own_shapes.has_its_own(made_by):
        site.shape = own_shapes.of_made(run, site, made_by, [a for _, a in rest[1:]])
    return Abs(site.shape if not run.in_setup else SetupParam(site, site.shape), False)


def _refuse_boxed(node: ast.Call) -> None:
    """Refuse what is read in its sharding box: `self.param(..., unbox=False)`."""
    for keyword in node.keywords:
        if keyword.arg == "unbox" and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is True):
            raise Unmigratable("NNX142", f"`{ast.unparse(node)}` is read in its box", node)


def _dtype_argument(run: Any, site: Site, node: ast.expr, given: Abs, env: Any) -> Localized | None:
    """A parameter with the dtype of an array of the call: an argument of the constructor, checked where it is used."""
    stem = _stem(site.name)
    if not stem or site.in_setup:
        return None
    argument = f"{stem}_dtype"
    if isinstance(given.value, Function):
        of_text = closures.initializer(run, node, argument, env)
        if of_text is not None:
            site.renders["dtype"] = (argument, of_text[1], "jax.numpy.float32")
        return of_text[0] if of_text is not None else None
    if not isinstance(given.value, DtypeOf):
        return None
    entry = run.model.method(run.entry)
    default = dtype_default(run, entry, node.id) if entry is not None and isinstance(node, ast.Name) else ""
    site.renders["dtype"] = (argument, node, default or "jax.numpy.float32")
    of_field = with_argument(given.value, argument)
    if of_field is not None:
        return of_field
    return Localized(env.source.span(node), env.source, ((env.source.span(node), (DtypePart(argument),)),), frozenset())


def _stem(name: NameSpec | None) -> str:
    """What a constructor's argument may be called after a parameter, or after those of a loop: `scale` of `scale_{i}`."""
    said = name.constant if name is not None else None
    if said is None and name is not None and isinstance(name.node, ast.JoinedStr):
        said = "_".join(str(p.value).strip("_") for p in name.node.values if isinstance(p, ast.Constant)).strip("_")
    return re.sub(r"\W", "_", said or "")


@frozen(eq=False)
class SetupParam(Array):
    """A parameter made in setup, seen through its attribute."""

    site: Site | None = None

    def __init__(self, site: Site, shape: Value) -> None:
        object.__setattr__(self, "shape", shape.shape if isinstance(shape, Array) else Shape.unknown())
        object.__setattr__(self, "site", site)


def setup_side(found: Abs, path: Sequence[Step], node: ast.Attribute) -> Abs:
    """As `on_this_side`, of an attribute of setup: a parameter is read in another way than a module."""
    if not isinstance(found.value, ArrayOrModule):
        return found
    side = on_this_side(found, path)
    if isinstance(side.value, ArrayOrModule):
        reason = f"`{ast.unparse(node)}` may be a parameter or a module, and is read where it may be either"
        raise Unmigratable("NNX132", reason, node)
    made = getattr(side.value, "site", None)
    if made is not None and made.name is not None and made.name.constant != node.attr:
        raise Unmigratable("NNX132", f"`{ast.unparse(node)}` may be a module or a parameter, of another name", node)
    return side


def _array_of(run: Any, shape: Value | None, init: Value) -> Value:
    if isinstance(shape, Static) and _annotation(run, shape) != "int":
        return Array(Shape.unknown())  # a number or a tuple, of however many items
    if shape is not None:
        shape = run.plain(shape)
        if isinstance(shape, Tup):
            dims = [i.dim if isinstance(i, Int) else None for i in shape.items]
            return Array(Shape(tuple(dims)))
        if isinstance(shape, ShapeOf):
            return Array(shape.shape)
        if isinstance(shape, Int):
            return Array(Shape((shape.dim,)))
        return Array(Shape.unknown())
    return Array(Shape.unknown())


def _may_make_several(init: Value, shape: Value | None) -> bool:
    """What a field is given may make several arrays, where no shape is asked of it."""
    return isinstance(init, Static) and not isinstance(shape, Tup | ShapeOf)


def _is_shape(run: Any, value: Value | None) -> bool:
    """May this be a shape? An initializer of the user's own may be given anything: bounds, sizes of other things."""
    items = value.items if isinstance(value, Tup) else (value,)
    for item in items:
        if isinstance(item, Const | Array) or (
            isinstance(item, Static) and _annotation(run, item) in ("float", "bool", "str")
        ):
            return False
    return True


def _annotation(run: Any, value: Static) -> str:
    """What a field is said to be; nothing for any other value."""
    field = run.fields.get(value.text.removeprefix("self.")) if value.text.startswith("self.") else None
    return ast.unparse(field.annotation).strip("'\"") if field is not None and field.annotation is not None else ""


def _shown(name: Abs) -> str:
    return str(name.value.value) if isinstance(name.value, Const) else "?"


def _self_variable(run: Any, node: ast.Call, env: Any) -> Abs:
    _, collection = _literal_name(run, node, 0, "col", env)
    name_node, name = _literal_name(run, node, 1, "name", env)
    collection = settled(run, collection)
    if not isinstance(collection.value, Const):
        raise Unmigratable("NNX143", "the collection of a variable is not a constant", node)
    drawn = drawn_first(node, 2)
    run.first_draws |= drawn
    mark, streams = len(run.sites), set(run.used_streams)
    arguments = arguments_of(run, node, env)
    site = Site(
        "variable", node, env.source, str(collection.value.value), loops=tuple(run.loops),
        in_setup=run.in_setup, method=run.entry, scopes=run.scopes, holder=run.holder,
    )  # fmt: skip
    site.name = name_spec(run, name_node, name, env)
    _refuse_boxed(node)
    options = {k: (n, a) for k, n, a in arguments.keywords if k not in ("col", "name", "unbox")}
    rest = arguments.positional[2:] or [options.pop(k) for k in ("init_fn",) if k in options]
    if None in options or (options and not rest):
        raise Unmigratable("NNX142", f"`{ast.unparse(node)}` has no plain initializer", node)
    site.lazy = site.target in run.lazy and isinstance(name.value, Const) and not run.in_setup and not site.loops
    localized: list[Localized] = []
    late = not site.lazy and made_later.is_one_of_family(run, site, node, env)
    said_first = [*((None, n) for n, _ in rest), *((k, n) for k, (n, _) in options.items())]
    for key, argument_node in said_first if not late else ():
        run.starting = True
        say = run.localize if site.target == "cache" else functools.partial(run.drawn.first, run)
        said = say(argument_node, env) if not site.lazy else None
        run.starting = False
        if said is None and (site.lazy or site.target == "cache"):
            site.lazy = True
            localized = []
            break
        if said is None and made_later.is_one(run, site, node, env):
            localized = []
            break
        if said is None:
            raise Unmigratable(
                "NNX112",
                f"the variable `{_shown(name)}` starts from `{ast.unparse(argument_node)}`, known only when it is called",
                argument_node,
            )
        if key is None:
            localized.append(said)
        else:
            site.renders[f"kw:{key}"] = said
    site.init_localized = tuple(localized)
    given = {k: run.plain(a.value) for k, (_, a) in options.items() if k}
    if rest and isinstance(rest[0][1].value, Function) and not options:
        made = follow_init(run, rest[0][1].value, [a for _, a in rest[1:]])
        site.shape = made
        site.number = _is_number(run, made)
        site.several = not site.number and type(made) is not Array  # None, too, is read as a whole
    elif len(rest) > 1 or "shape" in given:
        args = [run.plain(a.value) for _, a in rest[1:]]
        init = rest[0][1].value
        site.shape = shapes.call(init.name, args, given) if isinstance(init, Global) else Unknown("variable")
    else:
        site.shape = Unknown("variable")
    if LATER in site.renders and not (rest and isinstance(rest[0][1].value, Function) and type(site.shape) is Array):
        made_by = rest[0][1].value if rest else None
        site.several |= not (isinstance(made_by, Global) and made_by.name.startswith(("jax.", "numpy.")))
    if rest and not site.lazy:
        site.several |= _may_make_several(rest[0][1].value, rest[-1][1].value if len(rest) > 1 else None)
    drawn_by_constructor(run, drawn if not site.lazy else {}, mark, streams)
    if site.lazy and (run.in_setup or site.loops or site.name is None or site.name.constant is None):
        raise Unmigratable("NNX112", f"the variable `{_shown(name)}` is made when called, in a loop or in setup", node)
    site.several |= (node, SEVERAL) in run.analyser.shared_readings
    site.origin = len(run.sites)
    run.sites.append(site)
    if not run.in_setup and not site.lazy:
        run.block.steps.append(Make(site))
    return Abs(Variable(site), False)


def _is_number(run: Any, value: Value) -> bool:
    """Is it a Python number? NNX reads what a variable holds by indexing, which numbers do not know."""
    if isinstance(value, Const):
        return isinstance(value.value, int | float | complex)
    if isinstance(value, Static):
        field = run.fields.get(value.text.removeprefix("self."))
        if field is None or value.text != f"self.{field.name}":
            return False
        annotation = ast.unparse(field.annotation) if field.annotation is not None else ""
        return annotation in ("int", "float", "complex", "bool")
    return isinstance(value, Int | Real)


def follow_init(run: Any, function: Function, args: list[Abs]) -> Value:
    """The result of a variable's initializer on its arguments."""
    of_module = function.method is not None and "staticmethod" not in function.method.decorators
    names = parameters_of(function.node)[1 if of_module else 0 :]
    bound = dict(zip(names, args))
    for name, default in defaults_of(function.node).items():
        if name not in bound:
            bound[name] = run.constant(default, function.source)
    for name in names:
        bound.setdefault(name, Abs(Unknown(f"argument {name}")))
    return run_apart(run, function.node, function_env(run, function, bound)).value


def _self_make_rng(run: Any, node: ast.Call, env: Any) -> Abs:
    stream, usual = "params", ""
    if node.args or node.keywords:
        argument, name = _literal_name(run, node, 0, "name", env)
        field = _field_read(run, argument)
        if isinstance(name.value, Const):
            stream = str(name.value.value)
        elif field is not None and field.annotation is not None and ast.unparse(field.annotation) == "str":
            default = run.constant(field.default, field.source).value if field.default is not None else None
            usual = str(default.value) if isinstance(default, Const) else "params"
            stream = f"self.{field.name}"
        else:
            raise Unmigratable("NNX144", "the rng stream is not a constant", node)
    site = Site("rng", node, env.source, stream, in_setup=run.in_setup, method=run.entry, holder=run.holder)
    if any(variable_axis(l)[0] == "stacked" for l in run.scopes):
        raise Unmigratable("NNX168", "a function whose variables are stacked draws random numbers itself", node)
    site.origin = len(run.sites)
    run.sites.append(site)
    run.used_streams.add(usual or stream)
    return Abs(Array(Shape.unknown()), False)


def _field_read(run: Any, node: ast.expr) -> Field | None:
    """The field that `self.field` reads."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return run.fields.get(node.attr)  # type: ignore[no-any-return]
    return None


def _self_sow(run: Any, node: ast.Call, env: Any) -> Abs:
    arguments_of(run, node, env)
    run.analyser.note_sow(run, node, env)
    return Abs(Unknown("sow"), False)


def _self_perturb(run: Any, node: ast.Call, env: Any) -> Abs:
    raise Unmigratable("NNX145", "`self.perturb` is used", node)


def _initializing(answer: bool) -> Callable[[Any, ast.Call, Any], Abs]:
    def answered(run: Any, node: ast.Call, env: Any) -> Abs:
        arguments_of(run, node, env)
        run.constants[node] = str(answer)
        return Abs(Const(answer), static=True)

    return answered


def _unsupported(what: str, code: str) -> Callable[[Any, ast.Call, Any], Abs]:
    def refuse(run: Any, node: ast.Call, env: Any) -> Abs:
        raise Unmigratable(code, f"`self.{what}` is used", node)

    return refuse


def _is_mutable(run: Any, node: ast.Call, env: Any) -> Abs:
    arguments = arguments_of(run, node, env)
    collection = arguments.positional[0][1].value if arguments.positional else None
    if isinstance(collection, Const) and collection.value == "params":
        run.constants[node] = "False"
        return Abs(Const(False), static=True)
    if isinstance(collection, Const) and collection.value == "batch_stats" and not run.in_setup:
        # Linen's callers chose by `mutable=`; NNX's choose by train() and eval(), which set this attribute.
        if "use_running_average" not in run.fields:
            run.constants[node] = "(not self.use_running_average)"
            run.mode_flag = True
            return Abs(Unknown("whether batch_stats are mutable"), False, frozenset({"use_running_average"}))
    raise Unmigratable("NNX146", f"`{ast.unparse(node)}` asks which collections are mutable", node)


SELF_CALLS: Mapping[str, Callable[[Any, ast.Call, Any], Abs]] = {
    "param": self_param,
    "variable": _self_variable,
    "make_rng": _self_make_rng,
    "sow": _self_sow,
    "perturb": _self_perturb,
    "is_initializing": _initializing(False),
    "has_variable": has_variable,
    "is_mutable_collection": _is_mutable,
    "get_variable": get_variable,
    "put_variable": put_variable,
    "has_rng": _unsupported("has_rng", "NNX148"),
    "bind": _unsupported("bind", "NNX149"),
    "unbind": _unsupported("unbind", "NNX149"),
    "clone": _unsupported("clone", "NNX149"),
    "copy": _unsupported("copy", "NNX149"),
    "init": _unsupported("init", "NNX149"),
    "apply": _unsupported("apply", "NNX149"),
    "lazy_init": _unsupported("lazy_init", "NNX149"),
}
