"""What cannot be followed is said, at its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

# Where a class stands for itself no more, as something may construct it unseen; what is made there is run.
STANDS_IN = {
    "a dictionary": "models = {'mlp': MLP}\nmade = [m(3) for m in models.values()]\n",
    "a list": "models = [MLP, functools.partial(MLP, features=2)]\nmade = [m(3) if m == MLP else m() for m in models]\n",
    "names of partials": "small = functools.partial(MLP, features=2)\nbig = functools.partial(small, features=7)\n"
    "models = [small, big]\nmade = [m() if m == small else m(features=4) for m in models]\n"
    "said = [(m.args, m.keywords, m.func.__name__, isinstance(m, functools.partial), m in {small}) for m in models]\n",
    "another name": "Net = MLP\nmodels = {'mlp': Net}\nmade = [m(3) for m in models.values() if m == Net]\n",
    "an unknown function": "import operator\nmade = [operator.call(MLP, 3)]\n",
    "a partial in a container": "models = [functools.partial(MLP, 3)]\nmade = [m() for m in models]\n",
    "arguments that a function hands on": "def make(*given):\n    return given[0](3)\nmade = [make(MLP)]\n",
    "a tuple that a function goes through": "def all(models):\n    return [m(3) for m in models]\nmade = all((MLP, MLP))\n",
    "a tuple that a function hands on": "def of(models):\n    a, b = models\n    c, d = map(lambda m: m(2), models)\n"
    "    return [a(3), b(3), c, d]\nmade = of((MLP, MLP))\n",
    "a default beside something unknown": "import operator\ndef of(model=MLP):\n    return model(3)\n"
    "made = [of(operator.itemgetter('mlp')(dict(mlp=MLP))), of()]\n",
    "options of a constructor": "class Trainer:\n    def __init__(self, **options):\n        self.options = options\n"
    "made = [Trainer(model=MLP).options['model'](3)]\n",
    "a class that is derived, checked and read": "models = [MLP]\nmade = [m(3) for m in models]\none = models[0]\n"
    "class Own(one):\n    pass\n"
    "said = [one.__name__, isinstance(made[0], one), one == MLP, issubclass(Own, one), {MLP: 1}[one], str(one)]\n",
}
ESCAPES = {
    "a base of a class that is made on the spot": "Own = type('Own', (MLP,), {})\nmodel = Own(3)\n",
    "a class that is compared by identity": "models = [MLP]\nmade = [m(3) if m is MLP else None for m in models]\n",
    "a class of a module that goes by a parameter": "def of(models):\n    return models.MLP(3)\n",
    "a class of a module by a computed name": "import importlib\nmodel = importlib.import_module(name).MLP(3)\n",
    "a class that a function derives, with a field": "def of(base):\n    class Own(base):\n        n: int = 1\n"
    "    return Own\nmodel = of(MLP)(3)\n",
    "a class that a function derives, with another call": "def of(base):\n    class Own(base):\n"
    "        def __call__(self, x):\n            return 2 * super().__call__(x)\n    return Own\nmodel = of(MLP)(3)\n",
    "a class that a function derives, with a layer": "from flax import linen as nn\ndef of(base):\n    class Own(base):\n"
    "        def act(self, x):\n            return nn.relu(self(x))\n    return Own\nmodel = of(MLP)(3)\n",
    "a class that a function derives, which reads more": "def of(base):\n    class Own(base):\n"
    "        def act(self, x):\n            return self(x) * self.width\n    return Own\nmodel = of(MLP)(3)\n",
}
WIDE = """from flax import linen as nn

class MLP(nn.Module):
    width: int
    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width)(x)
