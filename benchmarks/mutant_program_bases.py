"""The programs of `mutant_programs.py`: both sides, and edits of the native one that change its meaning or keep it."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    """A pair of programs and the edits of the native one: (text, what stands in its place)."""

    name: str
    kind: str  # `step`, `streams` or `layout`
    linen: str
    native: str
    changes: tuple[tuple[str, str], ...]
    kept: tuple[tuple[str, str], ...] = ()


_NORM = """
class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(6, name="a")(x)
        x = nn.BatchNorm(use_running_average=False, momentum=0.9, name="n")(x)
        return nn.Dense(2, name="b")(nn.relu(x))
class State(TrainState):
    batch_stats: Any
def state():
    v = Model().init(jax.random.key(0), jnp.ones((8, 4)))
    return State.create(apply_fn=Model().apply, tx=optax.adam(1e-3), **v)
def step(state, x, y):
    def loss(p):
        out, new = state.apply_fn({"params": p, "batch_stats": state.batch_stats}, x, mutable=["batch_stats"])
        return ((out - y) ** 2).mean() + 0.1 * jnp.abs(p["a"]["kernel"]).sum(), new
    (value, new), grads = jax.value_and_grad(loss, has_aux=True)(state.params)
    grads = jax.tree.map(lambda g: jnp.clip(g, -1.0, 1.0), grads)
    state = state.apply_gradients(grads=grads, batch_stats=new["batch_stats"])
    return state, {"loss": value, "bias": grads["b"]["bias"].sum()}
"""
_NORM_NATIVE = """
class Model(nnx.Module):
    def __init__(self, rngs):
        self.a = nnx.Linear(4, 6, rngs=rngs)
        self.n = nnx.BatchNorm(6, use_running_average=False, momentum=0.9, rngs=rngs)
        self.b = nnx.Linear(6, 2, rngs=rngs)
    def __call__(self, x):
        return self.b(nnx.relu(self.n(self.a(x))))
def target():
    model = Model(nnx.Rngs(0))
    return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
def step(model, optimizer, x, y):
    def loss(m):
        return ((m(x) - y) ** 2).mean() + 0.1 * jnp.abs(m.a.kernel[...]).sum()
    value, grads = nnx.value_and_grad(loss)(model)
    grads = jax.tree.map(lambda g: jnp.clip(g, -1.0, 1.0), grads)
    optimizer.update(model, grads)
    return {"loss": value, "bias": grads["b"]["bias"][...].sum()}
"""
_UPDATE = "optimizer.update(model, grads)"
_GRADS = "value, grads = nnx.value_and_grad(loss)(model)"

_PARALLEL = """
class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2, name="b")(jnp.tanh(nn.Dense(6, name="a")(x)))
def state():
    v = Model().init(jax.random.key(0), jnp.ones((8, 4)))
    return TrainState.create(apply_fn=Model().apply, tx=optax.sgd(0.1, momentum=0.9), **v)
def step(state, x, y):
    def local(p, x, y):
        value, grads = jax.value_and_grad(lambda p: ((state.apply_fn({"params": p}, x) - y) ** 2).mean())(p)
        return lax.pmean(value, "data"), lax.pmean(grads, "data"), lax.pmax(jnp.abs(y).max(), "data")
    spread = jax.shard_map(local, mesh=mesh, in_specs=(P(), P("data"), P("data")), out_specs=P(), check_vma=False)
    value, grads, most = spread(state.params, x, y)
    return state.apply_gradients(grads=grads), {"loss": value, "most": most}
"""
_PARALLEL_NATIVE = """
class Model(nnx.Module):
    def __init__(self, rngs):
        self.a = nnx.Linear(4, 6, rngs=rngs)
        self.b = nnx.Linear(6, 2, rngs=rngs)
    def __call__(self, x):
        return self.b(jnp.tanh(self.a(x)))
def target():
    model = Model(nnx.Rngs(0))
    return model, nnx.Optimizer(model, optax.sgd(0.1, momentum=0.9), wrt=nnx.Param)
def step(model, optimizer, x, y):
    graph, params = nnx.split(model)
    def local(p, x, y):
        value, grads = jax.value_and_grad(lambda p: ((nnx.merge(graph, p)(x) - y) ** 2).mean())(p)
        return lax.pmean(value, "data"), lax.pmean(grads, "data"), lax.pmax(jnp.abs(y).max(), "data")
    spread = jax.shard_map(local, mesh=mesh, in_specs=(P(), P("data"), P("data")), out_specs=P(), check_vma=False)
    value, grads, most = spread(params, x, y)
    optimizer.update(model, grads)
    return {"loss": value, "most": most}
