"""The sharding helpers of the parity module against Linen's, on several meshes; both sides under jax.set_mesh."""

from __future__ import annotations

import pathlib
import subprocess
import sys

from nnx_migrate.migrate.nnx.generated import parity

PARTS = (
    "with_partitioning",
    "with_logical_partitioning",
    "with_logical_constraint",
    "get_partition_spec",
    "RulesFallback",
)
SCRIPT = """
import contextlib, itertools, os
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
import flax.linen as nn, jax, jax.numpy as jnp, numpy as np
from flax import nnx
from jax.sharding import Mesh, NamedSharding
import linen_parity as lp

MESHES = [((2, 4), ("data", "model")), ((4, 2), ("data", "model")), ((8, 1), ("data", "model")),
          ((2, 2, 2), ("data", "model", "expert"))]
RULES = [(), (("mlp", "model"), ("embed", "model"), ("batch", "data")), (("embed", ("data", "model")), ("mlp", "model"))]
NAMES = [("embed", "mlp"), (None, "batch")]

class Linen(nn.Module):
    names: tuple
    @nn.compact
    def __call__(self, x):
        w = self.param("w", nn.with_logical_partitioning(nn.initializers.lecun_normal(), self.names), (8, 16))
        return nn.with_logical_constraint(x @ w, ("batch", "mlp"))

class Native(nnx.Module):
    def __init__(self, names, rngs):
        self.w = nnx.Param(lp.with_logical_partitioning(nnx.initializers.lecun_normal(), names)(rngs.params(), (8, 16)))
    def __call__(self, x):
        return lp.with_logical_constraint(x @ self.w, ("batch", "mlp"))

x = jnp.ones((8, 8))
count = 0
for (shape, axes), rules, names in itertools.product(MESHES, RULES, NAMES):
    mesh = Mesh(np.array(jax.devices()).reshape(shape), axes)
    linen = Linen(names)
    boxed = linen.init(jax.random.key(0), x)
    want = nn.logical_to_mesh_axes(names, rules)
    with jax.set_mesh(mesh), nn.logical_axis_rules(rules):
        native = Native(names, nnx.Rngs(0))
        state = nnx.state(native)
        assert lp.get_partition_spec(state).w == nn.get_partition_spec(boxed)["params"]["w"]
        if rules:
            assert native.w[...].sharding.is_equivalent_to(NamedSharding(mesh, want), 2), (names, rules)
        else:
            assert native.w[...].sharding.is_fully_replicated
        native.w.set_value(jax.device_put(boxed["params"]["w"].value, native.w[...].sharding))
        layout = NamedSharding(mesh, want if rules else jax.P())
        y0 = jax.jit(linen.apply)(jax.tree.map(lambda v: jax.device_put(v, layout), boxed), x)
        y1 = nnx.jit(lambda m, v: m(v))(native, x)
        assert y0.sharding.is_equivalent_to(y1.sharding, 2), (y0.sharding, y1.sharding)
        np.testing.assert_allclose(y0, y1, rtol=1e-6)
    count += 1
# Without a mesh, with and without rules: no constraint, a value that stays whole, names that are kept.
for rules in RULES:
    with nn.logical_axis_rules(rules):
        native = Native(("embed", "mlp"), nnx.Rngs(0))
        assert len(native.w[...].sharding.device_set) == 1 and native(x).shape == (8, 16)
        assert native.w.out_sharding == ("embed", "mlp")
# One structure with and without a mesh, and no sharding where eager sharding is off.
def structure():
    return jax.tree.structure(nnx.state(Native(("embed", "mlp"), nnx.Rngs(0))))
outside = structure()
with jax.set_mesh(mesh := Mesh(np.array(jax.devices()), ("model",))), nnx.logical_axis_rules((("mlp", "model"),)):
    assert structure() == outside
    with nnx.use_eager_sharding(False):
        assert Native(("embed", "mlp"), nnx.Rngs(0)).w[...].sharding.is_fully_replicated
    # A kernel of more dimensions than the layer draws it with.
    kernel = lp.with_logical_partitioning(nnx.initializers.lecun_normal(), (None, "heads", "mlp"))
    layer = nnx.LinearGeneral(4, (2, 8), kernel_init=kernel, rngs=nnx.Rngs(0))
    assert layer.kernel[...].sharding.is_equivalent_to(NamedSharding(mesh, jax.P(None, None, "model")), 3)
plain = nnx.Param(lp.with_partitioning(nnx.initializers.zeros, (None, "model"))(jax.random.key(0), (8, 16)))
assert plain.out_sharding == (None, "model") and len(plain[...].sharding.device_set) == 1
mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
with jax.set_mesh(mesh):
    plain = nnx.Param(lp.with_partitioning(nnx.initializers.zeros, (None, "model"))(jax.random.key(0), (8, 16)))
assert plain[...].sharding.is_equivalent_to(NamedSharding(mesh, jax.P(None, "model")), 2)
# What happens to a name without a rule is the caller's choice.
rules = (("batch", "data"),)
for mode in ("AXIS_IS_UNSHARDED", "NO_CONSTRAINT", "RAISE_ERROR"):
    def linen(v):
        return nn.with_logical_constraint(v, ("batch", "what"), rules, mesh, getattr(nn.spmd.RulesFallback, mode))
    def native(v):
        return lp.with_logical_constraint(v, ("batch", "what"), rules, mesh, getattr(lp.RulesFallback, mode))
    answers = []
    for side in (linen, native):
        try:
            answers.append(jax.jit(side)(x).sharding)
        except ValueError as error:
            answers.append(str(error).lower())
    if isinstance(answers[0], str):
        assert answers[0] == answers[1]
    else:
        assert answers[0].is_equivalent_to(answers[1], 2), (mode, answers)
# A tree of names over a tree of values.
tree = {"a": x, "b": x}
with jax.set_mesh(mesh):
    for side in (nn.with_logical_constraint, lp.with_logical_constraint):
        out = jax.jit(lambda t: side(t, {"a": ("batch", None), "b": None}, rules))(tree)
        assert out["a"].sharding.spec == jax.P("data"), (side, out["a"].sharding)
print("checked", count)
"""


def test_helpers_do_what_linen_does(tmp_path: pathlib.Path) -> None:
    (tmp_path / "linen_parity.py").write_text(parity.render(PARTS))
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert "checked 24" in done.stdout