"""
FINE = {
    "a call": "model = MLP(3)\n",
    "an alias": "cls = MLP\nmodel = cls(3)\n",
    "a partial": "make = functools.partial(MLP, 3)\nmodel = make()\n",
    "a tuple that a function takes apart": "def of(models):\n    a, b = models\n    return a(3), b(3)\n"
    "of(models=(MLP, MLP))\n",
    "a tuple of which a function takes items": "def of(models):\n    return models[0](3), models[1](2)\nof([MLP, MLP])\n",
    "a default": "def of(model=MLP, *, other=MLP):\n    return model(3), other(2)\nof()\n",
    "a method of that name": "class Made:"
    "\n    def MLP(self, n):\n        return n\n    def of(self):\n        return self.MLP(3)\n",
    "a comparison": "def of(kind):\n    return kind == MLP\n",
    "a check": "x = 1\nok = isinstance(x, MLP)\n",
    "an annotation": "def f(model: MLP, other: MLP | None = None) -> MLP: ...\n",
    "the constructor of a base": "class Trainer:\n    def __init__(self, cls):\n        self.model = cls(3)\n"
    "class Own(Trainer):\n    pass\nOwn(MLP)\n",
    "an annotation of several": "import typing\ndef f() -> typing.Tuple[int, MLP]: ...\nkind = typing.Union[MLP, None]\n",
    "a pattern": "def f(m):\n    match m:\n        case MLP():\n            return 1\n",
    "a text": "said = f'{MLP}'\n",
    "a method": "method = MLP.__call__\n",
    "a class that a function derives, with methods": "def of(base):\n    class Own(base):\n"
    "        def act(self, x):\n            return self(x)\n    return Own\nmodel = of(MLP)(3)\n",
}


@pytest.mark.parametrize("name", ESCAPES)
def test_a_class_that_escapes(kit, name: str) -> None:
    done = kit.migrate(ESCAPES[name], kit.MLP)
    assert "NNX604" in done.codes
    assert "TODO(nnx-migrate): NNX604 MLP is an nnx.Module now" in done.after
    assert "in_features, rngs" in done.after


@pytest.mark.parametrize("name", STANDS_IN)
def test_a_class_that_something_stands_in_for(kit, name: str) -> None:
    program = STANDS_IN[name] + "x = jnp.ones((2, 5))\nshapes = []\nfor model in made:\n"
    program += "    v = model.init(jax.random.key(0), x)\n"
    program += "    shapes += [jax.tree.map(jnp.shape, v), model.apply(v, x).shape]\n"
    done = kit.migrate(program, kit.MLP)
    assert "NNX604" not in done.codes, done.after
    assert re.search(r"linen_parity\.(FunctionalC|functional_c)lass\(", done.after), done.after
    before, after = done.both()
    assert before["shapes"] and before["shapes"] == after["shapes"]
    assert before.get("said") == after.get("said")


REFLECTED = """import dataclasses
import inspect
options = {"features": 5, "rate": 0.1, "name": None}
found = (
    {f.name for f in dataclasses.fields(MLP)}, set(inspect.signature(MLP).parameters), set(MLP.__annotations__),
    set(MLP.__dataclass_fields__), set(inspect.getfullargspec(MLP).args),
)
said = [sorted(k for k in options if k in names and k != "name") for names in found]
x = jnp.ones((2, 5))
shapes = []
for kept in said:
    model = MLP(**{k: options[k] for k in kept})
    shapes.append(jax.tree.map(jnp.shape, model.init(jax.random.key(0), x)))
"""


def test_the_fields_of_a_class_that_something_stands_in_for(kit) -> None:
    """What a program keeps of its options, as the class has them for fields: it would keep none, in silence."""
    before, after = kit.migrate(REFLECTED, kit.MLP).both()
    assert before["said"] == after["said"] and before["shapes"] == after["shapes"]


@pytest.mark.parametrize("name", FINE)
def test_a_class_that_does_not(kit, name: str) -> None:
    assert "NNX604" not in kit.migrate(FINE[name], kit.MLP).codes


@pytest.mark.parametrize("given", ["", "Trainer.cls = MLP\n"])
def test_a_class_that_derived_classes_say(kit, given: str) -> None:
    program = "class Trainer:\n    def make(self):\n        return self.cls(3)\nclass Own(Trainer):\n    cls = MLP\n"
    done = kit.migrate(program + given, kit.MLP)
    assert ("Functional(self.cls" in done.after) is not bool(given)


def test_partials_and_aliases_of_classes_run(kit) -> None:
    program = FINE["a partial"] + "v = model.init(jax.random.key(0), jnp.ones((2, 5)))\nn = model.features\n"
    done = kit.migrate(program + "y = model.apply(v, jnp.ones((2, 5)))\nkept = [v]\n", kit.MLP)
    before, after = done.both()
    assert (before["y"] == after["y"]).all() and before["n"] == after["n"] == 3


QUANTIZED = """import jax
from flax import linen as nn


class Plain:
    def layer(self):
        return nn.Fp8DotGeneralOp

    def other(self):
        return nn.LayerNorm


