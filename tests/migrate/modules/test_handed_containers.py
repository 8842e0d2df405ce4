"""Dicts and lists of modules that code outside of modules hands to a class: both sides run on the same variables."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.source import SourceFile

HEAD = '''
import copy
from collections.abc import Mapping
from typing import Any, Dict, Sequence
import jax.numpy as jnp
from flax import linen as nn


class MLP(nn.Module):
    dims: tuple
    @nn.compact
    def __call__(self, x, train=False):
        for d in self.dims:
            x = nn.relu(nn.Dense(d)(x))
        return x


class Normed(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        return nn.BatchNorm(use_running_average=not train)(nn.Dense(4)(x))


class Critic(nn.Module):
    encoder: nn.Module
    network: nn.Module
    @nn.compact
    def __call__(self, obs, act):
        h = jnp.concatenate([self.encoder(obs), act], -1)
        return nn.Dense(1)(self.network(h)).squeeze(-1)


class Actor(nn.Module):
    encoder: nn.Module = None
    @nn.compact
    def __call__(self, obs, scale=1.0):
        if self.encoder is not None:
            obs = self.encoder(obs)
        return nn.Dense(3)(obs) * scale


class ModuleDict(nn.Module):
    modules: Dict[str, nn.Module]
    @nn.compact
    def __call__(self, *args, name=None, **kwargs):
        if name is None:
            if kwargs.keys() != self.modules.keys():
                raise ValueError(f'Got kwargs keys {kwargs.keys()} but module keys {self.modules.keys()}')
            out = {}
            for key, value in kwargs.items():
                if isinstance(value, Mapping):
                    out[key] = self.modules[key](**value)
                elif isinstance(value, Sequence):
                    out[key] = self.modules[key](*value)
                else:
                    out[key] = self.modules[key](value)
            return out
        return self.modules[name](*args, **kwargs)


class Multi(nn.Module):
    networks: Sequence[nn.Module]
    @nn.compact
    def __call__(self, *x):
        outs = []
        for network in self.networks:
            outs.append(network(*x))
        return jnp.stack(outs, -1)


class Composite(nn.Module):
    layers: Sequence[nn.Module]
    @nn.compact
    def __call__(self, *x):
        x = self.layers[0](*x)
        for layer in self.layers[1:]:
            x = layer(x)
        return nn.Dense(2)(x)


class Keyed(nn.Module):
    encoder: Any
    keys: Sequence[str] = ('a', 'b')
    @nn.compact
    def __call__(self, obs):
        out = []
        for key in self.keys:
            out.append(self.encoder[key](obs[key]))
        return nn.Dense(3)(jnp.concatenate(out, -1))


class Count(nn.Module):
    critics: Sequence[nn.Module]
    def __call__(self, x):
        return sum([c(x) for c in self.critics]) / len(self.critics)
'''
MODELS = '''
OBS = jnp.sin(jnp.arange(10.)).reshape(2, 5)
ACT = jnp.ones((2, 3))


def info():
    critic = Critic(MLP((4,)), MLP((3,)))
    target = copy.deepcopy(critic)
    return {'critic': (critic, (OBS, ACT)), 'actor': (Actor(MLP((6,))), (OBS,)), 'target': (target, (OBS, ACT))}


def dicts():
    ni = info()
    networks = {k: v[0] for k, v in ni.items()}
    args = {k: v[1] for k, v in ni.items()}
    calls = [((OBS, ACT), {'name': 'critic'}), ((OBS,), {'name': 'actor', 'scale': 2.0}), ((OBS[:1],), {'name': 'actor'})]
    return ModuleDict(networks), (), args, calls


def shared(n=True):
    e = MLP((4,))
    encoders = {'actor': e, 'critic': e}
    if not n:
        encoders = {'actor': e, 'critic': copy.deepcopy(e)}
    model = ModuleDict({'critic': Critic(encoders['critic'], MLP((3,))), 'actor': Actor(encoders['actor'])})
    calls = [((OBS, ACT), {'name': 'critic'}), ((OBS,), {'name': 'actor', 'scale': 2.0})]
    return model, (), {'critic': [OBS, ACT], 'actor': {'obs': OBS}}, calls


def unshared():
    return shared(False)


def stats():
    model = ModuleDict(dict(a=Normed(), b=Normed()))
    return model, (), {'a': OBS, 'b': ACT}, [((OBS,), {'name': 'a'})]


def multi():
    return Multi([MLP((4, 3)), MLP((3,))]), (OBS,), {}, [((OBS,), {})]


def make(n): return MLP((n,))


def composite():
    return Composite([make(3), nn.Dense(4), nn.relu]), (OBS,), {}, [((OBS,), {})]


def keyed():
    encs = {k: MLP((n,)) for k, n in (('b', 3), ('a', 4))}
    return Keyed(encs), ({'a': OBS, 'b': ACT},), {}, [(({'a': OBS, 'b': ACT},), {})]


def count():
    return Count(tuple(MLP((3,)) for _ in range(3))), (OBS,), {}, [((OBS,), {})]


def count_shared():
    m = MLP((5,))
    return Count([MLP((5,)) for _ in range(11)] + [m, MLP((5,)), m]), (OBS,), {}, [((OBS,), {})]


def nested():
    parts = {"a": [MLP((4,)), MLP((3,))], "b": (MLP((2,)),)}
    return Lists(parts), (OBS,), {}, [((OBS,), {})]


class Lists(nn.Module):
    parts: Any

    def __call__(self, x, which="a"):
        if which == "b":
            return self.parts["b"][0](x)
        for part in self.parts["a"]:
            x = part(x)
        return x
'''
NAMES = ("dicts", "shared", "unshared", "multi", "composite", "keyed", "count", "count_shared", "nested")


def _module(name: str, text: str) -> dict[str, Any]:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module.__dict__


def _migrated(text: str) -> RunResult:
    return migrate_project([SourceFile.parse(Path("several.py"), "several", text)])


def _shapes(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: (jnp.shape(leaf), leaf.dtype), tree)


@pytest.fixture(scope="module")
def sides() -> tuple[dict[str, Any], dict[str, Any]]:
    result = _migrated(HEAD + MODELS)
    assert {c.qualname: c.outcome for c in result.classes if c.outcome != "native"} == {}
    for path, created in result.created.items():
        _module(path.stem, created)
    after = result.files[0].after
    assert after is not None
    return _module("several_linen_side", HEAD + MODELS), _module("several", after)


@pytest.mark.parametrize("name", NAMES)
def test_several_that_are_handed_over_compute_the_same_under_the_same_keys(name: str, sides: Any) -> None:
    (linen, args, keywords, calls), (native, *_) = (side[name]() for side in sides)
    variables = linen.init(jax.random.key(0), *args, **keywords)
    assert _shapes(native.init(jax.random.key(0), *args, **keywords)) == _shapes(variables)
    for given, named in calls:
        expected = linen.apply(variables, *given, **named)
        np.testing.assert_array_equal(native.apply(variables, *given, **named), expected)

        def loss(params: Any, model: Any, given: Any = given, named: Any = named) -> Any:
            return jnp.sum(jnp.sin(model.apply({"params": params}, *given, **named)))

        gradients = [jax.jit(jax.grad(lambda p, m=m: loss(p, m)))(variables["params"]) for m in (linen, native)]
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6), *gradients)


def test_variables_of_a_checkpoint_are_enough_for_one_of_them(sides: Any) -> None:
    (linen, _, keywords, calls), (native, *_) = (side["unshared"]() for side in sides)
    variables = linen.init(jax.random.key(1), **keywords)
    native = native.clone()
    for known in [key for key in type(native)._known if key == native]:
        del type(native)._known[known]
    for given, named in calls:
        np.testing.assert_array_equal(native.apply(variables, *given, **named), linen.apply(variables, *given, **named))


@pytest.mark.parametrize("initialized", [True, False])
def test_what_is_not_called_keeps_its_statistics(initialized: bool, sides: Any) -> None:
    (linen, _, keywords, calls), (native, *_) = (side["stats"]() for side in sides)
    variables = linen.init(jax.random.key(0), **keywords)
    if initialized:
        assert _shapes(native.init(jax.random.key(0), **keywords)) == _shapes(variables)
    for given, named in calls:
        for mutable in ("batch_stats", ["batch_stats", "params"]):
            asked = {**named, "train": True, "mutable": mutable}
            results = [model.apply(variables, *given, **asked) for model in (linen, native)]
            jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6), *results)


@pytest.mark.parametrize("name", ["dicts", "shared", "count_shared", "nested"])
def test_a_checkpoint_fills_a_module_that_is_made_by_hand(name: str, sides: Any) -> None:
    (linen, args, keywords, calls), (functional, *_) = (side[name]() for side in sides)
    variables = linen.init(jax.random.key(1), *args, **keywords)
    model = functional._create(*functional._args, call_example=(args, keywords), rngs=nnx.Rngs(0), **functional._kwargs)
    compat.from_linen(variables, model)
    for given, named in calls:
        np.testing.assert_array_equal(model(*given, **named), linen.apply(variables, *given, **named))
    jax.tree.map(np.testing.assert_array_equal, compat.to_linen(model), variables)


def test_a_name_that_a_dictionary_of_nnx_has_is_refused(sides: Any) -> None:
    with pytest.raises(TypeError, match="'values'"):
        sides[1]["linen_parity"].handed({"values": jnp.tanh})


REFUSED = {
    "it is handed on": "    def __call__(self, x):\n        return helper(self.parts['a'], x)\n",
    "another method of one": "    def __call__(self, x):\n        return self.parts['a'].other(x)\n",
    "a loop's name is kept": (
        "    def __call__(self, x):\n        for part in self.parts:\n            x = part(x)\n        return part(x)\n"
    ),
    "classes of them": "    @nn.compact\n    def __call__(self, x):\n        return self.parts['a'](3)(x)\n",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_more_with_them_stays_linen(name: str) -> None:
    made = "def make(n):\n    return Several({k: MLP((n,)) for k in 'ab'})\n\n\n"
    text = f"{HEAD}{made}class Several(nn.Module):\n    parts: Dict[str, nn.Module]\n\n{REFUSED[name]}"
    (several,) = [c for c in _migrated(text).classes if c.qualname == "several.Several"]
    assert several.outcome != "native", several
