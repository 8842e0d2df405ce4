"""Fields that are a module unless they are given another, where each model has one of it, or another is meant by None."""

INDENT = 0
_SCALED = """class Scaled(nn.Module):
    by: float = 2.0
    def __call__(self, x):
        return x * self.by
"""
_M = """class M(nn.Module):
    first: nn.Module = {}
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(self.first(x))
"""

REFUSED = {
    "a layer, whose variables all that are given none share": ("NNX127", _M.format("nn.LayerNorm()")),
    "a module with variables": (
        "NNX127",
        "class Inner(nn.Module):\n    width: int\n    @nn.compact\n"
        + "    def __call__(self, x):\n        return nn.Dense(2)(x)\n"
        + _M.format("Inner(2)"),
    ),
    "one that draws random numbers": (
        "NNX127",
        "class Noise(nn.Module):\n    width: int\n    def __call__(self, x):\n        key = self.make_rng('params')\n"
        + "        return x + jax.random.normal(key, x.shape)\n"
        + _M.format("Noise(2)"),
    ),
    "one that sows": (
        "NNX127",
        "class Sows(nn.Module):\n    width: int\n"
        + "    def __call__(self, x):\n        self.sow('intermediates', 'x', x)\n        return x\n"
        + _M.format("Sows(2)"),
    ),
    "one that is never called": (
        "NNX163",
        _SCALED
        + "class M(nn.Module):\n    first: nn.Module = Scaled(3.0)\n    @nn.compact\n    def __call__(self, x):\n"
        + "        return nn.Dense(3)(x)\n",
    ),
    "elsewhere None is given": (
        "NNX127",
        _SCALED + _M.format("Scaled(3.0)") + "def make():\n    return M(first=None)\n",
    ),
    "a layer that makes nothing": ("NNX127", _M.format("nn.Dropout(0.0, deterministic=True)")),
    "in place of what a default_factory gives": (
        "NNX127",
        "import dataclasses\n" + _SCALED + _M.format("dataclasses.field(default_factory=Scaled)"),
    ),
    "a module with a name": ("NNX127", _SCALED + _M.format("Scaled(name='other')")),
    "another kind is given, of another width": (
        "NNX110",
        _SCALED
        + "class Doubled(nn.Module):\n    def __call__(self, x):\n        return jnp.concatenate([x, x], axis=-1)\n"
        + _M.format("Scaled(3.0)")
        + "def make():\n    return M(first=Doubled())\n",
    ),
    "modules give it another, too": (
        "NNX163",
        _SCALED
        + _M.format("Scaled(3.0)")
        + "class Outer(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return M(first=Scaled(3.0))(x)\n",
    ),
    "of a base": (
        "NNX127",
        _SCALED + _M.format("Scaled(3.0)").replace("class M(", "class Base(") + "class M(Base):\n    width: int = 3\n",
    ),
}