"""

_ACCUMULATE = """
class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4, name="b")(jnp.tanh(nn.Dense(4, name="a")(x)))
def state():
    v = Model().init(jax.random.key(0), jnp.ones((8, 4)))
    return TrainState.create(apply_fn=Model().apply, tx=optax.adamw(1e-2), **v)
def step(state, x, y):
    def micro(carry, batch):
        total, grads, seen = carry
        loss = lambda p: ((state.apply_fn({"params": p}, batch[0]) - batch[1]) ** 2).mean()
        value, new = jax.value_and_grad(loss)(state.params)
        return (total + value, jax.tree.map(lambda a, b: a * 0.5 + b, grads, new), seen * 0.9 + value), value
    zeros = jax.tree.map(jnp.zeros_like, state.params)
    (total, grads, seen), values = lax.scan(micro, (jnp.zeros(()), zeros, jnp.ones(())), (x, y))
    grads = jax.tree.map(lambda g: g / 2.0, grads)
    return state.apply_gradients(grads=grads), {"loss": total / 2.0, "last": values[-1], "seen": seen}
"""
_ACCUMULATE_NATIVE = """
class Model(nnx.Module):
    def __init__(self, rngs):
        self.a = nnx.Linear(4, 4, rngs=rngs)
        self.b = nnx.Linear(4, 4, rngs=rngs)
    def __call__(self, x):
        return self.b(jnp.tanh(self.a(x)))
def target():
    model = Model(nnx.Rngs(0))
    return model, nnx.Optimizer(model, optax.adamw(1e-2), wrt=nnx.Param)
def step(model, optimizer, x, y):
    graph, params = nnx.split(model)
    def micro(carry, batch):
        total, grads, seen = carry
        value, new = jax.value_and_grad(lambda p: ((nnx.merge(graph, p)(batch[0]) - batch[1]) ** 2).mean())(params)
        return (total + value, jax.tree.map(lambda a, b: a * 0.5 + b, grads, new), seen * 0.9 + value), value
    zeros = jax.tree.map(jnp.zeros_like, params)
    (total, grads, seen), values = lax.scan(micro, (jnp.zeros(()), zeros, jnp.ones(())), (x, y))
    grads = jax.tree.map(lambda g: g / 2.0, grads)
    optimizer.update(model, grads)
    return {"loss": total / 2.0, "last": values[-1], "seen": seen}
