"""Mutation campaign: does the proof ever accept a changed module, or reject one that means the same?

    python benchmarks/mutants.py --mutants 2000 --refactorings 500
    python benchmarks/mutants.py --mutants 100 --refactorings 25 --pieces 20 --piece 7 --append counts.jsonl

Mutants are made from the syntax trees of migrated modules by small changes of meaning, singly and in pairs. A mutant that is
proved equal is also run: if the numbers differ it is a false proof, of which there must be none. One whose numbers do not
differ is no mutant and is not counted. Refactorings keep the meaning; one that keeps every bit and is not proved is a false
alarm. Some change the order in which cotangents are summed, so the last bits of a gradient: not proved, rightly, and counted
apart.
"""

from __future__ import annotations

import argparse
import ast
import copy
import dataclasses
import itertools
import json
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import mutant_bases

HEAD = "import jax, jax.numpy as jnp, flax.linen as nn\nfrom flax import nnx\nfrom jax import lax\n"


@dataclasses.dataclass(frozen=True)
class Base:
    """A Linen module, its faithful migration, and how both are called."""

    name: str
    linen: str
    native: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    train: bool = False


BASES = [
    Base(
        "mlp",
        """
class L(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(6, name="a")(x))
        y = jnp.tanh(nn.Dense(6, name="b")(x)) * 0.5 + x
        y = nn.LayerNorm(epsilon=1e-3, name="n")(y)
        return nn.Dense(6, name="c")(y) - y.mean(-1, keepdims=True)
""",
        """
class N(nnx.Module):
    def __init__(self, rngs):
        self.a = nnx.Linear(6, 6, rngs=rngs)
        self.b = nnx.Linear(6, 6, rngs=rngs)
        self.c = nnx.Linear(6, 6, rngs=rngs)
        self.n = nnx.LayerNorm(6, epsilon=1e-3, rngs=rngs)
    def __call__(self, x):
        x = nnx.relu(self.a(x))
        y = jnp.tanh(self.b(x)) * 0.5 + x
        y = self.n(y)
        return self.c(y) - y.mean(-1, keepdims=True)
""",
        (3, 6),
    ),
    Base(
        "attention",
        """
class L(nn.Module):
    @nn.compact
    def __call__(self, x):
        h = nn.RMSNorm(name="n")(x)
        q, k, v = nn.Dense(8, name="q")(h), nn.Dense(8, name="k")(h), nn.Dense(8, name="v")(h)
        q, k, v = q.reshape(2, 8, 2, 4), k.reshape(2, 8, 2, 4), v.reshape(2, 8, 2, 4)
        w = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2.0
        mask = jnp.tril(jnp.ones((8, 8))) > 0
        w = jax.nn.softmax(jnp.where(mask, w, -1e9), axis=-1)
        o = jnp.einsum("bhqk,bkhd->bqhd", w, v).reshape(2, 8, 8)
        return x + nn.Dense(8, use_bias=False, name="o")(o)
""",
        """
class N(nnx.Module):
    def __init__(self, rngs):
        self.n = nnx.RMSNorm(8, rngs=rngs)
        self.q = nnx.Linear(8, 8, rngs=rngs)
        self.k = nnx.Linear(8, 8, rngs=rngs)
        self.v = nnx.Linear(8, 8, rngs=rngs)
        self.o = nnx.Linear(8, 8, use_bias=False, rngs=rngs)
    def __call__(self, x):
        h = self.n(x)
        q, k, v = self.q(h), self.k(h), self.v(h)
        q, k, v = q.reshape(2, 8, 2, 4), k.reshape(2, 8, 2, 4), v.reshape(2, 8, 2, 4)
        w = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2.0
        mask = jnp.tril(jnp.ones((8, 8))) > 0
        w = jax.nn.softmax(jnp.where(mask, w, -1e9), axis=-1)
        o = jnp.einsum("bhqk,bkhd->bqhd", w, v).reshape(2, 8, 8)
        return x + self.o(o)
""",
        (2, 8, 8),
    ),
    Base(
        "conv",
        """
class L(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.Conv(4, (3, 3), strides=(1, 1), padding="SAME", name="c1")(x)
        y = nn.BatchNorm(use_running_average=False, momentum=0.9, name="bn")(y)
        y = nn.avg_pool(nn.relu(y), (2, 2), strides=(2, 2))
        y = nn.Conv(4, (1, 1), name="c2")(y)
        return nn.sigmoid(y).sum((1, 2)) / 4.0
""",
        """
class N(nnx.Module):
    def __init__(self, rngs):
        self.c1 = nnx.Conv(4, 4, (3, 3), strides=(1, 1), padding="SAME", rngs=rngs)
        self.bn = nnx.BatchNorm(4, momentum=0.9, rngs=rngs)
        self.c2 = nnx.Conv(4, 4, (1, 1), rngs=rngs)
    def __call__(self, x):
        y = self.c1(x)
        y = self.bn(y, use_running_average=False)
        y = nnx.avg_pool(nnx.relu(y), (2, 2), strides=(2, 2))
        y = self.c2(y)
        return nnx.sigmoid(y).sum((1, 2)) / 4.0
""",
        (2, 6, 6, 4),
        train=True,
    ),
    Base(
        "loop",
        """
class L(nn.Module):
    @nn.compact
    def __call__(self, x):
        w = self.param("w", nn.initializers.lecun_normal(), (5, 5))
        u = self.param("u", nn.initializers.lecun_normal(), (5, 5))
        def step(c, t):
            h, s = c
            h = jnp.tanh(h @ w + t @ u)
            s = s * 0.9 + h * 0.1
            return (h, s), h - s
        (h, s), ys = lax.scan(step, (jnp.zeros(5), jnp.ones(5)), x)
        return ys * h + s
""",
        """
class N(nnx.Module):
    def __init__(self, rngs):
        self.w = nnx.Param(nnx.initializers.lecun_normal()(rngs.params(), (5, 5)))
        self.u = nnx.Param(nnx.initializers.lecun_normal()(rngs.params(), (5, 5)))
    def __call__(self, x):
        w = self.w[...]
        u = self.u[...]
        def step(c, t):
            h, s = c
            h = jnp.tanh(h @ w + t @ u)
            s = s * 0.9 + h * 0.1
            return (h, s), h - s
        (h, s), ys = lax.scan(step, (jnp.zeros(5), jnp.ones(5)), x)
        return ys * h + s
""",
        (7, 5),
    ),
    Base(
        "gated",
        """
class L(nn.Module):
    @nn.compact
    def __call__(self, x):
        g = nn.sigmoid(nn.Dense(5, name="g")(x))
        h = nn.gelu(nn.Dense(5, name="h")(x))
        y = g * h + (1.0 - g) * x
        y = lax.cond(y.sum() > 0.0, lambda z: z * 2.0, lambda z: z - 1.0, y)
        scale = lax.stop_gradient(jnp.abs(y).max())
        return y / (scale + 1e-3)
""",
        """
class N(nnx.Module):
    def __init__(self, rngs):
        self.g = nnx.Linear(5, 5, rngs=rngs)
        self.h = nnx.Linear(5, 5, rngs=rngs)
    def __call__(self, x):
        g = nnx.sigmoid(self.g(x))
        h = nnx.gelu(self.h(x))
        y = g * h + (1.0 - g) * x
        y = lax.cond(y.sum() > 0.0, lambda z: z * 2.0, lambda z: z - 1.0, y)
        scale = lax.stop_gradient(jnp.abs(y).max())
        return y / (scale + 1e-3)
""",
        (4, 5),
    ),
]

