"""Arguments that hold arrays (`obs.image`, `batch["image"]`), handed on whole; reshapes of what has their first dimensions."""

from typing import NamedTuple

import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp


@flax.struct.dataclass
class Observation:
    image: jax.Array
    state: jax.Array


class Graph(NamedTuple):
    nodes: jax.Array
    edges: jax.Array


class Encoder(nn.Module):
    """Of an attribute's whole shape, the number of whose dimensions nothing shows."""

    width: int = 5

    @nn.compact
    def __call__(self, obs):
        h = nn.Conv(4, (2, 2), strides=(2, 2), padding="VALID")(obs.image)
        h = nn.relu(h).reshape(h.shape[0], -1)
        return nn.Dense(self.width)(jnp.concatenate([h, obs.state], -1))


class Policy(nn.Module):
    def setup(self):
        self.encoder = Encoder(6)
        self.head = nn.Dense(3)

    def __call__(self, obs):
        return self.head(self.encoder(obs))


class Recurrent(nn.Module):
    """The second of a pair is handed on, and that is a record."""

    @nn.compact
    def __call__(self, carry, inputs):
        done, obs = inputs
        h = Encoder(name="encoder")(obs)
        carry = jnp.where(done[:, None], jnp.zeros_like(carry), carry)
        carry = nn.tanh(nn.Dense(4)(carry) + nn.Dense(4, use_bias=False)(h))
        return carry, Policy()(obs) + nn.Dense(3)(carry)


class Items(nn.Module):
    @nn.compact
    def __call__(self, batch):
        h = nn.Dense(4)(batch["image"])
        return nn.Dense(3)(jnp.reshape(h, (h.shape[0], h.shape[1], -1)))


class Outer(nn.Module):
    @nn.compact
    def __call__(self, batch):
        first = Items()(batch)
        return nn.Dense(2)(first.reshape((batch["image"].shape[0], -1))), nn.Dense(2)(batch["state"])


class Block(nn.Module):
    """A graph that is changed on the way: its later nodes are not those that it came with."""

    @nn.compact
    def __call__(self, graph):
        nodes = nn.Dense(6)(graph.nodes)
        graph = graph._replace(nodes=nodes)
        return graph._replace(edges=nn.Dense(3)(graph.edges))


class Network(nn.Module):
    @nn.compact
    def __call__(self, graph):
        return nn.Dense(2)(Block()(graph).nodes.mean(0))


class Flattened(nn.Module):
    """Whatever number of dimensions it is given."""

    rows: bool = False

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(4)(x)
        if self.rows:
            return nn.Dense(3)(h.reshape((*h.shape[:1], -1)))
        return nn.Dense(3)(h.reshape((x.shape[0], -1)))


class Averaged(nn.Module):
    @nn.compact
    def __call__(self, x):
        h = nn.Dense(4)(x).mean(-1)
        return nn.Dense(3)(h.reshape(h.shape[0], -1))


class Under(nn.Module):
    """The record goes through another module's method, and a condition."""

    plain: bool = False

    @nn.compact
    def __call__(self, obs, scale=None):
        h = Policy()(obs)
        if self.plain:
            return h
        if scale is not None:
            h = h * nn.Dense(3)(scale)
        return Policy(name="again")(obs.replace(state=obs.state * 2.0)) + h


class Mapped(nn.Module):
    """Each of a batch of records is encoded on its own; a scan gives the steps of another."""

    @nn.compact
    def __call__(self, obs, carry):
        over = nn.vmap(States, variable_axes={"params": None}, split_rngs={"params": False}, in_axes=0)
        steps = nn.scan(Step, variable_broadcast="params", split_rngs={"params": False})
        single = nn.Dense(2)
        carry, out = steps()(carry, obs)
        return over()(obs), carry, out, jax.vmap(lambda o: single(o.state))(obs)


class States(nn.Module):
    @nn.compact
    def __call__(self, obs):
        return nn.Dense(3)(obs.state)


class Step(nn.Module):
    @nn.compact
    def __call__(self, carry, obs):
        h = States()(obs)
        return nn.GRUCell(4)(carry, h)


class Remat(nn.Module):
    @nn.compact
    def __call__(self, obs):
        members = nn.vmap(Encoder, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=None, axis_size=3)
        return nn.remat(Encoder)(3)(obs), members()(obs), nn.Sequential([Encoder(4), nn.relu, nn.Dense(2)])(obs)


class StaysLinen(nn.Module):
    """As nobody knows how many layers there are."""

    @nn.compact
    def __call__(self, graph):
        nodes = graph.nodes
        for _ in graph.edges:
            nodes = nn.Dense(4)(nodes)
        return graph._replace(nodes=nodes)


class Wraps(nn.Module):
    """What it hands on is no array, of which there would be a shape."""

    @nn.compact
    def __call__(self, graph):
        return nn.Dense(2)(StaysLinen()(graph).nodes), nn.Dense(3)(graph.edges)


class WrapsItem(nn.Module):
    @nn.compact
    def __call__(self, batch):
        return Wraps()(batch["graph"]), StaysLinen()(batch["graph"]).nodes, nn.Dense(2)(batch["x"])


def _image(*lead):
    return jnp.sin(jnp.arange(4.0 * 4 * 3).reshape(4, 4, 3)) * jnp.ones((*lead, 1, 1, 1))


OBS = Observation(_image(2), jnp.cos(jnp.arange(10.0)).reshape(2, 5))
OBSERVATIONS = Observation(_image(3, 2), jnp.cos(jnp.arange(30.0)).reshape(3, 2, 5))
BATCH = {"image": _image(2)[:, 0], "state": jnp.ones((2, 5))}
GRAPH = Graph(jnp.cos(jnp.arange(12.0)).reshape(3, 4), jnp.ones((5, 2)))
CASES = [
    ("Encoder", {}, [], {"obs": OBS}),
    ("Policy", {}, [], {"obs": OBS}),
    ("Recurrent", {}, [(2, 4)], {"inputs": (jnp.array([True, False]), OBS)}),
    ("Mapped", {}, [], {"obs": OBSERVATIONS, "carry": jnp.ones((2, 4))}),
    ("Remat", {}, [], {"obs": OBS}),
    ("Wraps", {}, [], {"graph": GRAPH}),
    ("WrapsItem", {}, [], {"batch": {"graph": GRAPH, "x": jnp.ones((2, 3))}}),
    ("Outer", {}, [], {"batch": BATCH}),
    ("Items", {}, [], {"batch": {"image": _image(2)}}),
    ("Network", {}, [], {"graph": GRAPH}),
    ("Flattened", {}, [(2, 3)], {}),
    ("Flattened", {"rows": True}, [(2, 3, 4, 5)], {}),
    ("Averaged", {}, [(2, 3, 5)], {}),
    ("Averaged", {}, [(2, 2, 3, 5)], {}),
    ("Under", {}, [], {"obs": OBS, "scale": jnp.ones((2, 3))}),
    ("Under", {"plain": True}, [], {"obs": OBS, "scale": None}),
]
