"""Examples for module classes that nobody wrote one for: constructor arguments and inputs by name, annotation and trial.

What a field or argument is called and annotated as says a lot (`num_heads: int`, `input_ids`, `deterministic`); what is
left open is tried: Linen's `init` is traced for shapes only, so a trial costs milliseconds, and the first that it accepts
is the example. A guess decides only *what* both sides are given, never what counts as equal.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import inspect
import itertools
import re
import time
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

Load = Callable[[str], Any]


@dataclasses.dataclass(frozen=True)
class Recipe:
    """An object of the user's own classes, to be made anew on each side: `make(load)` with that side's import."""

    module: str
    qualname: str
    arguments: tuple[tuple[str, Any], ...] = ()

    def make(self, load: Load) -> Any:
        made = load(self.module)
        for part in self.qualname.split("."):
            made = getattr(made, part)
        return made(**{name: realise(value, load) for name, value in self.arguments})


def realise(value: Any, load: Load) -> Any:
    """`value` with its recipes carried out."""
    if isinstance(value, Recipe):
        return value.make(load)
    if isinstance(value, tuple):
        return tuple(realise(v, load) for v in value)
    if isinstance(value, dict):
        return {k: realise(v, load) for k, v in value.items()}
    return value


@dataclasses.dataclass(frozen=True)
class Example:
    """Constructor arguments, positional array inputs by argument name, and flags of the call."""

    arguments: dict[str, Any]
    inputs: dict[str, Any]  # name → ShapeDtypeStruct or None
    call: dict[str, Any]
    streams: tuple[str, ...]


class NoExample(ValueError):
    """Nothing that was tried is accepted; the message has the last refusal, or says what cannot be guessed."""


# By name, the first that matches. Sizes that must divide each other are powers of two.
_SIZES: tuple[tuple[str, Any], ...] = (
    (r"vocab|num_embeddings|n_tokens|n_embed|codebook", 32),
    (r"max_?(len|pos|seq)|(seq|context)_?len|n_positions|block_size|max_.*length|position_embeddings", 16),
    (r"num_classes|n_classes|classes|num_labels|num_outputs|action_dim|n_actions|act_dim|action_size", 5),
    (r"head_(dim|size)|dim_head|(key|value|kv)_(dim|size)", 4),
    (r"heads?$|num_heads|n_heads?|groups?$|num_critics|n_critics|ensemble|experts?$", 2),
    (r"layers?$|depth|blocks?$|n_layers?|num_.*layers|repeats?|stages?$|n_quantiles|levels?$", 2),
    (r"patch_?size", 4),
    (r"image_?size|resolution|img_size", 16),
    (r"kernel_?size", 3),
    (r"strides?$|dilation|multiplier|expan|ratio|scale_factor|window|order|steps?$", 2),
)
_TOKENS = re.compile(r"tokens?$|_ids$|^ids$|indices|labels?$|positions?$|input_ids|token_type|segment|actions_int")
_MASKS = re.compile(r"mask$|^mask|padding")
_TIMES = re.compile(r"^t$|time|^sigma|^step$|noise_level|temperature")
_KEYS = re.compile(r"^(rng|key|prng|seed|random_key|rng_key)$|_(rng|prng)$|^(rng|prng)_")
_ON = re.compile(r"determin|eval|inference|use_running_average|disable_dropout")
_TRAINING = re.compile(r"(is_)?train(ing)?$|deterministic$|enable_dropout$")


def example(cls: type, load: Load, *, method: str = "__call__", seconds: float = 20.0, tries: int = 250) -> Example:
    """Arguments and inputs that `cls` takes. Raises NoExample."""
    function = getattr(cls, method, None)
    if function is None:
        raise NoExample(f"{cls.__name__} has no {method}")
    refusal, count, end = "", 0, time.monotonic() + seconds
    unlikely: Example | None = None
    for width in (8, 32):
        for arguments in constructors(cls, width):
            try:
                module = cls(**realise(arguments, load))
            except Exception as error:
                refusal = f"construction: {type(error).__name__}: {' '.join(str(error).split())[:160]}"
                continue
            for inputs, call in calls(function, width):
                count += 1
                if count > tries or time.monotonic() > end:
                    if unlikely is not None:
                        return unlikely
                    raise NoExample(refusal or "nothing was tried in time")
                try:
                    with _unbatched() as bare:
                        streams = accepts(module, inputs, call, method)
                except Exception as error:
                    refusal = f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
                    continue
                found = Example(arguments, inputs, call, streams)
                if not bare:
                    return found
                unlikely = unlikely or found
    if unlikely is not None:
        return unlikely
    raise NoExample(refusal or "nothing to try")


@contextlib.contextmanager
def _unbatched() -> Iterator[list[str]]:
    """Collects the convolutions that are given an input without a batch dimension: Linen takes it, but few mean it."""
    found: list[str] = []

    def watch(call: Callable[..., Any], args: Any, kwargs: Any, context: Any) -> Any:
        module = context.module
        if isinstance(module, (nn.Conv, nn.ConvTranspose, nn.ConvLocal)) and context.method_name == "__call__" and args:
            size = module.kernel_size
            if jnp.ndim(args[0]) < (1 if isinstance(size, int) else len(size)) + 2:
                found.append(type(module).__name__)
        return call(*args, **kwargs)

    with nn.intercept_methods(watch):
        yield found


def accepts(module: Any, inputs: Mapping[str, Any], call: Mapping[str, Any], method: str) -> tuple[str, ...]:
    """Trace `init` for shapes; the random streams that it wanted. Raises what it raises."""
    from .api import init_shapes

    keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
    for _ in range(6):
        try:
            init_shapes(module, keys, tuple(inputs.values()), dict(call), None if method == "__call__" else method)
            return tuple(keys)
        except Exception as error:
            found = re.search(r'PRNG (?:key )?for "(\w+)"|needs PRNG for "(\w+)"', str(error))
            if found is None or (found[1] or found[2]) in keys:
                raise
            keys[found[1] or found[2]] = jax.random.key(2)
    return tuple(keys)


def constructors(cls: type, width: int) -> Iterator[dict[str, Any]]:
    """Argument sets for the required fields of a Linen class."""
    options: list[tuple[str, list[Any]]] = []
    hints = _hints(cls)
    for field in dataclasses.fields(cls):
        if not field.init or field.name in ("parent", "name") or _has_default(field):
            continue
        options.append((field.name, list(values(field.name, hints.get(field.name, field.type), width, cls))))
    for name, found in options:
        if not found:
            raise NoExample(f"the field `{name}` cannot be guessed")
    for chosen in itertools.islice(itertools.product(*(found for _, found in options)), 12):
        yield dict(zip([name for name, _ in options], chosen))


def _has_default(field: Any) -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _hints(cls: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls)
    except Exception:  # a name that exists for type checkers only
        return dict(getattr(cls, "__annotations__", {}))


def size_of(name: str, width: int) -> int:
    return next((value for pattern, value in _SIZES if re.search(pattern, name.lower())), width)


def values(name: str, hint: Any, width: int, owner: Any = None, depth: int = 0) -> Iterator[Any]:
    """What a field of this name and annotation may be given, likeliest first."""
    text = hint if isinstance(hint, str) else getattr(hint, "__name__", "") or str(hint)
    low = name.lower()
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if inner and (type(None) in inner or origin in (typing.Union, types.UnionType)):
        for one in inner:
            if one is not type(None):
                yield from values(name, one, width, owner, depth)
        if type(None) in inner:
            yield None
        return
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        yield from list(hint)
        return
    if re.search(r"dtype", low) or text in ("Dtype", "DType", "dtype"):
        yield jnp.float32
        return
    if hint is bool or text == "bool":
        yield bool(_ON.search(low))
        return
    if hint is int or text == "int":
        yield size_of(name, width)
        return
    if hint is float or text == "float":
        yield 0.0 if re.search(r"drop|rate|prob", low) else 1e-5 if re.search(r"eps", low) else 1.0
        return
    if hint is str or text == "str":
        yield from ("relu", "gelu", "SAME", "mean")
        return
    listed = origin in (tuple, list) or (origin is not None and "Sequence" in str(origin)) or "Iterable" in text
    if listed or re.match(r"(typing\.)?(Sequence|Tuple|tuple|list|List)\b", text):
        yield from _sequences(name, inner, width)
        return
    if "Callable" in text or "Activation" in text or (origin is not None and "Callable" in str(origin)):
        yield _function(low)
        return
    if isinstance(hint, type) and depth < 3 and hint.__module__ not in ("builtins", "typing", "jax", "numpy"):
        yield from configurations(hint, width, depth)
        return
    if _is_open(hint):
        if re.search(r"init|act|nonlin|fn$", low):
            yield _function(low)
        elif re.search(r"dims|sizes|features$|layers$|channels$|shape|arch", low):
            yield from _sequences(name, (), width)
            yield size_of(name, width)
        else:
            yield size_of(name, width)


def _is_open(hint: Any) -> bool:
    return hint is Any or (isinstance(hint, str) and hint not in ("nn.Module", "Module"))


def _sequences(name: str, inner: Sequence[Any], width: int) -> Iterator[Any]:
    low = name.lower()
    if inner and inner[0] not in (int, Any, ...) and not isinstance(inner[0], typing.TypeVar) and inner[0] is not float:
        for one in values(name, inner[0], width):
            yield (one, one)
        return
    count = len(inner) if inner and ... not in inner and len(inner) > 1 else 2
    size = 1 if re.search(r"stride|dilation|block|stage|repeat|depth|layers_per", low) else size_of(name, width)
    yield (size,) * count
    if count == 2:
        yield (size,)


def _function(low: str) -> Any:
    from flax import linen as nn

    if "bias" in low and "init" in low:
        return nn.initializers.zeros
    if "init" in low:
        return nn.initializers.lecun_normal()
    return nn.relu


def configurations(cls: type, width: int, depth: int = 0) -> Iterator[Recipe]:
    """Recipes for a configuration object: small where its sizes can be told by their names, as it is by default."""
    required: dict[str, Any] = {}
    small: dict[str, Any] = {}
    for name, hint, default, needed in _parameters(cls):
        if needed:
            found = next(values(name, hint, width, cls, depth + 1), None)
            if found is None:
                return
            required[name] = found
        elif isinstance(default, int) and not isinstance(default, bool) and default > 1 and not name.endswith("_id"):
            guess = size_of(name, width)
            if default > guess:
                small[name] = guess
        elif isinstance(default, float) and re.search(r"drop", name):
            small[name] = 0.0
    seen = []
    for chosen in ({**required, **small}, required):
        recipe = Recipe(cls.__module__, cls.__qualname__, tuple(chosen.items()))
        if recipe not in seen:
            seen.append(recipe)
            yield recipe


def _parameters(cls: type) -> Iterator[tuple[str, Any, Any, bool]]:
    """`(name, annotation, default, required)` of a constructor."""
    hints = _hints(cls)
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return
    for p in parameters:
        if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
            continue
        needed = p.default is p.empty
        hint = hints.get(p.name, p.annotation if p.annotation is not p.empty else Any)
        yield p.name, hint, None if needed else p.default, needed


def calls(function: Any, width: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Inputs (arrays of the required arguments, in order) and flags, likeliest first."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    flags: dict[str, Any] = {}
    arrays: list[tuple[str, list[Any]]] = []
    for p in parameters:
        if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
            continue
        text = str(p.annotation).lower()
        if p.default is not p.empty:
            unset = p.default is None and (_ON.search(p.name) or re.match(r"(is_)?train", p.name))
            if unset or (isinstance(p.default, bool) and _TRAINING.match(p.name)):
                flags[p.name] = bool(_ON.search(p.name))
            continue
        named = _ON.search(p.name) or re.match(r"(is_)?train(ing)?$|return_|output_|enable_dropout", p.name)
        if named or _is_flag(p.annotation):
            flags[p.name] = bool(_ON.search(p.name))
            continue
        arrays.append((p.name, list(_shapes(p.name, text, width))))
    if not arrays:
        yield {}, flags
        return
    # All float arguments of one shape first, then every combination.
    seen: set[Any] = set()
    depth = max(len(found) for _, found in arrays)
    aligned = [tuple(found[min(i, len(found) - 1)] for _, found in arrays) for i in range(depth)]
    for chosen in itertools.chain(aligned, itertools.islice(itertools.product(*(f for _, f in arrays)), 60)):
        if str(chosen) in seen:
            continue
        seen.add(str(chosen))
        yield dict(zip([name for name, _ in arrays], chosen)), flags


def _is_flag(annotation: Any) -> bool:
    """`bool`, or that or None; a union of all that is an array names bool types, too."""
    if isinstance(annotation, str):
        return re.fullmatch(r"(typing\.)?(Optional\[)?bool\]?( \| None)?", annotation) is not None
    return bool(annotation in (bool, bool | None))


def _shapes(name: str, annotation: str, width: int) -> Iterator[Any]:
    def array(shape: tuple[int, ...], dtype: Any = jnp.float32) -> Any:
        return jax.ShapeDtypeStruct(shape, dtype)

    low = name.lower()
    if _KEYS.search(low) or "prngkey" in annotation:
        yield jax.ShapeDtypeStruct((), jax.random.key(0).dtype)
        return
    if _TOKENS.search(low):
        yield array((2, 8), jnp.int32)
        yield array((2,), jnp.int32)
    if _MASKS.search(low):
        yield array((2, 8), jnp.int32)
        yield None
        yield array((2, 1, 8, 8), jnp.bool_)
        return
    if _TIMES.search(low):
        yield array((2,))
        yield array((2,), jnp.int32)
        yield array((2, 1))
    for shape in ((2, width), (2, 8, width), (2, 16, 16, width), (2, 16, 16, 3), (2, 32, 32, 3), (width,), (2, 8, 2, 4)):
        yield array(shape)
    yield array((2, 8), jnp.int32)
    yield array((2, 64, 64, 3))
    yield array((2,))
    yield None


__all__ = ["Example", "NoExample", "Recipe", "calls", "constructors", "example", "realise"]