BASES += [Base(name, linen, native, shape, dtype) for name, linen, native, shape, dtype in mutant_bases.MORE]
Site = tuple[ast.AST, Callable[[], None]]
_SWAPS = {
    "relu": "gelu", "gelu": "silu", "tanh": "sin", "sigmoid": "tanh", "softmax": "log_softmax", "mean": "sum", "sum": "mean",
    "max": "min", "tril": "triu", "avg_pool": "max_pool", "ones": "zeros", "zeros": "ones", "abs": "square",
    "Linear": "Linear", "stop_gradient": "square",
}  # fmt: skip
_OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Mult),
    ast.Mult: (ast.Add, ast.Sub),
    ast.Div: (ast.Mult, ast.Add),
    ast.Gt: (ast.Lt, ast.GtE),
}


def mutations(tree: ast.Module) -> list[Callable[[], str]]:
    """In-place changes of meaning of `tree`, each returning what it did. Apply to a copy."""
    found: list[Callable[[], str]] = []

    def add(description: str, change: Callable[[], None]) -> None:
        found.append(lambda: (change(), description)[1])

    method = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "__call__")
    attributes = sorted({n.attr for n in ast.walk(method) if _is_self(n)})
    names = sorted({n.id for n in ast.walk(method) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} | {"x"})
    for node in ast.walk(method):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
            for name in names:
                if name != node.id:
                    add(f"{node.id} -> {name}", lambda n=node, o=name: setattr(n, "id", o))
        elif isinstance(node, ast.Call):
            if len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Constant):
                add(f"without {ast.unparse(node.func)}", lambda n=node: _unwrap(n))
            if ast.unparse(node.func) == "lax.scan":
                add("reversed scan", lambda n=node: n.keywords.append(ast.keyword("reverse", ast.Constant(True))))
            if ast.unparse(node.func) == "lax.cond":
                add("branches swapped", lambda n=node: n.args.insert(1, n.args.pop(2)))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            add(f"without - {ast.unparse(node)}", lambda n=node: setattr(n, "op", ast.UAdd()))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _LAYERS:
            for text in _LAYERS[ast.unparse(node.func)]:
                keyword, _, value = text.partition("=")
                if keyword not in {k.arg for k in node.keywords}:
                    add(
                        f"{ast.unparse(node.func)} with {text}",
                        lambda n=node, k=keyword, v=value: n.keywords.append(ast.keyword(k, ast.parse(v, mode="eval").body)),
                    )
    for body in [n for n in ast.walk(method) if isinstance(n, ast.FunctionDef)]:
        for at, statement in enumerate(body.body[:-1]):
            if isinstance(statement, ast.Assign) and isinstance(body.body[at + 1], ast.Assign):
                add("statements exchanged", lambda b=body, s=statement: _exchange(b, s))
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                if statement.targets[0].id in {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)}:
                    add("statement twice", lambda b=body, s=statement: b.body.insert(b.body.index(s), copy.deepcopy(s)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
            value = node.value
            options = [not value] if isinstance(value, bool) else [value + 1, value - 1]
            options += [value * 1.01, value * 2, -value] if isinstance(value, float) else []
            for option in options:
                add(f"constant {value} -> {option}", lambda n=node, v=option: setattr(n, "value", v))
        elif isinstance(node, ast.BinOp):
            for other in _OPERATORS.get(type(node.op), ()):
                add(f"{ast.unparse(node)}: {other.__name__}", lambda n=node, o=other: setattr(n, "op", o()))
            if isinstance(node.op, (ast.Sub, ast.Div, ast.MatMult)):
                add(f"{ast.unparse(node)} swapped", lambda n=node: _swap(n, "left", "right"))
        elif isinstance(node, ast.Compare):
            for other in _OPERATORS.get(type(node.ops[0]), ()):
                add("comparison", lambda n=node, o=other: setattr(n, "ops", [o()]))
        elif isinstance(node, ast.Attribute) and node.attr in _SWAPS and not _is_self(node):
            if _SWAPS[node.attr] != node.attr:
                add(f"{node.attr} -> {_SWAPS[node.attr]}", lambda n=node: setattr(n, "attr", _SWAPS[n.attr]))
        elif _is_self(node) and isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
            for other in attributes:
                if other != node.attr:  # type: ignore[attr-defined]
                    add(f"self.{node.attr} -> self.{other}", lambda n=node, o=other: setattr(n, "attr", o))  # type: ignore[attr-defined]
        if isinstance(node, ast.Call):
            if len(node.args) == 2 and not any(isinstance(a, ast.Constant) for a in node.args):
                add(f"arguments of {ast.unparse(node.func)}", lambda n=node: n.args.reverse())
            for keyword in node.keywords:
                if keyword.arg not in ("rngs",):
                    add(f"without {keyword.arg}", lambda n=node, k=keyword: n.keywords.remove(k))
        if isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.ctx, ast.Load):
            add(f"{ast.unparse(node)} swapped", lambda n=node: n.elts.reverse())
    for body in [n for n in ast.walk(method) if isinstance(n, ast.FunctionDef)]:
        for statement in body.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                for text in _WRAPPERS:
                    add(text.format("…"), lambda s=statement, t=text: _wrap(s, t))
                if statement.targets[0].id in {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)}:
                    add(f"dropped: {ast.unparse(statement)}", lambda b=body, s=statement: b.body.remove(s))
            elif isinstance(statement, ast.Return) and not isinstance(statement.value, ast.Tuple):
                for text in _WRAPPERS:
                    add(text.format("return …"), lambda s=statement, t=text: _wrap(s, t))
    return found


