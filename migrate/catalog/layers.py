"""How each flax.linen layer is constructed and called in flax.nnx.

The module writer executes a Linen module symbolically. For each layer that it meets it asks here: which NNX class
(or class of the generated `linen_parity` module) takes its place, with which arguments, which input sizes the
constructor needs, how the call is written, and what shape comes out.

Facts are those of flax 0.12.8; tests/migrate/catalog runs both sides of every entry.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..edits import Parts
from ..frozen import frozen
from ..linen.values.dims import Dim, DimLike
from ..linen.values.values import Array, Const, Global, Int, Shape, Tup, Unknown, Value

DimText = Callable[[Dim], str]
Keywords = tuple[tuple[str, Parts], ...]
CallText = tuple[list[Parts], list[tuple[str | None, Parts]], str | None]


class Ref(str):
    """Dotted name of something global within `Parts`, for example `flax.nnx.Rngs` or `linen_parity.keep`.

    It is a `str`, so it renders as it stands; a writer may put the file's own name of it in its place.
    """

    __slots__ = ()


@frozen
class Arg:
    """A constructor argument: how it is printed, and what symbolic execution knows of it."""

    parts: Parts
    value: Value = dataclasses.field(default_factory=Unknown)


@frozen
class Call:
    """The first call of an instance.

    `optional` names the arguments that may be None at run time; `methods` the other methods that are called on the
    instance, None where that is not known.
    """

    args: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    methods: frozenset[str] | None = None


@frozen
class Param:
    """A parameter: `default` is its source text, None where it is required."""

    name: str
    default: str | None = None
    keyword_only: bool = False


@frozen
class Built:
    """The constructor call to write. `names` are the parameter names of `positional`; `rngs=` is not among them.

    `parity` lists the parts of the parity module that it needs; `notes` are (code, message) for the report.
    """

    target: str
    positional: tuple[Parts, ...] = ()
    keywords: Keywords = ()
    rngs: bool = True
    parity: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()

    def without(self, given: Keywords) -> Built:
        """The same call through a partial that already holds `given`; an argument printed otherwise overrides it."""
        kept = list(given)
        positional: list[tuple[str, Parts]] = []
        keywords: list[tuple[str, Parts]] = []
        gap = False
        for name, parts in zip(self.names, self.positional, strict=True):
            if (name, parts) in kept:
                gap = True
            elif gap or any(name == n for n, _ in kept):
                gap = True
                keywords.append((name, parts))
            else:
                positional.append((name, parts))
        keywords += [pair for pair in self.keywords if pair not in kept]
        return dataclasses.replace(
            self,
            positional=tuple(p for _, p in positional),
            names=tuple(n for n, _ in positional),
            keywords=tuple(keywords),
        )


AT_CALL = Unknown("given at the call")  # the value of an argument that NNX takes when called


class SizeUnknown(Exception):
    """The constructor needs an input size that the call's shapes do not give."""

    def __init__(self, argument: str, why: str) -> None:
        super().__init__(f"{argument}: {why}")
        self.argument = argument
        self.why = why


