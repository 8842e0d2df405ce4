"""`type(model)` where a `Functional` stands for the model: its class is what `__class__` says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.nnx.generated import parity
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from ..modules.loading import module

HEAD = """
class Holder:
  def __init__(self):
    self.net = MLP(3)
  def name(self):
    return type(self.net).__name__
def describe(model):
  return '%s of %d' % (type(model).__name__, model.features)
model = MLP(4)
x = jnp.ones((2, 5))
params = model.init(jax.random.key(0), x)['params']
out = float(model.apply({'params': params}, x).sum())
"""
# Expression → whether it is said right; else it is marked.
SAID = {
    "type(model).__name__": True,
    "type(model) is MLP, type(model) == MLP, type(model) in (MLP, int)": True,
    "issubclass(type(model), MLP), issubclass(MLP, type(model)), issubclass(type(model), Holder)": True,
    "describe(model)": True,
    "Holder().name()": True,
    "type(MLP(2)).__qualname__": True,
    "type(3).__name__, type(params).__name__": True,
    "f'{type(model).__name__}'": True,
    "f'{x.ndim:{len(type(model).__name__)}}'": True,
    "f'{type(model) is MLP}'": False,
    "type(model)(5).features, type(type(model)(features=6)).__name__": True,
    "type(model) is type(MLP(3)), type(model) == type(MLP(3)), len({type(model): 1, type(MLP(3)): 2})": True,
    "[type(m).__name__ for m in (MLP(2), model)], type([model][0]).__module__": True,
    "[type(m) is MLP for m in (MLP(2), 3)], [type(m) is not MLP for m in [model, 'a']]": True,
    "{MLP: 'mlp'}[type({'a': model}['a'])], str(type([model][0])), type([model][0]).__doc__ == MLP.__doc__": True,
    "isinstance(MLP(2), type([model][0])), isinstance([model][0], type), isinstance(type([model][0]), type)": True,
    "type(copy.copy(model)).__name__, type(copy.deepcopy([model])[0]) is type([model][0])": True,
}


@pytest.mark.parametrize("said", SAID)
def test_the_class_of_a_model(kit, said: str) -> None:
    text = f"import copy\n{HEAD}said = {said}\nkept = model.features, isinstance(model, MLP)\n"
    done = kit.migrate(text, kit.MLP)
    assert "NNX603" in done.codes and "Functional(MLP" in done.after
    marked = "another type than the model's class here" in done.after
    assert marked is not SAID[said]
    before = done.run(done.before)
    if SAID[said]:
        after = done.run(done.after)
        assert (after["said"], after["kept"]) == (before["said"], before["kept"])


KINDS = """import jax
import jax.numpy as jnp
from flax import linen as nn


class Net(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(nn.Dense(self.width)(x))


class Wide(Net):
    pass


class Other(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(x)


models = [Net(), Wide(4), Other()]
x = jnp.ones((2, 5))
for model in models:
    params = model.init(jax.random.key(0), x)["params"]
    out = float(model.apply({"params": params}, x).sum())
wide = type(models[1])(width=6)
said = [ASKED]
"""


def _sides(text: str) -> tuple[Any, Any]:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)], Options())
    for path, content in result.created.items():
        module(path.stem, content)
    after = result.files[0].after or ""
    assert "Functional(Wide" in after
    return module("kinds", text), module("kinds", after)


@pytest.mark.parametrize(
    "asked",
    [
        "type(m).__name__ for m in models",
        "({Net: 1, Wide: 2}.get(type(m)), {Other: 3, Net: 4, Wide: 5}[type(m)]) for m in models",
        "type(m) in (Net, Other) for m in models",
        "(len(jax.tree.leaves([m])), hash(m) == hash(m), m == m) for m in models",
        "type(m) is Net for m in models",
        "issubclass(type(m), Net) for m in models",
        "issubclass(Wide, type(m)) for m in models",
        "issubclass(type(m), type(n)) for m in models for n in models",
        "isinstance(m, type(n)) for m in models for n in models",
        "issubclass(type(models[i]), Net) and issubclass(Wide, Net) for i in range(3)",
        "type(m) == k for m in models for k in (Net, Wide, int)",
        "(str(type(m)), type(wide).__name__, wide.width) for m in models",
        "type(m) is type(n) for m in models for n in [*models, wide]",
        "wide.apply(wide.init(jax.random.key(0), x), x).shape",
    ],
)
def test_types_of_models_that_are_not_followed(asked: str) -> None:
    before, after = _sides(KINDS.replace("ASKED", asked))
    assert after.said == before.said


def test_a_type_has_what_its_class_has() -> None:
    _, after = _sides(KINDS.replace("ASKED", "1"))
    kind = type(after.models[0])
    assert kind.__call__ is not None and issubclass(kind, kind.__mro__[1]) and not issubclass(kind.__mro__[1], kind)
    for asked in kind, kind.__mro__[1]:
        with pytest.raises(AttributeError, match="other"):
            asked.other  # noqa: B018


def test_what_the_tool_has_written_asks_as_it_did() -> None:
    written = parity.render({"Example"}, None)
    program = KINDS.replace("ASKED", "type(m) in (Net, Other) for m in models")
    files = [(Path("main.py"), program), (Path("linen_parity.py"), written)]
    result = migrate_project([SourceFile.parse(path, path.stem, text) for path, text in files])
    after = {file.path.stem: file.after or "" for file in result.files}
    generated = after["linen_parity"]
    assert "m.__class__ in" in after["main"] and "type(value) is dict" in generated and "__class__ is dict" not in generated


def test_another_function_of_that_name(kit) -> None:
    done = kit.migrate(HEAD + "type = lambda model: 'mine'\nsaid = type(model)\nkept = model.features\n", kit.MLP)
    assert done.run(done.after)["said"] == "mine"


SPLIT = """import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(x)


model = Net()
x = jnp.ones((2, 5))
state = TrainState.create(apply_fn=model.apply, params=model.init(jax.random.key(0), x)["params"], tx=optax.sgd(0.1))


@jax.jit
def step(state, x):
    grads = jax.grad(lambda p: state.apply_fn({"params": p}, x).sum())(state.params)
    return state.apply_gradients(grads=grads)


state = step(state, x)
said = SAID
"""


@pytest.mark.parametrize("said", ["type(model).__name__", 'str(type(model)).endswith("Net\'>")', "id(model) == id(Net)"])
def test_it_is_no_class_where_the_loop_is_split(said: str) -> None:
    def migrated(text: str) -> str:
        result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)], Options(jit="functional"))
        for path, content in result.created.items():
            module(path.stem, content)
        return result.files[0].after or text

    assert "\nmodel = Net\n" in migrated(SPLIT.replace("SAID", "0"))  # the class itself
    text = SPLIT.replace("SAID", said)
    assert module("types_after", migrated(text)).said == module("types_before", text).said