#: Options of layers that change what they compute.
_LAYERS = {
    "nnx.Linear": ("use_bias=False", "dtype=jnp.bfloat16", "param_dtype=jnp.bfloat16"),
    "nnx.LayerNorm": ("epsilon=1e-5", "use_scale=False", "use_bias=False", "dtype=jnp.bfloat16", "use_fast_variance=False"),
    "nnx.RMSNorm": ("epsilon=1e-5", "use_scale=False", "dtype=jnp.bfloat16"),
    "nnx.Conv": ("use_bias=False", "padding='VALID'", "kernel_dilation=2", "feature_group_count=2", "dtype=jnp.bfloat16"),
    "nnx.BatchNorm": ("momentum=0.99", "epsilon=1e-3", "use_fast_variance=False", "axis=1"),
    "nnx.Embed": ("dtype=jnp.bfloat16",),
}  # fmt: skip
_WRAPPERS = (
    "lax.stop_gradient({})", "({})[..., ::-1]", "-({})", "({}).astype(jnp.bfloat16).astype(jnp.float32)",
    "jnp.roll({}, 1, 0)",
    "({}) * 1.0001", "({}) + 1e-3", "jnp.clip({}, -0.5, 0.5)", "jnp.round({}, 2)",
)  # fmt: skip


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _unwrap(node: Any) -> None:
    """`f(e)` becomes `e`: a call of the identity stands for the one dropped."""
    node.func = ast.parse("(lambda v: v)", mode="eval").body


