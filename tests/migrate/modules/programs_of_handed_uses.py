"""Classes that are handed modules and go through them, name them or read their fields, and models of them."""

from __future__ import annotations

HEAD = '''
import abc
from typing import Any, Callable, Dict, Optional, Sequence
import jax
import jax.numpy as jnp
from flax import linen as nn


class MLP(nn.Module):
    dims: tuple
    width: int = 5
    @nn.compact
    def __call__(self, x, train=False):
        for d in self.dims:
            x = nn.relu(nn.Dense(d)(x))
        return x


class Coder(nn.Module):
    width: int = 5
    def setup(self):
        self.up = nn.Dense(self.width)
        self.down = nn.Dense(5)
    def encode(self, x):
        return self.up(x)
    def decode(self, z):
        return self.down(z)
    def __call__(self, x):
        return self.decode(self.encode(x))


class Odd(nn.Module):
    """Stays Linen."""
    width: int = 2
    @nn.compact
    def __call__(self, x):
        n = 0
        while n < self.width:
            x = nn.Dense(x.shape[-1] + n)(x)
            n += 1
        return x


class Net(nn.Module):
    hidden: int
    out: int
    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.out)(nn.tanh(nn.Dense(self.hidden)(x)))
'''
CLASSES = '''

class Chain(nn.Module):
    """A normalizing flow."""
    flows: Sequence[nn.Module]
    samples: int = 2
    def __call__(self, x, testing=False):
        if not testing:
            out, ldj = self.encode(x)
            return out, ldj
        return self.encode(x.repeat(self.samples, 0))
    def encode(self, x):
        z, ldj = x, jnp.zeros(x.shape[0])
        for flow in self.flows:
            z, ldj = flow(z, ldj, reverse=False)
        return z, ldj
    def sample(self, shape):
        z, ldj = jnp.ones(shape), jnp.zeros(shape[0])
        for flow in reversed(self.flows):
            z, ldj = flow(z, ldj, reverse=True)
        return z


class Noise(nn.Module):
    size: int = 4
    def __call__(self, z, ldj, reverse=False):
        return (z, ldj) if reverse else self.noisy(z, ldj)
    def noisy(self, z, ldj):
        return z / self.size, ldj


class Learned(Noise):
    inner: Sequence[nn.Module] = None
    def noisy(self, z, ldj):
        n = jnp.cos(z)
        if self.inner is not None:
            for flow in self.inner:
                n, ldj = flow(n, ldj, reverse=False, given=z)
        return z + n, ldj


class Coupling(nn.Module):
    network: nn.Module
    mask: Any
    features: int
    def setup(self):
        self.factor = self.param('factor', nn.initializers.normal(0.1), (self.features,))
    def __call__(self, z, ldj, reverse=False, given=None):
        kept = z * self.mask
        out = self.network(kept if given is None else jnp.concatenate([kept, given], -1))
        t = out * (1 - self.mask) * jnp.exp(self.factor)
        return (z - t if reverse else z + t), ldj + t.sum(-1)


class Halve(nn.Module):
    def __call__(self, z, ldj, reverse=False):
        if reverse:
            return jnp.concatenate([z, z], -1), ldj
        z, left = jnp.split(z, 2, -1)
        return z, ldj + left.sum(-1)


class Loops(nn.Module):
    parts: Sequence[nn.Module]
    tails: Sequence[nn.Module] = ()
    @nn.compact
    def __call__(self, x):
        n = len(self.parts)
        for i, part in enumerate(self.parts):
            x = part(x) * (i + 1)
        for part, k in zip(self.tails, range(3)):
            x = part(x) + k
        for k, (w, part) in enumerate(zip([1., 2., 3.], self.parts)):
            x = x + w * k * part(x)
        return nn.Dense(2)(x) / n


class Sum(nn.Module):
    parts: Sequence[nn.Module]
    tails: Sequence[nn.Module] = ()
    @nn.compact
    def __call__(self, x):
        for part in self.parts + self.tails:
            x = part(x)
        for part in list(self.parts):
            x = part(x)
        for part in [*reversed(self.parts)]:
            x = part(x)
        return x


def latent(encoder, obs):
    if isinstance(obs, dict):
        return jnp.concatenate([encoder(obs["image"]), obs["state"]], axis=-1)
    return encoder(obs)


class Helped(nn.Module):
    encoder: nn.Module
    network: nn.Module
    def __call__(self, obs, *args, **kwargs):
        z = latent(self.encoder, obs)
        return self.network(z, *args, **kwargs)


class Several(nn.Module):
    encoders: Dict[str, nn.Module]
    networks: Dict[str, nn.Module]
    def actor(self, obs, **kwargs):
        return self.networks["actor"](latent(self.encoders["actor"], obs), **kwargs)
    def critic(self, obs, **kwargs):
        return self.networks["critic"](latent(self.encoders["critic"], obs), **kwargs)
    def __call__(self, obs):
        out = {}
        if "actor" in self.networks:
            out["actor"] = self.actor(obs)
        if "critic" in self.networks:
            out["critic"] = self.critic(obs)
        return out


class Items(nn.Module):
    heads: Dict[str, nn.Module]
    @nn.compact
    def __call__(self, x):
        outs = [head(x) for _, head in self.heads.items()] + [head(x) for head in self.heads.values()]
        for name in self.heads:
            outs.append(self.heads[name](x))
        return jnp.concatenate(outs, -1)


class Stack(nn.Module):
    first: Sequence[Callable]
    layers: Sequence[Callable]
    keys: Dict
    def setup(self):
        if len(self.layers) == 0:
            raise ValueError("none")
    @nn.compact
    def __call__(self, x, *args, **kwargs):
        found = {"x": x}
        for part in self.first:
            found.update({"x": part(found["x"])})
        outs = []
        for layer in self.layers:
            outs += [layer(found["x"])]
        return jnp.stack(outs, axis=-1).sum(axis=-1)
    def __dict_repr__(self):
        widths = [x.width for x in self.first]
        for n, x in enumerate(self.layers):
            widths += [x.width]
        return {"widths": widths, "keys": self.keys}


def described(entry):
    (kind, options), = entry.items()
    if kind == "mlp":
        return MLP(**options)
    elif kind == "coder":
        return Coder(**options)
    raise ValueError(kind)


def of_description(layers) -> "Loaded":
    parts = [described(entry) for entry in layers]
    return Loaded(parts)


class Loaded(nn.Module):
    parts: Sequence[nn.Module]
    @classmethod
    def load(cls, layers):
        return of_description(layers)
    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x


class Named(nn.Module):
    coder: nn.Module
    spare: nn.Module = None
    def __call__(self, x):
        coder = self.coder
        return coder(x) * 2
    def encode(self, x):
        return self.coder.encode(x)
    def decode(self, z):
        coder = self.coder
        return coder.decode(z)


class Wide(nn.Module):
    parts: Sequence[nn.Module]
    def setup(self):
        self.scale = self.param('scale', nn.initializers.normal(), (self.parts[0].width,))
    def __call__(self, x):
        for width, part in zip([p.width for p in self.parts], self.parts):
            x = part(x) * width
        return x * self.scale.sum()
    def total(self):
        return sum([p.width for p in self.parts])


class Base(nn.Module):
    width: int = 3
    def before(self, x):
        return x
    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(self.before(x))


class Middle(Base):
    parts: Sequence[nn.Module] = None
    def before(self, x):
        for part in self.parts:
            x = part(x)
        return x


class Lower(Middle):
    more: Sequence[nn.Module] = ()
    def before(self, x):
        x = super().before(x)
        for part in self.more:
            x = part(x)
        return x


class Lowest(Lower):
    pass


class Potential(abc.ABC, nn.Module):
    def value_fn(self, params):
        return lambda x: self.apply({"params": params}, x)
    def state(self, key, size):
        return self.init(key, jnp.ones(size))["params"]


class Wrapped(Potential):
    model: nn.Module
    sums: bool = True
    @nn.compact
    def __call__(self, x):
        z = self.model(x)
        return z.sum() if self.sums else z


class Trainer:
    def __init__(self, model=None):
        if model is None:
            model = MLP((4,))
        self.model = Wrapped(model=model)
    def value(self, params, x):
        return self.model.value_fn(params)(x)
'''
MODELS = """

OBS = jnp.sin(jnp.arange(10.)).reshape(2, 5)
EVEN = jnp.sin(jnp.arange(16.)).reshape(2, 8)


def mask(n, invert=False):
    found = (jnp.arange(n) % 2).astype(jnp.float32)
    return 1 - found if invert else found


def calls(model, *others, x=OBS, **keywords):
    return model, (x,), {}, [((x,), keywords), *others]


def short_flow():
    return flow(learned=False)


def flow(learned=True):
    flows = []
    if learned:
        inner = [Coupling(network=Net(4, 8), mask=mask(8, i % 2 == 1), features=8) for i in range(2)]
        flows += [Learned(inner=inner)]
    else:
        flows += [Noise()]
    for i in range(2):
        flows += [Coupling(network=Net(5, 8), mask=mask(8, invert=(i % 2 == 1)), features=8)]
    flows += [Halve()]
    flows += [Coupling(network=Net(3, 4), mask=mask(4, i == 0), features=4) for i in range(2)]
    model = Chain(flows)
    return calls(model, ((EVEN,), {"testing": True}), (((3, 4),), {"method": model.sample}), x=EVEN)


def loops():
    return calls(Loops([MLP((4, 5)) for i in range(3)]))


def loops_of_others(use=True):
    parts = []
    if use:
        parts.append(MLP((6, 5)))
    else:
        parts += [MLP((3, 5))]
    for i in range(2):
        parts += [MLP((5,)), Coder(3 + i)]
    last = MLP((5,))
    return calls(Loops(parts, [last]))


def added():
    parts = []
    parts.extend([MLP((5,)), Coder()])
    return calls(Sum(parts, tails=[MLP((5,)) for _ in range(2)]))


def helped(**kwargs):
    network = MLP(dims=(4,), **kwargs)
    return calls(Helped(Coder(), network), ((OBS[:1],), {"train": True}))


def shared():
    encoder = Coder()
    model = Several({"actor": encoder, "critic": encoder}, {"critic": MLP((2,)), "actor": MLP((3,))})
    return calls(model, ((OBS,), {"method": "actor", "train": True}))


def order():
    return calls(Items({k: MLP((n,)) for k, n in (("b", 3), ("c", 4), ("a", 2))}))


def stack(keys={"a": 1}):
    first = MLP((7,), 3)
    parts = {"first": [first], "layers": [MLP((7,)) for _ in range(2)]}
    return calls(Stack(**{"first": parts["first"], "layers": [MLP((7,)) for _ in range(2)], "keys": keys}))


def loaded():
    return calls(Loaded.load([{"mlp": {"dims": (5,)}}, {"coder": {"width": 3}}]))


def named():
    model = Named(Coder(4) if OBS.ndim > 1 else MLP((5,)))
    return calls(model, ((OBS,), {"method": model.encode}), ((OBS[:, :4],), {"method": "decode"}))


def wide():
    model = Wide([Coder(w) for w in (2, 3)] + [MLP((4,), 7)])
    return calls(model, ((), {"method": model.total}))


def wide_of_linen():
    return calls(Wide([Odd(w) for w in (2, 3)]))


def middle():
    return calls(Middle(parts=[Coder(w) for w in (2, 3)]))


def lower():
    return calls(Lower(parts=[Coder(w) for w in (2, 3)], more=[Coder()]))


def lowest():
    return calls(Lowest(3, [Coder(2)]))


def base():
    return calls(Base())


def trainer():
    return Trainer(MLP((3,)))


def wrapped():
    return calls(Trainer().model)
"""
