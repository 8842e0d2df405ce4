"""Tables of module classes that decorators and statements fill: items are followed, or stay Linen with who takes them."""

from __future__ import annotations

import jax
import pytest
from flax import nnx
from nnx_migrate import compat

from ..training import printing_sides
from .loading import migrated, project_sides

HEAD = """import jax
import jax.numpy as jnp
from flax import linen as nn

ones = nn.initializers.constant(0.3)
x = jnp.sin(jnp.arange(8.0)).reshape(2, 4)


def run(net):
    variables = net.init(jax.random.key(0), x)
    print(net.apply(variables, x), sorted(variables["params"]))


"""
BODY = """


{a}
class A(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        return nn.Dense(self.width, kernel_init=ones)(x)


{b}
class B(nn.Module):
    width: int = 3

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(5, kernel_init=ones)(x))
        return nn.Dense(self.width, use_bias=False, kernel_init=ones)(x)


{more}


class Net(nn.Module):
    kind: str = "A"

    @nn.compact
    def __call__(self, x):
        return nn.Dense(1, kernel_init=ones)({get}(width=4)(x))


class Setup(nn.Module):
    kind: str = "A"

    def setup(self):
        self.block = {get}(width=4)

    def __call__(self, x):
        return self.block(x)


for kind in ("A", "B"):
    run(Net(kind))
    run(Setup(kind))
run(A())
"""
BY_CLASS = """TABLE = {}


def register(cls):
    TABLE[cls.__name__] = cls
    return cls
"""
BY_NAME = """TABLE: dict = dict()


def register(name: str):
    def wrap(cls):
        if name in TABLE:
            raise ValueError(name)
        TABLE[name.upper()] = cls
        return cls

    return wrap


def get(kind):
    if kind not in TABLE:
        raise ValueError(f"{kind} is none of {sorted(TABLE)}")
    return TABLE[kind]
"""
NESTED = """TABLE = {}


def register(kind, name):
    def wrap(cls):
        TABLE.setdefault(kind, {})
        TABLE[kind][name] = cls
        return cls

    return wrap


def get(name):
    return TABLE["block"][name]


def make(name, **options):
    cls = TABLE["block"].get(name)
    if cls is None:
        raise ValueError(name)
    return cls(**options)
"""
OBJECT = """class Registry:
    def __init__(self):
        self.made = {}

    def register(self, name):
        def wrap(cls):
            self.made[name] = cls
            return cls

        return wrap

    def get(self, name):
        return self.made[name]


BLOCKS = Registry()
"""
CASES = {
    "by the class": (BY_CLASS, "@register", "@register", "", "TABLE[self.kind]"),
    "by a name": (BY_NAME, '@register("a")', '@register(name="B")', "", "TABLE[self.kind]"),
    "by a function": (BY_NAME, '@register("A")', '@register("B")', "", "get(self.kind)"),
    "called": (BY_NAME, '@register("A")', "", 'register("b")(B)', "get(self.kind)"),
    "statements": ("TABLE = {}\n", "", "", 'TABLE["A"] = A\nTABLE["B"] = B', "TABLE[self.kind]"),
}
STAY = {
    "tables in a table": (NESTED, '@register("block", "A")', '@register("block", "B")', "", "get(self.kind)"),
    "made by a function": (
        NESTED + "\n\nclass Of:\n    pass\n",
        '@register("block", "A")',
        '@register("block", "B")',
        "",
        "(lambda **options: make(self.kind, **options))",
    ),
    "an object": (OBJECT, '@BLOCKS.register("A")', '@BLOCKS.register("B")', "", "BLOCKS.get(self.kind)"),
    "a key that is made": (
        BY_NAME.replace("    def wrap", "    name = name * 1\n\n    def wrap"),
        '@register("A")',
        '@register("B")',
        "",
        "get(self.kind)",
    ),
    "another class by the name": (
        BY_CLASS,
        "@register",
        "@register",
        "First, Second = A, B\n\n\nclass B(nn.Module):\n    pass",
        "TABLE[self.kind]",
    ),
    "another class by the name, in a display": (
        "",
        "",
        "",
        'TABLE = {"A": A, "B": B}\n\n\nclass B(nn.Module):\n    pass',
        "TABLE[self.kind]",
    ),
    "an update": ("TABLE = {}\n", "", "", "TABLE.update(A=A, B=B)", "TABLE[self.kind]"),
    "one name twice": (BY_NAME, '@register("A")', '@register("B")', 'TABLE["B"] = B', "TABLE[self.kind]"),
    "a loop": ("TABLE = {}\n", "", "", "for cls in (A, B):\n    TABLE[cls.__name__] = cls", "TABLE[self.kind]"),
}