def _exchange(body: Any, statement: Any) -> None:
    at = body.body.index(statement)
    body.body[at], body.body[at + 1] = body.body[at + 1], body.body[at]


def _swap(node: Any, one: str, two: str) -> None:
    a, b = getattr(node, one), getattr(node, two)
    setattr(node, one, b)
    setattr(node, two, a)


def _wrap(statement: Any, text: str) -> None:
    statement.value = ast.parse(text.format(ast.unparse(statement.value)), mode="eval").body


def refactorings(tree: ast.Module) -> list[Callable[[], str]]:
    """In-place changes of form of `tree` that keep its meaning."""
    found: list[Callable[[], str]] = []

    def add(description: str, change: Callable[[], None]) -> None:
        found.append(lambda: (change(), description)[1])

    method = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "__call__")
    init = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "__init__")
    add("reordered constructor", lambda: init.body.reverse())
    add("rotated constructor", lambda: init.body.append(init.body.pop(0)))
    for node in ast.walk(method):
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult)):
            add(f"{ast.unparse(node)} swapped", lambda n=node: _swap(n, "left", "right"))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            add("a - b as a + -b", lambda n=node: _negated(n))
        if isinstance(node, ast.Name) and node.id in ("x", "y", "h") and isinstance(node.ctx, ast.Load):
            for text in ("jnp.reshape({0}, {0}.shape)", "{0}.astype({0}.dtype)", "jnp.expand_dims({0}, 0).squeeze(0)"):
                add(text, lambda n=node, t=text: setattr(n, "id", f"({t.format(n.id)})") if "(" not in n.id else None)
    for body in [n for n in ast.walk(method) if isinstance(n, ast.FunctionDef)]:
        for statement in list(body.body):
            if isinstance(statement, ast.Return):
                add("named result", lambda b=body, s=statement: _named(b, s))
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                name = statement.targets[0].id
                listed = isinstance(statement.value, (ast.List, ast.Tuple))  # no array, and empty at first
                text = f"unused = len({name})" if listed else f"unused = jnp.sin({name}).sum()"
                add(
                    "dead code", lambda b=body, s=statement, t=text: b.body.insert(b.body.index(s) + 1, ast.parse(t).body[0])
                )
                add("jit", lambda s=statement: _wrap(s, "jax.jit(lambda v: v)({})"))
    for name in sorted({n.id for n in ast.walk(method) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}):
        add(f"{name} renamed", lambda n=name: _rename(method, n))
    return found


def _negated(node: Any) -> None:
    node.op, node.right = ast.Add(), ast.UnaryOp(ast.USub(), node.right)


