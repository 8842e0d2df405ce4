"""More bases of the mutation campaign: tokens, lifted stacks, ensembles, a cell written out."""

from __future__ import annotations

TOKENS = (
    """
class L(nn.Module):
    @nn.compact
    def __call__(self, x):
        h = nn.Embed(11, 6, name="e")(x) * 2.0
        p = self.param("p", nn.initializers.normal(1.0), (5, 6))
        h = h + p[None]
        h = h + nn.Dense(6, name="d")(jnp.cumsum(h, axis=1) / 5.0)
        return nn.log_softmax(h @ p.T, axis=-1)
""",
    """
class N(nnx.Module):
    def __init__(self, rngs):
        self.e = nnx.Embed(11, 6, rngs=rngs)
        self.p = nnx.Param(nnx.initializers.normal(1.0)(rngs.params(), (5, 6)))
        self.d = nnx.Linear(6, 6, rngs=rngs)
    def __call__(self, x):
        h = self.e(x) * 2.0
        p = self.p[...]
        h = h + p[None]
        h = h + self.d(jnp.cumsum(h, axis=1) / 5.0)
        return nnx.log_softmax(h @ p.T, axis=-1)
""",
)

STACK = (
    """
class B(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        y = nn.silu(nn.Dense(5, name="a")(nn.LayerNorm(name="n")(x)))
        return x + nn.Dense(5, name="b")(y) * 0.5, y.mean()
class L(nn.Module):
    @nn.compact
    def __call__(self, x):
        make = nn.scan(nn.remat(B), variable_axes={"params": 0}, split_rngs={"params": True}, length=3)
        h, ys = make(name="s")(x, None)
        return nn.Dense(5, name="o")(h) * ys.sum()
""",
    """
class B(nnx.Module):
    def __init__(self, rngs):
        self.n = nnx.LayerNorm(5, rngs=rngs)
        self.a = nnx.Linear(5, 5, rngs=rngs)
        self.b = nnx.Linear(5, 5, rngs=rngs)
    def __call__(self, x):
        y = nnx.silu(self.a(self.n(x)))
        return x + self.b(y) * 0.5, y.mean()
class N(nnx.Module):
    def __init__(self, rngs):
        self.s = nnx.vmap(lambda r: B(r), in_axes=0, out_axes=0)(rngs.fork(split=3))
        self.o = nnx.Linear(5, 5, rngs=rngs)
    def __call__(self, x):
        graph, state = nnx.split(self.s)
        def body(h, state):
            return jax.checkpoint(lambda h, s: nnx.merge(graph, s)(h))(h, state)
        h, ys = lax.scan(body, x, state)
        return self.o(h) * ys.sum()
""",
)

CELL = (
    """
class L(nn.Module):
    @nn.compact
    def __call__(self, x):
        c, h = jnp.zeros((3, 4)), jnp.ones((3, 4))
        i2h = nn.Dense(16, name="i2h")
        h2h = nn.Dense(16, use_bias=False, name="h2h")
        out = []
        for t in range(3):
            z = i2h(x[:, t]) + h2h(h)
            i, f, g, o = jnp.split(z, 4, axis=-1)
            c = nn.sigmoid(f + 1.0) * c + nn.sigmoid(i) * jnp.tanh(g)
            h = nn.sigmoid(o) * jnp.tanh(c)
            out.append(h)
        return jnp.stack(out, axis=1) + h[:, None]
""",
    """
class N(nnx.Module):
    def __init__(self, rngs):
        self.i2h = nnx.Linear(4, 16, rngs=rngs)
        self.h2h = nnx.Linear(4, 16, use_bias=False, rngs=rngs)
    def __call__(self, x):
        c, h = jnp.zeros((3, 4)), jnp.ones((3, 4))
        out = []
        for t in range(3):
            z = self.i2h(x[:, t]) + self.h2h(h)
            i, f, g, o = jnp.split(z, 4, axis=-1)
            c = nnx.sigmoid(f + 1.0) * c + nnx.sigmoid(i) * jnp.tanh(g)
            h = nnx.sigmoid(o) * jnp.tanh(c)
            out.append(h)
        return jnp.stack(out, axis=1) + h[:, None]
""",
)

MORE = [
    ("tokens", *TOKENS, (2, 5), "int32"),
    ("stack", *STACK, (2, 5), "float32"),
    ("cell", *CELL, (3, 3, 4), "float32"),
]