class Unsupported(Exception):
    """This configuration has no native form: bridge the class."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code = code
        self.reason = reason


class BadCall(TypeError):
    """The arguments do not fit the Linen signature: the Linen program itself would raise."""


@frozen
class Instance(Value):
    """A layer passed to another layer: `nn.RNN(nn.LSTMCell(8))`."""

    layer: Layer
    args: Mapping[str, Arg] = dataclasses.field(default_factory=dict, compare=False)


# What is known of an argument ------------------------------------------------------------------------------------
def is_none(arg: Arg | None) -> bool:
    """Absent, or None for certain."""
    return arg is None or arg.value == Const(None)


def is_const(arg: Arg | None, value: object) -> bool:
    """Known to be the constant `value` (True, False, a string ...); an integer is compared as a size."""
    if arg is None:
        return False
    if isinstance(arg.value, Int):
        return not isinstance(value, bool) and arg.value.dim.value == value
    return isinstance(arg.value, Const) and type(arg.value.value) is type(value) and arg.value.value == value


def number(arg: Arg | None) -> float | None:
    """The number that an argument is, if that is known."""
    if arg is None:
        return None
    if isinstance(arg.value, Int):
        return arg.value.dim.value
    if isinstance(arg.value, Const) and isinstance(arg.value.value, int | float):
        return arg.value.value
    return None


def is_float32(arg: Arg | None) -> bool:
    """Known to be float32, under any of its names."""
    if arg is None:
        return False
    if isinstance(arg.value, Global):
        return arg.value.name in ("jax.numpy.float32", "numpy.float32")
    return arg.value == Const("float32")


def size_of(arg: Arg | None) -> Dim | None:
    """The size that an integer argument is."""
    return arg.value.dim if arg is not None and isinstance(arg.value, Int) else None


def sizes_of(arg: Arg | None) -> tuple[Dim | None, ...] | None:
    """The sizes in a tuple or list argument; an integer is a tuple of one."""
    if arg is None:
        return None
    if isinstance(arg.value, Int):
        return (arg.value.dim,)
    if isinstance(arg.value, Tup):
        return tuple(item.dim if isinstance(item, Int) else None for item in arg.value.items)
    return None


def ints_of(arg: Arg | None) -> tuple[int, ...] | None:
    """The known integers in a tuple or list argument, or of a single integer."""
    sizes = sizes_of(arg)
    if sizes is None:
        return None
    numbers = [None if d is None else d.value for d in sizes]
    return None if any(n is None for n in numbers) else tuple(n for n in numbers if n is not None)


def shape_of(value: Value | None) -> Shape:
    """The shape of an array value; unknown where it is not known to be one."""
    return value.shape if isinstance(value, Array) else Shape.unknown()


def why_of(value: Value | None) -> str:
    """Why a value is not known, for messages."""
    return value.why if isinstance(value, Unknown) and value.why else "its shape is not known"


def _frozen_pairs(arg: Arg) -> Arg:
    """`[[2, 2], [2, 2]]`, which Linen freezes, and which no convolution takes as it is."""
    pairs = arg.value.items if isinstance(arg.value, Tup) else ()
    if not any(isinstance(pair, Tup) and pair.kind == "list" for pair in pairs):
        return arg
    numbers = [[size.dim.value if isinstance(size, Int) else None for size in getattr(pair, "items", ())] for pair in pairs]
    if all(pair and None not in pair for pair in numbers):
        return dataclasses.replace(arg, parts=(str(tuple(map(tuple, numbers))),))
    return dataclasses.replace(arg, parts=("tuple(map(tuple, ", *arg.parts, "))"))


class Draft:
    """A constructor call in the making; knows whether it is the call itself or a partial without sizes."""

    def __init__(self, args: Mapping[str, Arg], dim_text: DimText | None) -> None:
        self.args = {name: _frozen_pairs(arg) if name == "padding" else arg for name, arg in args.items()}
        self.dim_text = dim_text
        self.call: Call | None = None
        self._positional: list[tuple[str, Parts]] = []
        self._keywords: list[tuple[str, Parts]] = []
        self._gap = self.is_partial
        self._parity: list[str] = []
        self.notes: list[tuple[str, str]] = []
        self.used: set[str] = set()

    @property
    def is_partial(self) -> bool:
        return self.dim_text is None

    def text(self, dim: DimLike) -> str:
        assert self.dim_text is not None
        return self.dim_text(Dim.of(dim))

    def put(self, name: str, *parts: str) -> None:
        """A keyword that Linen had not."""
        self._keywords.append((name, tuple(parts)))

    def put_parts(self, name: str, parts: Parts) -> None:
        self._keywords.append((name, parts))

    def put_positional(self, name: str, parts: Parts) -> None:
        (self._keywords if self._gap else self._positional).append((name, parts))

    def size(self, name: str, dim: Dim | None, why: str = "its size is not known", *, keyword: bool = False) -> None:
        """An input size, computed. Left out of a partial."""
        if self.is_partial:
            return
        if dim is None:
            raise SizeUnknown(name, why)
        if keyword:
            self.put(name, self.text(dim))
        else:
            self.put_positional(name, (self.text(dim),))

    def move(self, linen: str, nnx: str, *, positional: bool = False) -> None:
        """A Linen argument under its NNX name, by position where the place is free."""
        arg = self.args.get(linen)
        self.used.add(linen)
        if arg is None:
            self._gap = self._gap or positional
        elif positional:
            self.put_positional(nnx, arg.parts)
        else:
            self._keywords.append((nnx, arg.parts))

    def drop(self, *names: str) -> None:
        """Linen arguments that NNX does not have."""
        self.used.update(names)

    def rest(self) -> None:
        """Every argument not yet dealt with, under its own name."""
        for name, arg in self.args.items():
            if name not in self.used:
                self.used.add(name)
                self._keywords.append((name, arg.parts))

    def need(self, part: str) -> Ref:
        """The name of a parity part, noted as needed."""
        if part not in self._parity:
            self._parity.append(part)
        return Ref(f"linen_parity.{part}")

    def finish(self, target: str, *, rngs: bool = True) -> Built:
        return Built(
            target,
            tuple(parts for _, parts in self._positional),
            tuple(self._keywords),
            rngs,
            tuple(self._parity),
            tuple(self.notes),
            tuple(name for name, _ in self._positional),
        )


class Layer:
    """One Linen layer. Subclasses write `draft` (the constructor) and `shape` (the result); the rest is data.

    Attributes:
      linen: canonical name, `flax.linen.Dense`.
      parameters: constructor fields in order, without parent and name.
      call_parameters: parameters of `__call__`.
      call_aliases: other names of these, by which NNX does not know them.
      collections, streams: variable collections it may make, rng streams it may read when called.
      call_time_fields: constructor fields that NNX also takes when called, field → keyword of the NNX call.
      late_fields: others that a class of `linen_parity` takes when called, under the same name.
      dtype_when_called: whether NNX's layer reads its `dtype` when it is called, and nothing else follows from it.
      instead_of_moved: of both, what the constructor is given where the call takes the field.
      methods: other methods → their parameters.
      attributes: fields and parameters that are read under another name in NNX.
      wrapper: has no variables of its own, only those of layers given to it. In a compact method Linen keeps these
        layers in the calling module (`LSTMCell_0` beside `RNN_0`), so to keep the keys construct the wrapper where it
        is called: `nnx.RNN(self.LSTMCell_0)(x)`. In `setup` it is an attribute that holds its layers (`rnn/cell`).
    """

    linen: str = ""
    parameters: tuple[Param, ...] = ()
    call_parameters: tuple[Param, ...] = (Param("inputs"),)
    call_aliases: Mapping[str, str] = {}
    collections: frozenset[str] = frozenset({"params"})
    streams: frozenset[str] = frozenset()
    call_time_fields: Mapping[str, str] = {}
    late_fields: frozenset[str] = frozenset()
    dtype_when_called: bool = False
    instead_of_moved: Mapping[str, str] = {}
    methods: Mapping[str, tuple[Param, ...]] = {}
    attributes: Mapping[str, str] = {}
    wrapper: bool = False

    def collections_of(self, args: Mapping[str, Arg]) -> frozenset[str]:
        """Variable collections of this configuration."""
        return self.collections

    def streams_of(self, args: Mapping[str, Arg]) -> frozenset[str]:
        """Random streams that this configuration may read when called."""
        return self.streams

    # construction ----------------------------------------------------------------------------------------------
    def bind(self, positional: Sequence[Arg], keywords: Mapping[str, Arg]) -> dict[str, Arg]:
        """Arguments by field name, in the order written; `name` and `parent` are not among them. BadCall if wrong."""
        return bind(self.parameters, positional, keywords, self.linen)

    def build(self, args: Mapping[str, Arg], call: Call | None, dim_text: DimText) -> Built:
        """The NNX constructor call. Raises SizeUnknown and Unsupported."""
        self._require(args)
        draft = Draft(args, dim_text)
        draft.call = call
        return self.draft(draft, self.bind_call(call) if call is not None else None)

    def partial(self, args: Mapping[str, Arg]) -> Built:
        """What `functools.partial(<layer>, ...)` keeps: keywords only, input sizes left to the call."""
        return self.draft(Draft(args, None), None)

    def complete(self, held: Mapping[str, Arg], args: Mapping[str, Arg], call: Call | None, dim_text: DimText) -> Built:
        """The call of a partial that holds the Linen arguments `held`, with `args` on top."""
        inner = self.partial(held)
        built = self.build({**held, **args}, call, dim_text)
        if built.target != inner.target:
            raise Unsupported("NNX202", f"the partial becomes {inner.target}, but one of its calls {built.target}")
        return built.without(inner.keywords)

    def draft(self, draft: Draft, call: Mapping[str, Value] | None) -> Built:
        raise NotImplementedError

    def _require(self, args: Mapping[str, Arg]) -> None:
        for param in self.parameters:
            if param.default is None and param.name not in args:
                raise BadCall(f"{self.linen} needs the argument {param.name!r}")

    # calls -----------------------------------------------------------------------------------------------------
    def named_today(self, node: ast.Call, values: Sequence[Value]) -> dict[int, str]:
        """Which arguments by position of a call are keywords today, as its words and their `values` show."""
        return {}

    def bind_call(self, call: Call) -> dict[str, Value]:
        """Values of the call by parameter name. Surplus arguments are a BadCall."""
        found: dict[str, Value] = {}
        places = [p for p in self.call_parameters if not p.keyword_only]
        if len(call.args) > len(places):
            raise BadCall(f"{self.linen} is called with {len(call.args)} positional arguments")
        for param, value in zip(places, call.args):
            found[param.name] = value
        known = {p.name for p in self.call_parameters}
        for name, value in call.keywords.items():
            if name not in known:
                raise BadCall(f"{self.linen}.__call__ has no argument {name!r}")
            found[name] = value
        return found

    def output(self, args: Mapping[str, Arg], call: Call, inner: Mapping[str, Value] | None = None) -> Value:
        """What the call returns. `inner` holds the results of `inner_calls` by field, where they are known better."""
        return self.shape(args, self.bind_call(call), {**self.inner_results(args, call), **(inner or {})})

    def inner_results(self, args: Mapping[str, Arg], call: Call) -> dict[str, Value]:
        """Results of the layers given as arguments."""
        found: dict[str, Value] = {}
        for name, inner_call in self.inner_calls(args, call).items():
            arg = args.get(name)
            if arg is not None and isinstance(arg.value, Instance):
                found[name] = arg.value.layer.output(arg.value.args, inner_call)
        return found

    def shape(self, args: Mapping[str, Arg], call: Mapping[str, Value], inner: Mapping[str, Value]) -> Value:
        raise NotImplementedError

    def inner_calls(self, args: Mapping[str, Arg], call: Call) -> dict[str, Call]:
        """How the layer calls the modules that it holds, by field; with several in one field, the first."""
        return {}

    def call(
        self,
        args: Mapping[str, Arg],
        positional: Sequence[Parts],
        keywords: Sequence[tuple[str | None, Parts]],
    ) -> CallText:
        """How the call is written in NNX: positional arguments, keywords, and the method if it is not `__call__`."""
        return list(positional), [(self._call_name(n), p) for n, p in keywords], None

    def _call_name(self, name: str | None) -> str | None:
        return self.call_time_fields.get(name, name) if name else name

    def call_method(
        self,
        name: str,
        args: Mapping[str, Arg],
        positional: Sequence[Parts],
        keywords: Sequence[tuple[str | None, Parts]],
    ) -> CallText:
        """As `call`, for one of `methods`."""
        return list(positional), list(keywords), name

    def method_output(self, name: str, args: Mapping[str, Arg], call: Call) -> Value:
        """What one of `methods` returns."""
        return Unknown(f"the result of {self.linen}.{name}")

    def parity_of_call(self, args: Mapping[str, Arg], keywords: Iterable[str | None]) -> tuple[str, ...]:
        """Parity parts that the text of `call` names, for a call with these keywords."""
        return ()


def bind(parameters: Sequence[Param], positional: Sequence[Arg], keywords: Mapping[str, Arg], owner: str) -> dict[str, Arg]:
    """Arguments by parameter name in the order written. BadCall on surplus, unknown or doubled ones."""
    places = [p for p in parameters if not p.keyword_only]
    if len(positional) > len(places):
        raise BadCall(f"{owner} takes {len(places)} positional arguments, not {len(positional)}")
    found = {param.name: arg for param, arg in zip(places, positional)}
    known = {p.name for p in parameters}
    for name, arg in keywords.items():
        if name in ("name", "parent"):
            continue
        if name not in known:
            raise BadCall(f"{owner} has no argument {name!r}")
        if name in found:
            raise BadCall(f"{owner} got the argument {name!r} twice")
        found[name] = arg
    return found


def params(text: str) -> tuple[Param, ...]:
    """`"features, use_bias=True"` → parameters; after `*` they are keyword-only. Defaults hold no comma."""
    found: list[Param] = []
    keyword_only = False
    for piece in text.split(","):
        name, equals, default = piece.strip().partition("=")
        if name == "*":
            keyword_only = True
        elif name:
            found.append(Param(name, default if equals else None, keyword_only))
    return tuple(found)


def split_call(
    parameters: Sequence[Param], positional: Sequence[Parts], keywords: Sequence[tuple[str | None, Parts]], keep: int
) -> tuple[list[Parts], list[tuple[str | None, Parts]]]:
    """Leave the first `keep` arguments by position, give the others as keywords.

    An unpacked argument (its text starts with `*`) leaves everything as it was: which parameters it fills is unknown.
    """
    if any(isinstance(p[0], str) and p[0].startswith("*") for p in positional if p):
        return list(positional), list(keywords)
    places = [p for p in parameters if not p.keyword_only]
    named: list[tuple[str | None, Parts]] = [(param.name, parts) for param, parts in list(zip(places, positional))[keep:]]
    return list(positional[:keep]), [*named, *keywords]


@functools.cache
def catalog() -> dict[str, Layer]:
    """Every layer by its canonical Linen name."""
    from . import layers_attention, layers_linear, layers_norm, layers_other, layers_recurrent

    found: dict[str, Layer] = {}
    for module in (layers_linear, layers_norm, layers_attention, layers_recurrent, layers_other):
        for layer in module.LAYERS:
            found[layer.linen] = layer
    return found


def lookup(qualname: str) -> Layer | None:
    """The layer of a canonical name (`flax.linen.Dense`), None for anything else."""
    return catalog().get(qualname)


def named_today(target: str, node: ast.Call, values: Sequence[Value]) -> dict[int, str]:
    """Which arguments by position of a layer's call are keywords today."""
    layer = lookup(target)
    return layer.named_today(node, values) if layer is not None else {}