def _after(body: Any, statement: Any, text: str) -> None:
    body.body.insert(body.body.index(statement) + 1, ast.parse(text).body[0])


def _named(body: Any, statement: Any) -> None:
    at = body.body.index(statement)
    body.body.insert(at, ast.Assign([ast.Name("result", ast.Store())], statement.value, lineno=0))
    statement.value = ast.Name("result", ast.Load())


def _rename(tree: ast.AST, name: str) -> None:
    import re

    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = re.sub(rf"\b{name}\b(?!=)", f"{name}_new", node.id)
        elif isinstance(node, ast.arg) and node.arg == name:
            node.arg = f"{name}_new"


def variants(
    base: Base, make: Callable[[ast.Module], list[Callable[[], str]]], rng: random.Random
) -> Iterator[tuple[str, str]]:
    """(description, source): every single change in random order, then combinations without end."""
    original = ast.parse(base.native)
    single = list(range(len(make(copy.deepcopy(original)))))
    rng.shuffle(single)
    seen = {ast.unparse(original)}
    plan: Iterator[tuple[int, ...]] = iter([(i,) for i in single])
    while True:
        chosen = next(plan, None) or tuple(rng.sample(single, rng.choice((2, 2, 3))))
        tree = copy.deepcopy(original)
        changes = make(tree)
        try:
            what = "; ".join([changes[i]() for i in chosen])
            source = ast.unparse(ast.fix_missing_locations(tree))
        except (ValueError, SyntaxError):
            continue  # two changes of one place
        if source not in seen:
            seen.add(source)
            yield what, source


def load(source: str, name: str) -> Any:
    """The class `name` of a source text."""
    space: dict[str, Any] = {"__name__": "mutant"}
    exec(compile(HEAD + source, f"<{name}>", "exec"), space)
    return space[name]


@dataclasses.dataclass
class Outcome:
    """Counts of a campaign."""

    different: int = 0  # run, and numerically different
    broken: int = 0  # do not run, or have other keys: not counted either, but must not be proved
    no_mutant: int = 0  # numerically the same
    false_proofs: list[str] = dataclasses.field(default_factory=list)
    refactored: int = 0
    reordered: int = 0  # refactorings that sum cotangents in another order: other bits, rightly not proved
    false_alarms: list[str] = dataclasses.field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"mutants that were run and differ: {self.different}, false proofs: {len(self.false_proofs)}; not counted: "
            f"{self.broken} that do not run or have other keys, {self.no_mutant} with the same numbers",
            f"refactorings: {self.refactored}, false alarms: {len(self.false_alarms)}; "
            f"other order of sums, not counted: {self.reordered}",
        ]
        return "\n".join([*lines, *self.false_proofs[:20], *self.false_alarms[:20]])


def _run(closed: Any, values: Any) -> list[Any]:
    """The outputs of a jaxpr, operation by operation: each is compiled once for the whole campaign, not once a mutant."""
    jaxpr = closed.jaxpr
    env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*closed.consts, *values]))

    def read(atom: Any) -> Any:
        return atom.val if hasattr(atom, "val") else env[atom]

    for equation in jaxpr.eqns:
        operands = [read(atom) for atom in equation.invars]
        called = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
        if equation.primitive.name in ("jit", "pjit", "custom_jvp_call", "custom_vjp_call", "closed_call"):
            results = _run(called, operands)
        else:
            results = equation.primitive.bind(*operands, **equation.primitive.get_bind_params(equation.params))
            results = results if equation.primitive.multiple_results else [results]
        env.update(zip(equation.outvars, results))
    return [read(atom) for atom in jaxpr.outvars]