class Product(nn.Module):
    kind: Plain | None = None

    @nn.compact
    def __call__(self, x):
        kernel = self.param("kernel", nn.initializers.ones, (x.shape[-1], 4))
        product = self.kind.layer()() if self.kind else jax.lax.dot_general
        return product(x, kernel, (((x.ndim - 1,), (0,)), ((), ())))
"""


def test_linen_layers_that_an_object_gives_native_classes() -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", QUANTIZED)])
    assert [c.outcome for c in result.classes] == ["native"]
    found = [d.message for d in result.files[0].diagnostics if d.code == "NNX604"]
    assert len(found) == 1 and found[0].startswith("nn.Fp8DotGeneralOp stays a Linen layer, and Product")


ACTIVATED = """
from typing import Callable
import flax.linen as nn

class MLP(nn.Module):
    activation: Callable = nn.relu

    @nn.compact
    def __call__(self, x):
        return self.activation(nn.Dense(4)(x))


def make(activation):
    return MLP(activation=activation)


def normalized():
    return make(lambda x: nn.relu(nn.LayerNorm()(x)))
"""


def test_functions_that_make_linen_layers_for_native_classes() -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", ACTIVATED)])
    assert [c.outcome for c in result.classes] == ["native"]
    found = [d.message for d in result.files[0].diagnostics if d.code == "NNX604"]
    assert found == ["the function makes Linen's LayerNorm when it is called, which no nnx.Module can do"]


@pytest.mark.parametrize(
    ("layer", "outer"), [("nn.RNN(model)", "nn.RNN"), ("nn.Bidirectional(model, model)", "nn.Bidirectional")]
)
def test_native_models_that_layers_of_linen_are_given(kit, layer: str, outer: str) -> None:
    done = kit.migrate(f"from flax import linen as nn\nmodel = MLP(3)\nmade = {layer}\n", kit.MLP)
    assert f"MLP is an nnx.Module now, and {outer}, to which it is given here, stays Linen" in done.after


def test_a_sequence_of_what_nothing_tells_goes_to_a_native_class() -> None:
    text = f"""{WIDE}
class Head(nn.Module):
    inner: nn.Module
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(self.inner(x))

def parts():
    return dict((n, MLP(n)) for n in (3, 5))

found = parts()
model = Head(nn.Sequential([found[3], nn.relu, found[5]]))
plain = nn.Sequential([found[3]])
"""
    (file,) = migrate_project([SourceFile.parse(Path("models.py"), "models", text)]).files
    assert "linen_parity.sequential([found[3], nnx.relu, found[5]])" in (file.after or "")
    assert "plain = nn.Sequential([found[3]])" in (file.after or "")  # it may be given to Linen


def test_a_sequence_of_native_models_is_none_of_linen(kit) -> None:
    done = kit.migrate("from flax import linen as nn\nmade = nn.Sequential([MLP(3)])\n", kit.MLP)
    assert "made = linen_parity.sequential([linen_parity.Functional(MLP, 3, sizes=" in done.after
    assert "NNX604" not in done.codes


def test_a_partial_that_native_classes_and_linen_copies_share() -> None:
    """`base` is given to a class that is native and, by `head`, to one that stays Linen: no one class is right for both."""
    text = f"""import functools
from typing import Any
{WIDE}
class Head(nn.Module):
    base_cls: Any
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(self.base_cls()(x))

class Asking(nn.Module):
    network_cls: Any
    @nn.compact
    def __call__(self, x):
        if self.is_mutable_collection("probe"):
            self.sow("probe", "x", x)
        return self.network_cls()(x)

def both(width):
    base = functools.partial(MLP, width)
    head = functools.partial(Head, base_cls=base)
    return Asking(head), Head(base)
"""
    (file,) = migrate_project([SourceFile.parse(Path("models.py"), "models", text)]).files
    said = [(d.line, d.message) for d in file.diagnostics if d.code == "NNX604"]
    line = text.splitlines().index("    head = functools.partial(Head, base_cls=base)") + 1
    assert said == [(line, "MLP is an nnx.Module now, and Head, to which it is given here, stays Linen")]


def test_classes_that_a_file_asks_itself_for(kit) -> None:
    done = kit.migrate("def make(kind):\n    return globals()[kind](3)\n", kit.MLP)
    assert "NNX604 MLP of this file may be meant, nnx.Modules now" in done.after
    assert "NNX604" not in kit.migrate("def make(kind):\n    return globals()['x']\n", kit.MLP).codes