"""

_STREAMS = """
class Layer(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        y = nn.Dropout(0.5, deterministic=False)(nn.Dense(4, name="d")(x))
        return y + jax.random.normal(self.make_rng("noise"), x.shape), None
class L(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dropout(0.2, deterministic=False, name="first")(x)
        split = {"params": True, "dropout": True, "noise": True}
        stack = nn.scan(Layer, variable_axes={"params": 0}, split_rngs=split, length=2)
        x = stack(name="s")(x, None)[0]
        scale = jax.random.uniform(self.make_rng("noise"), ())
        return nn.Dropout(0.2, deterministic=False, rng_collection="noise", name="last")(x * scale)
"""
_STREAMS_NATIVE = """
class Layer(nnx.Module):
    def __init__(self, rngs):
        self.d = nnx.Linear(4, 4, rngs=rngs)
        self.drop = nnx.Dropout(0.5, deterministic=False, rng_collection="dropout", rngs=rngs)
        self.rngs = rngs
    def __call__(self, x):
        y = self.drop(self.d(x))
        return y + jax.random.normal(self.rngs.noise(), x.shape)
class N(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Dropout(0.2, deterministic=False, rngs=rngs)
        self.last = nnx.Dropout(0.2, deterministic=False, rng_collection="noise", rngs=rngs)
        self.s = nnx.vmap(lambda r: Layer(r), in_axes=0, out_axes=0)(rngs.fork(split=2))
        self.rngs = rngs
    def __call__(self, x):
        x = self.first(x)
        x = nnx.scan(lambda c, m: m(c), in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)(x, self.s)
        scale = jax.random.uniform(self.rngs.noise(), ())
        return self.last(x * scale)
"""

_LAYOUT = """
class L(nn.Module):
    @nn.compact
    def __call__(self, x):
        up = nn.with_partitioning(nn.initializers.lecun_normal(), ("data", "model"))
        h = nn.Dense(16, kernel_init=up, name="a")(x)
        h = nn.relu(lax.with_sharding_constraint(h, P("data", "model")))
        down = nn.with_partitioning(nn.initializers.lecun_normal(), ("model", None))
        h = nn.Dense(8, kernel_init=down, name="b")(h)
        return lax.with_sharding_constraint(h, P("data", None)) + x
"""
_LAYOUT_NATIVE = """
class N(nnx.Module):
    def __init__(self, rngs):
        up = nnx.with_partitioning(nnx.initializers.lecun_normal(), ("data", "model"))
        self.a = nnx.Linear(8, 16, kernel_init=up, rngs=rngs)
        down = nnx.with_partitioning(nnx.initializers.lecun_normal(), ("model", None))
        self.b = nnx.Linear(16, 8, kernel_init=down, rngs=rngs)
    def __call__(self, x):
        h = nnx.relu(lax.with_sharding_constraint(self.a(x), P("data", "model")))
        return lax.with_sharding_constraint(self.b(h), P("data", None)) + x
"""

_PMEAN = 'lax.pmean(grads, "data")'
PROGRAMS = [
    Program(
        "norm step",
        "step",
        _NORM,
        _NORM_NATIVE,
        (
            (_UPDATE, "pass"),
            (_UPDATE, f"{_UPDATE}; {_UPDATE}"),
            (_UPDATE, "optimizer.update(model, jax.tree.map(jnp.negative, grads))"),
            ("jnp.clip(g, -1.0, 1.0)", "jnp.clip(g, -1.0, 2.0)"),
            ("jnp.clip(g, -1.0, 1.0)", "g"),
            ("((m(x) - y) ** 2).mean()", "((m(x) - y) ** 2).sum()"),
            ("m(x) - y", "m(x) - 2.0 * y"),
            ("0.1 * jnp.abs", "0.1 * lax.stop_gradient(1.0) * jnp.square"),
            ("+ 0.1 *", "+ 0.01 *"),
            ("+ 0.1 *", "- 0.1 *"),
            ("m.a.kernel", "m.b.kernel"),
            ("momentum=0.9", "momentum=0.99"),
            ("use_running_average=False", "use_running_average=True"),
            ("optax.adam(1e-3)", "optax.adam(2e-3)"),
            ("optax.adam(1e-3)", "optax.adam(1e-3, b1=0.8)"),
            ("optax.adam(1e-3)", "optax.adam(1e-3, eps=1e-6)"),
            ('"loss": value', '"loss": value * 2.0'),
            ('"loss": value', '"loss": lax.stop_gradient(grads["b"]["bias"][...].sum())'),
            ('grads["b"]["bias"]', 'grads["a"]["bias"]'),
            ("nnx.relu", "jax.nn.relu6"),
            (_GRADS, f"stats = nnx.state(model, nnx.BatchStat)\n    {_GRADS}\n    nnx.update(model, stats)"),
            (_GRADS, f"model(x)\n    {_GRADS}"),
        ),
        (
            (_GRADS, f"{_GRADS}\n    unused = jnp.sin(value)"),
            ("((m(x) - y) ** 2)", "jnp.square(m(x) - y)"),
            ('"loss": value', '"loss": jnp.reshape(value, ())'),
            ("def step(", "@nnx.jit\ndef step("),
        ),
    ),
    Program(
        "data parallel step",
        "step",
        _PARALLEL,
        _PARALLEL_NATIVE,
        (
            (_PMEAN, 'lax.pmean(grads, "model")'),
            (_PMEAN, 'lax.psum(grads, "data")'),
            (_PMEAN, "grads"),
            ('lax.pmean(value, "data")', 'lax.psum(value, "data")'),
            ('lax.pmean(value, "data")', "value"),
            ('lax.pmax(jnp.abs(y).max(), "data")', 'lax.pmin(jnp.abs(y).max(), "data")'),
            ('lax.pmax(jnp.abs(y).max(), "data")', 'lax.pmax(jnp.abs(y).max(), "model")'),
            (_PMEAN, 'lax.pmean(lax.ppermute(grads, "data", [(0, 1)]), "data")'),
            ('P("data"), P("data")', 'P("data"), P("model")'),
            ("y).max()", "x).max()"),
            (_UPDATE, "pass"),
            (_UPDATE, f"{_UPDATE}; {_UPDATE}"),
            ("momentum=0.9", "momentum=0.8"),
            ("jnp.tanh", "jnp.sin"),
            ('"most": most', '"most": value'),
            ("(x) - y", "(x) - 2.0 * y"),
        ),
        (
            ("value, grads = jax.value_and_grad", "unused = jnp.sin(x)\n        value, grads = jax.value_and_grad"),
            ("def step(", "@nnx.jit\ndef step("),
        ),
    ),
    Program(
        "accumulated step",
        "step",
        _ACCUMULATE,
        _ACCUMULATE_NATIVE,
        (
            ("total, grads, seen = carry", "seen, grads, total = carry"),
            ("(total + value, jax.tree.map", "(seen * 0.9 + value, jax.tree.map"),
            ("(jnp.zeros(()), zeros, jnp.ones(()))", "(jnp.ones(()), zeros, jnp.zeros(()))"),
            ("(total, grads, seen), values", "(seen, grads, total), values"),
            ("(x, y))", "(y, x))"),
            ("(x, y))", "(x, y), reverse=True)"),
            ("a * 0.5 + b", "a + b * 0.5"),
            ("a * 0.5 + b", "b"),
            ("g / 2.0", "g"),
            ("total / 2.0", "total"),
            ("values[-1]", "values[0]"),
            ("seen * 0.9 + value", "seen * 0.9"),
            ("jnp.zeros_like, params", "jnp.ones_like, params"),
            (_UPDATE, "pass"),
            ("optax.adamw(1e-2)", "optax.adamw(1e-2, weight_decay=1e-3)"),
            ("batch[0]", "batch[1]"),
            ('"seen": seen', '"seen": total'),
            ("jnp.tanh", "jnp.sin"),
        ),
        (
            ("a * 0.5 + b", "b + 0.5 * a"),
            ("total + value", "value + total"),
            ("def step(", "@nnx.jit\ndef step("),
            ("grads = jax.tree.map(lambda g: g / 2.0, grads)", "grads = jax.tree.map(lambda g: jnp.divide(g, 2.0), grads)"),
        ),
    ),
    Program(
        "streams",
        "streams",
        _STREAMS,
        _STREAMS_NATIVE,
        (
            ('rng_collection="dropout"', 'rng_collection="noise"'),
            ('rng_collection="noise"', 'rng_collection="dropout"'),
            (
                "self.first = nnx.Dropout(0.2, deterministic=False, ",
                'self.first = nnx.Dropout(0.2, deterministic=False, rng_collection="noise", ',
            ),
            ("jax.random.normal(self.rngs.noise()", "jax.random.normal(self.rngs.dropout()"),
            ("jax.random.uniform(self.rngs.noise()", "jax.random.uniform(self.rngs.dropout()"),
            ("jax.random.uniform(self.rngs.noise()", "jax.random.uniform(jax.random.key(0)"),
            ("jax.random.normal(self.rngs.noise()", "jax.random.normal(self.rngs.params()"),
            ("nnx.Dropout(0.5", "nnx.Dropout(0.4"),
            ("self.last(x * scale)", "self.first(x * scale)"),
            ("self.last(x * scale)", "x * scale"),
            ("x = self.first(x)", "x = self.first(self.first(x))"),
            ("jax.random.normal", "jax.random.uniform"),
            ("x.shape)", "x.shape[-1:])"),
        ),
        (
            (
                "def __call__(self, x):\n        x = self.first(x)",
                "def __call__(self, x):\n        self.rngs.noise()\n        x = self.first(x)",
            ),
            ("self.last(x * scale)", "self.last(scale * x)"),
        ),
    ),
    Program(
        "layout",
        "layout",
        _LAYOUT,
        _LAYOUT_NATIVE,
        (
            ('lax.with_sharding_constraint(self.a(x), P("data", "model"))', "self.a(x)"),
            ('lax.with_sharding_constraint(self.b(h), P("data", None))', "self.b(h)"),
            ('self.a(x), P("data", "model")', 'self.a(x), P("model", "data")'),
            ('self.b(h), P("data", None)', 'self.b(h), P(None, "data")'),
            ('self.b(h), P("data", None)', 'self.b(h), P(("data", "model"), None)'),
            ('self.a(x), P("data", "model")', 'self.a(x), P("data", None)'),
            ('lecun_normal(), ("data", "model")', 'lecun_normal(), ("model", "data")'),
            ('lecun_normal(), ("data", "model")', 'lecun_normal(), (None, "model")'),
            ('lecun_normal(), ("model", None)', 'lecun_normal(), (None, "model")'),
            ("kernel_init=down", "kernel_init=nnx.initializers.lecun_normal()"),
            ("+ x", '+ lax.with_sharding_constraint(x, P("data", "model"))'),
        ),
        (('P("data", None)) + x', 'P("data",)) + x'), ("h = nnx.relu(", "h = jax.nn.relu(")),
    ),
]