def judge(base: Base, linen: Any, source: str) -> tuple[bool, str]:
    """(proved, numbers): `numbers` is same, different, or broken where one side cannot be run."""
    import jax
    import jax.numpy as jnp
    from flax import nnx
    from nnx_migrate.compat.equivalence.api import compare_migrated, init_shapes
    from nnx_migrate.compat.equivalence.models import Call, LinenSide, NnxSide, programs
    from nnx_migrate.compat.equivalence.numbers import compare_programs

    x = jax.ShapeDtypeStruct(base.shape, jnp.dtype(base.dtype))
    mutable = ("batch_stats",) if base.train else ()
    try:
        native = load(source, "N")
        report = compare_migrated(linen(), lambda: native(nnx.Rngs(0)), x, mutable=mutable, numbers_if_not_proved=False)
    except Exception:
        return False, "broken"
    by_name = {c.name: c.verdict.value for c in report.checks}
    if by_name["keys"] != "proved" or by_name["shapes"] != "proved" or "could not be traced" in str(report):
        return report.proved, "broken"
    variables = init_shapes(linen(), {"params": jax.random.key(0)}, (x,), {})
    sides = LinenSide(linen(), variables)

    def runner(left: Any, values: Any, right: Any, others: Any) -> tuple[list[Any], list[Any]]:
        return _run(left, values), _run(right, others)

    nnx_side = NnxSide(lambda: native(nnx.Rngs(0)), list(sides.flat))
    for gradient in (False, True):
        left, right = programs(sides, nnx_side, Call((x,), mutable=mutable), gradient=gradient)
        if set(left.outputs) != {n for n in right.outputs if n is not None}:
            return report.proved, "different"
        try:
            same = all(d.bitwise for d in compare_programs(left, right, {}, 2, runner=runner))
        except ValueError:  # it can be traced and not run: a stride of 0
            return report.proved, "broken"
        if not same:
            return report.proved, "different"
    return report.proved, "same"


def campaign(
    mutants: int, refactored: int, seed: int = 0, progress: bool = False, piece: int = 0, pieces: int = 1
) -> Outcome:
    """Judge `mutants` mutants that do differ and `refactored` refactorings, spread over the bases.

    Pieces of one seed take every `pieces`-th variant each, so that none is judged twice.
    """
    outcome = Outcome()

    def part(base: Base, make: Callable[[ast.Module], list[Callable[[], str]]]) -> Iterator[tuple[str, str]]:
        stream = variants(base, make, random.Random(f"{seed} {base.name} {make.__name__}"))
        return itertools.islice(stream, piece, None, pieces)

    streams = [(b, load(b.linen, "L"), part(b, mutations), part(b, refactorings)) for b in BASES]
    started = time.time()
    while outcome.different < mutants:
        for base, linen, stream, _ in streams:
            if outcome.different >= mutants:
                break
            what, source = next(stream)
            proved, numbers = judge(base, linen, source)
            if numbers == "same":
                outcome.no_mutant += 1
                continue
            if numbers == "broken":
                outcome.broken += 1
            else:
                outcome.different += 1
            if proved:
                outcome.false_proofs.append(f"FALSE PROOF {base.name}: {what}")
            if progress and outcome.different % 100 == 0 and numbers == "different":
                print(f"{outcome.different} mutants, {time.time() - started:.0f} s", file=sys.stderr, flush=True)
    while outcome.refactored < refactored:
        for base, linen, _, stream in streams:
            if outcome.refactored >= refactored:
                break
            what, source = next(stream)
            proved, numbers = judge(base, linen, source)
            if not proved and numbers == "different":
                outcome.reordered += 1
                continue
            outcome.refactored += 1
            if not proved:
                outcome.false_alarms.append(f"FALSE ALARM {base.name} ({numbers}): {what}\n{source}")
    return outcome


def main() -> int:
    """Run the campaign and print its counts; the exit status is 1 where anything was judged wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=2000)
    parser.add_argument("--refactorings", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pieces", type=int, default=1, help="cut the campaign into so many disjoint pieces")
    parser.add_argument("--piece", type=int, default=0, help="and judge this one")
    parser.add_argument("--append", type=Path, help="add the counts to this file, a line for each piece")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    started = time.time()
    outcome = campaign(given.mutants, given.refactorings, given.seed, True, given.piece, given.pieces)
    print(outcome)
    print(f"{time.time() - started:.0f} s")
    if given.append:
        with given.append.open("a") as file:
            file.write(json.dumps({"seed": given.seed, "piece": given.piece, **dataclasses.asdict(outcome)}) + "\n")
        lines = [json.loads(line) for line in given.append.read_text().splitlines()]
        print("all pieces:", Outcome(**{f.name: sum((x[f.name] for x in lines), type(lines[0][f.name])())
                                        for f in dataclasses.fields(Outcome)}))  # fmt: skip
    return 1 if outcome.false_proofs or outcome.false_alarms else 0


if __name__ == "__main__":
    sys.exit(main())