def _program(case: tuple[str, str, str, str, str]) -> str:
    table, a, b, more, get = case
    return HEAD + table + BODY.format(a=a, b=b, more=more, get=get)


@pytest.mark.parametrize("case", CASES)
def test_the_items_are_followed(case: str) -> None:
    program = _program(CASES[case])
    plans = migrated({"m": program}).classes
    assert {c.qualname: str(c.outcome) for c in plans} == {f"m.{name}": "native" for name in ("A", "B", "Net", "Setup")}
    printing_sides.check("registered_" + case.replace(" ", "_"), program, "nnx")


@pytest.mark.parametrize("case", STAY)
def test_what_is_taken_by_linen_classes_stays_linen(case: str) -> None:
    program = _program(STAY[case])
    assert "native" not in {str(c.outcome) for c in migrated({"m": program}).classes if c.qualname != "m.A"}
    printing_sides.check("registered_" + case.replace(" ", "_"), program, "nnx")


BLOCKS = """from flax import linen as nn

from registry import register


@register("plain")
class Plain(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.width)(x))


@register("deep")
class Deep(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(self.width)(nn.Dense(9)(x)))
"""
USER = """from flax import linen as nn

import blocks
from registry import get


class Net(nn.Module):
    kind: str = "plain"

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(get(self.kind.upper())(5)(x))
"""


@pytest.mark.parametrize("imports", ["", "try:\n    import blocks\nexcept ImportError:\n    pass\n"])
def test_a_file_that_does_not_load_them_does_not_begin_to(imports: str) -> None:
    user = USER.replace("import blocks\n", imports)
    plans = {c.qualname: c for c in migrated({"registry": BY_NAME, "blocks": BLOCKS, "user": user}).classes}
    assert plans["user.Net"].outcome == ("bridged" if not imports else "native"), plans["user.Net"].reason


def test_files_that_load_each_other_do_not_import_them() -> None:
    blocks = BLOCKS.replace("import register\n", "import register\nfrom user import ONE\n")
    user = USER.replace("import blocks\nfrom", "from more import TWO\nfrom") + "\n\nONE = 1\n"
    texts = {"registry": BY_NAME, "user": user, "blocks": blocks, "more": "import blocks\n\nTWO = 2\n"}
    plans = {c.qualname: c for c in migrated(texts).classes}
    assert plans["user.Net"].code == "NNX138", plans["user.Net"].reason


@pytest.mark.parametrize("more", ['T["DEEP"] = Plain', "T.clear()", 'named("other")(object)'])
def test_what_a_file_does_under_another_name_counts(more: str) -> None:
    blocks = f"{BLOCKS}\n\n{more}\n".replace("import register\n", "import register, TABLE as T, register as named\n")
    plans = {c.qualname: c for c in migrated({"registry": BY_NAME, "blocks": blocks, "user": USER}).classes}
    assert plans["user.Net"].code == "NNX138", plans["user.Net"].reason
    assert plans["blocks.Plain"].code == "NNX177"


def test_classes_of_another_file_are_said_as_this_one_calls_them() -> None:
    texts = {"registry": BY_NAME, "blocks": BLOCKS, "user": USER}
    before, native = project_sides(texts, migrated(texts))
    x = jax.random.normal(jax.random.key(0), (2, 4))
    for kind in ("plain", "deep"):
        linen, model = before.Net(kind), native.Net(kind, in_features=4, rngs=nnx.Rngs(0))
        assert compat.check_equivalence(linen, linen.init(jax.random.key(1), x), model, x)
