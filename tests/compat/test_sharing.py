"""Shared modules: NNX meets them first along one path, Linen stores them under another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
import pytest
from flax import linen as nn
from flax import nnx, serialization
from flax.training import train_state
from jax.sharding import PartitionSpec as P
from nnx_migrate import compat
from nnx_migrate.compat.equivalence.steps import check_steps
from nnx_migrate.compat.formats import open_checkpoint
from nnx_migrate.compat.sharing import linen_paths

TOKENS = jnp.array([[1, 2, 3]])


class LinenPart(nn.Module):
    embed: Any

    @nn.compact
    def __call__(self, t: jax.Array) -> jax.Array:
        return nn.Dense(4)(self.embed(t))


class LinenModel(nn.Module):
    def setup(self) -> None:
        init = nn.with_partitioning(nn.initializers.normal(), ("model", None))
        self.shared = nn.Embed(8, 4, embedding_init=init)
        self.encoder = LinenPart(self.shared)
        self.decoder = LinenPart(self.shared)

    def __call__(self, t: jax.Array) -> jax.Array:
        return self.encoder(t) + self.decoder(t)


class Part(nnx.Module):
    def __init__(self, embed: nnx.Embed, *, rngs: nnx.Rngs) -> None:
        self.embed = embed
        self.Dense_0 = nnx.Linear(4, 4, rngs=rngs)

    def __call__(self, t: jax.Array) -> jax.Array:
        return self.Dense_0(self.embed(t))


class Model(nnx.Module):
    def __init__(self, *, rngs: nnx.Rngs) -> None:
        init = nnx.with_partitioning(nnx.initializers.normal(), ("model", None))
        self.shared = nnx.Embed(8, 4, embedding_init=init, rngs=rngs)
        self.encoder = Part(self.shared, rngs=rngs)
        self.decoder = Part(self.shared, rngs=rngs)

    def __call__(self, t: jax.Array) -> jax.Array:
        return self.encoder(t) + self.decoder(t)


class LinenOutside(nn.Module):
    """Fields first, in their order, each with all that it holds: the embedding belongs to the encoder."""

    encoder: nn.Module
    decoder: nn.Module

    def __call__(self, t: jax.Array) -> jax.Array:
        return self.encoder(t) + self.decoder(t)


class Outside(nnx.Module):
    def __init__(self, encoder: nnx.Module, decoder: nnx.Module, *, rngs: nnx.Rngs) -> None:
        self.encoder = encoder
        self.decoder = decoder

    def __call__(self, t: jax.Array) -> jax.Array:
        return self.encoder(t) + self.decoder(t)


def create() -> Model:
    with nnx.use_eager_sharding(False):
        return Model(rngs=nnx.Rngs(0))


def create_outside() -> Outside:
    rngs = nnx.Rngs(0)
    embed = nnx.Embed(8, 4, rngs=rngs)
    return Outside(Part(embed, rngs=rngs), Part(embed, rngs=rngs), rngs=rngs)


def linen_outside() -> LinenOutside:
    embed = nn.Embed(8, 4)
    return LinenOutside(LinenPart(embed), LinenPart(embed))


PAIRS = [(LinenModel, create, ("shared",)), (linen_outside, create_outside, ("encoder", "embed"))]


def unboxed(variables: Any) -> Any:
    return nn.meta.unbox(variables)


def assert_equal(a: Any, b: Any) -> None:
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(("linen", "native", "place"), PAIRS)
def test_there_and_back(linen: Any, native: Any, place: tuple[str, ...]) -> None:
    variables = unboxed(linen().init(jax.random.key(1), TOKENS))
    model = native()
    assert linen_paths(model) == {("decoder", "embed", "embedding"): (*place, "embedding")}
    compat.from_linen(variables, model)
    np.testing.assert_array_equal(model(TOKENS), linen().apply(variables, TOKENS))
    assert_equal(compat.to_linen(model), variables)
    # Splitting and merging sorts the attributes; Linen's place does not depend on their order.
    assert_equal(compat.to_linen(nnx.merge(*nnx.split(model))), variables)


@pytest.mark.parametrize(("linen", "native", "place"), PAIRS)
def test_it_is_proved(linen: Any, native: Any, place: tuple[str, ...]) -> None:
    variables = linen().init(jax.random.key(1), TOKENS)
    for side in (native(), native):
        assert str(compat.check_equivalence(linen(), variables, side, TOKENS).verdict) == "proved"


def state_of(linen: Any) -> train_state.TrainState:
    params = unboxed(linen.init(jax.random.key(1), TOKENS))["params"]
    return train_state.TrainState.create(apply_fn=linen.apply, params=params, tx=optax.adam(1e-2))


def target() -> tuple[Model, nnx.Optimizer]:
    model = create()
    return model, nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)


def test_the_optimizer_too(tmp_path: Path) -> None:
    state = state_of(LinenModel())
    grads = jax.tree.map(jnp.ones_like, state.params)
    state = state.apply_gradients(grads=grads)
    (tmp_path / "state.msgpack").write_bytes(serialization.to_bytes(state))
    model, optimizer = compat.restore(tmp_path / "state.msgpack", target)
    back = compat.to_linen((model, optimizer))
    assert_equal(back["params"], serialization.to_state_dict(state.params))
    moments = serialization.to_state_dict(state.opt_state)["0"]
    assert_equal({k: back["opt_state"]["0"][k] for k in ("mu", "nu")}, {k: moments[k] for k in ("mu", "nu")})
    assert model.shared is model.decoder.embed


def test_converted_checkpoints(tmp_path: Path) -> None:
    state = state_of(LinenModel())
    (tmp_path / "state.msgpack").write_bytes(serialization.to_bytes(state))
    compat.convert_checkpoint(tmp_path / "state.msgpack", tmp_path / "new", create=target)
    model, optimizer = target()
    wanted = {"model": nnx.state(model), "optimizer": nnx.state(optimizer)}
    with ocp.StandardCheckpointer() as checkpointer:
        found = checkpointer.restore(tmp_path / "new", wanted)
    table = found["model"]["decoder"]["embed"]["embedding"]
    np.testing.assert_array_equal(table.get_raw_value(), state.params["shared"]["embedding"])
    compat.convert_checkpoint(tmp_path / "new", tmp_path / "old", to="linen", create=target)
    old = compat.restore(tmp_path / "old", target)
    np.testing.assert_array_equal(old[0].shared.embedding[...], state.params["shared"]["embedding"])
    keys = {"/".join(k) for k in open_checkpoint(tmp_path / "old").leaves}
    assert {"params/shared/embedding", "opt_state/0/mu/shared/embedding"} <= keys
    assert not any("embed/embedding" in k for k in keys)


def test_specs() -> None:
    abstract = jax.eval_shape(LinenModel().init, jax.random.key(0), TOKENS)
    specs = compat.specs_from_linen(nn.get_partition_spec(abstract), create())
    own = compat.partition_specs(create())
    for found in (specs, own):
        flat = {tuple(p): s for p, s in nnx.to_flat_state(found)}
        assert flat["decoder", "embed", "embedding"] == P("model", None)


def test_a_training_step_is_proved() -> None:
    def linen_step(state: Any, t: jax.Array) -> tuple[Any, jax.Array]:
        def loss(params: Any) -> jax.Array:
            return jnp.mean(state.apply_fn({"params": params}, t) ** 2)

        value, grads = jax.value_and_grad(loss)(state.params)
        return state.apply_gradients(grads=grads), value

    def native_step(model: Model, optimizer: nnx.Optimizer, t: jax.Array) -> jax.Array:
        value, grads = nnx.value_and_grad(lambda m: jnp.mean(m(t) ** 2))(model)
        optimizer.update(model, grads)
        return value

    report = check_steps(linen_step, state_of(LinenModel()), native_step, target(), TOKENS)
    assert str(report.verdict) == "proved", str(report)
