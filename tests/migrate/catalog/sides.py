"""Both sides of a catalog entry: the Linen layer from source text, the NNX layer from what the catalog builds of it."""

from __future__ import annotations

import ast
import dataclasses
import sys
import types
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx, traverse_util
from nnx_migrate.migrate.catalog import layers
from nnx_migrate.migrate.catalog.layers import Arg, Built, Call, Instance
from nnx_migrate.migrate.linen.values.dims import Dim
from nnx_migrate.migrate.linen.values.values import Array, Const, Global, Int, Shape, Tup, Unknown, Value
from nnx_migrate.migrate.nnx.generated import parity

BF16 = jnp.bfloat16


def value_of(node: ast.expr) -> Value:
    """What the module writer would know of a literal argument."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, int) and not isinstance(node.value, bool):
            return Int(Dim.of(node.value))
        return Const(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        assert isinstance(node.operand.value, int)
        return Int(Dim.of(-node.operand.value))
    if isinstance(node, ast.Tuple | ast.List):
        return Tup(tuple(map(value_of, node.elts)), "tuple" if isinstance(node, ast.Tuple) else "list")
    if isinstance(node, ast.Dict):
        return Const(ast.literal_eval(node))
    if isinstance(node, ast.Attribute):
        text = ast.unparse(node)
        return Global(text.replace("jnp.", "jax.numpy.", 1).replace("nn.", "flax.linen.", 1))
    if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("nn.") and layer_of(node):
        layer, args = parse(node, {})
        return Instance(layer, args)
    return Unknown("not a literal")


def layer_of(node: ast.Call) -> layers.Layer | None:
    return layers.lookup("flax.linen." + ast.unparse(node.func).removeprefix("nn."))


def parse(node: ast.Call, unknown: dict[str, str]) -> tuple[layers.Layer, dict[str, Arg]]:
    """A constructor call → its layer and bound arguments. `unknown` hides the values of some arguments."""
    layer = layer_of(node)
    assert layer is not None, ast.unparse(node)

    def arg(n: ast.expr) -> Arg:
        return Arg((ast.unparse(n),), value_of(n))

    bound = layer.bind([arg(a) for a in node.args], {k.arg: arg(k.value) for k in node.keywords if k.arg})
    return layer, {k: dataclasses.replace(a, value=Unknown()) if k in unknown else a for k, a in bound.items()}


def abstract(value: Any) -> Value:
    if value is None or isinstance(value, bool | str):
        return Const(value)
    if isinstance(value, tuple):
        return Tup(tuple(map(abstract, value)))
    if hasattr(value, "shape"):
        return Array(Shape.of(*value.shape))
    return Unknown()


def text(parts: tuple[Any, ...]) -> str:
    return "".join(parts)


def source(built: Built) -> str:
    """The constructor call as it would be written."""
    pieces = [text(p) for p in built.positional] + [f"{n}={text(p)}" for n, p in built.keywords]
    return f"{built.target}({', '.join(pieces + (['rngs=rngs'] if built.rngs else []))})"


def namespace(names: tuple[str, ...]) -> dict[str, Any]:
    """Globals for migrated text, with a parity module that holds these parts."""
    import flax

    module = types.ModuleType("linen_parity")
    sys.modules["linen_parity"] = module
    exec(compile(parity.render(names), "linen_parity.py", "exec"), module.__dict__)
    return {"flax": flax, "nnx": nnx, "jax": jax, "jnp": jnp, "nn": nn, "linen_parity": module}


@dataclasses.dataclass
class Case:
    """One configuration of one layer.

    `call` is the Linen call's text over the inputs by name, `x` first; `hidden` names constructor arguments whose
    values the catalog is not told; `train` are rng-free runs with these collections mutable.
    """

    ctor: str
    inputs: dict[str, Any]
    call: str = "layer(x)"
    hidden: tuple[str, ...] = ()
    target: str | None = None
    mutable: tuple[str, ...] = ()
    rngs: dict[str, int] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.ctor}|{self.call}"


def _inner_sources(args: dict[str, Arg], layer: layers.Layer, call: Call, needed: list[str]) -> dict[str, Arg]:
    """Layers passed as arguments, printed as NNX constructors."""
    inner = layer.inner_calls(args, call)
    done = dict(args)
    for name, arg in args.items():
        if isinstance(arg.value, Instance):
            sub_call = inner[name]
            sub_args = _inner_sources(dict(arg.value.args), arg.value.layer, sub_call, needed)
            built = arg.value.layer.build(sub_args, sub_call, str)
            needed.extend(built.parity)
            done[name] = dataclasses.replace(arg, parts=(source(built),))
    return done


@dataclasses.dataclass
class Sides:
    built: Built
    linen: nn.Module
    model: nnx.Module
    variables: dict[str, Any]
    linen_call: str
    nnx_call: str
    scope: dict[str, Any]
    output: Value

    def run_linen(self, variables: Any, inputs: dict[str, Any], mutable: tuple[str, ...] = (), rngs: Any = None) -> Any:
        def run(layer: Any) -> Any:
            return eval(self.linen_call, {**self.scope, "layer": layer, **inputs})

        return nn.apply(run, self.linen, mutable=list(mutable) or False)(variables, rngs=rngs)

    def run_nnx(self, model: Any, inputs: dict[str, Any]) -> Any:
        return eval(self.nnx_call, {**self.scope, "layer": model, **inputs})


def created(make: Any, *, traced: bool = True) -> nnx.Module:
    """A model whose variables are zeros: initializers are traced, not compiled. Other arrays need the real thing."""
    model: nnx.Module = nnx.eval_shape(make) if traced else make()
    for _, leaf in nnx.to_flat_state(nnx.state(model)) if traced else []:
        is_key = jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)
        leaf.set_value(jax.random.key(0) if is_key else np.zeros(leaf.shape, leaf.dtype))
    return model


def rewrite_call(layer: layers.Layer, args: dict[str, Arg], node: ast.Call) -> tuple[str, tuple[str, ...]]:
    positional = [(ast.unparse(a),) for a in node.args]
    keywords = [(k.arg, (ast.unparse(k.value),)) for k in node.keywords]
    if isinstance(node.func, ast.Attribute):
        new_positional, new_keywords, method = layer.call_method(node.func.attr, args, positional, keywords)
    else:
        new_positional, new_keywords, method = layer.call(args, positional, keywords)
    pieces = [text(p) for p in new_positional] + [f"{n}={text(p)}" for n, p in new_keywords]
    function = f"layer.{method}" if method else "layer"
    return f"{function}({', '.join(pieces)})", layer.parity_of_call(args, [n for n, _ in new_keywords])


def construct(case: Case) -> Sides:
    """Both layers with the same random weights; keys and shapes are checked on the way."""
    node = ast.parse(case.ctor, mode="eval").body
    assert isinstance(node, ast.Call)
    layer, args = parse(node, dict.fromkeys(case.hidden, ""))
    call_node = ast.parse(case.call, mode="eval").body
    assert isinstance(call_node, ast.Call)
    known = {name: abstract(v) for name, v in case.inputs.items()}

    def operand(n: ast.expr) -> Value:
        if isinstance(n, ast.Name):
            return known[n.id]
        if isinstance(n, ast.Tuple):
            return Tup(tuple(map(operand, n.elts)))
        return value_of(n)

    call = Call(tuple(operand(a) for a in call_node.args), {k.arg: operand(k.value) for k in call_node.keywords if k.arg})
    needed: list[str] = []
    printed = _inner_sources(args, layer, call, needed)
    is_method = isinstance(call_node.func, ast.Attribute)
    built = layer.build(printed, None if is_method else call, str)
    nnx_call, call_parts = rewrite_call(layer, printed, call_node)
    scope = namespace((*built.parity, *call_parts, *needed))
    linen = eval(case.ctor, scope)
    model = created(lambda: eval(source(built), {**scope, "rngs": nnx.Rngs(0)}), traced="mask=" not in case.ctor)
    output = layer.method_output(call_node.func.attr, args, call) if is_method else layer.output(args, call)
    sides = Sides(built, linen, model, {}, case.call, nnx_call, scope, output)

    def run(module: Any) -> Any:
        return eval(case.call, {**scope, "layer": module, **case.inputs})

    keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
    variables = jax.eval_shape(nn.init(run, linen), keys)
    sides.variables = randomized(variables)
    transplant(sides.variables, model)
    return sides


def randomized(variables: Any) -> dict[str, Any]:
    out = {}
    for number, (path, value) in enumerate(sorted(traverse_util.flatten_dict(variables).items())):
        if jnp.issubdtype(value.dtype, jnp.floating):
            noise = np.abs(np.random.default_rng(number).normal(size=value.shape)) * 0.7 + 0.1
            value = jnp.asarray(noise * np.where(np.arange(noise.size).reshape(noise.shape) % 3, 1, -1), value.dtype)
            value = jnp.abs(value) if path[-1] == "var" else value
        else:
            value = jnp.zeros(value.shape, value.dtype)
        out[path] = value
    return traverse_util.unflatten_dict(out)


_COLLECTIONS = {"params": nnx.Param, "batch_stats": nnx.BatchStat, "cache": nnx.Cache}


def linen_key(path: tuple[Any, ...]) -> str:
    """NNX path → Linen path: numbered names, and what NNX calls otherwise in a cell."""
    parts: list[str] = []
    for key in path:
        if isinstance(key, int):
            parts[-1] += f"_{key}"
        else:
            parts.append("if" if key == "if_" else str(key))
    return "/".join(parts)


def flat(model: nnx.Module, collection: str) -> dict[str, nnx.Variable]:
    state = nnx.state(model, _COLLECTIONS[collection])
    return {linen_key(path): variable for path, variable in nnx.to_flat_state(state)}


def transplant(variables: dict[str, Any], model: nnx.Module) -> None:
    """Linen's values into the model, by key. Every key must be there on both sides, with shape and dtype."""
    for collection in _COLLECTIONS:
        there = flat(model, collection)
        if collection == "cache" and not there:
            continue
        tree = variables.get(collection, {})
        here = {"/".join(p): v for p, v in traverse_util.flatten_dict(tree).items()}
        assert set(there) == set(here), (collection, sorted(there), sorted(here))
        for key, value in here.items():
            assert there[key].shape == value.shape, (key, there[key].shape, value.shape)
            assert there[key].dtype == value.dtype, (key, there[key].dtype, value.dtype)
            there[key].set_value(value)
    nnx.update(model, nnx.state(model))


def by_key(tree: Any) -> dict[str, Any]:
    """A nested collection by path."""
    return {"/".join(path): value for path, value in traverse_util.flatten_dict(tree).items()}


def same(a: Any, b: Any, what: str) -> None:
    """Bitwise equal trees, dtypes too."""
    left, right = jax.tree.leaves(a), jax.tree.leaves(b)
    assert len(left) == len(right), (what, len(left), len(right))
    for x, y in zip(left, right, strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert x.dtype == y.dtype and x.shape == y.shape, (what, x.dtype, y.dtype, x.shape, y.shape)
        if not np.array_equal(x, y, equal_nan=True):
            gap = np.max(np.abs(x.astype(np.float64) - y.astype(np.float64)))
            raise AssertionError(f"{what}: differ by up to {gap}")
