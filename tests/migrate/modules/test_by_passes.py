"""NNX185: modules of loops whose passes only the call knows: the call on shapes makes one for each pass."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from nnx_migrate import compat

from .test_later_sizes import after, both, migrate, same

CLASSES = """import functools


class Block(nn.Module):
  features: int
  act: Any = nn.relu
  @nn.compact
  def __call__(self, x):
    return nn.Dense(self.features)(self.act(nn.Dense(2 * self.features)(x)))


"""


def of(body: str, arguments: str = "xs", fields: str = "width: int = 4") -> str:
    head = f"class M(nn.Module):\n  {fields}\n  @nn.compact\n  def __call__(self, {arguments}):\n"
    return CLASSES + head + "".join(f"    {line}\n" for line in body.splitlines())


def array(*shape: int) -> Any:
    return jnp.asarray(np.random.RandomState(sum(shape)).standard_normal(shape), jnp.float32)


LIST = [array(2, 3), array(2, 5), array(2, 4)]
PARTS = {"a_1": array(2, 6, 3), "a_0": array(2, 6, 2), "rest": array(2, 3)}
SAME = [array(2, 4), array(2, 4) + 1]

ENSEMBLE = """out = 0.0
for k, v in xs.items():
  made = nn.vmap(Block, variable_axes={'params': 0}, split_rngs={'params': True}, in_axes=None, axis_size=2)
  out = out + made(self.width, name=f'net_{k}')(v).sum()
return out"""

HANDED_ON = """class Inner(nn.Module):
  @nn.compact
  def __call__(self, xs):
    h = 0.0
    for x in reversed(xs):
      h = h + nn.Dense(x.shape[-1] + 1)(x).sum()
    for x in xs[1:]:
      h = h + Block(2)(x).sum()
    return h


"""

PROGRAMS: dict[str, tuple[str, Any]] = {
    "a list handed on to a module that goes through it": (
        of("inner = Inner()\nreturn inner(xs) + Inner()(xs) + inner(xs)").replace("class M(", HANDED_ON + "class M("),
        LIST,
    ),
    "ensembles by name": (of(ENSEMBLE), PARTS),
    "a comprehension": (
        of("ys = [nn.Dense(self.width)(x) for x in xs]\nreturn nn.Dense(3)(jnp.concatenate(ys, axis=-1))"),
        LIST,
    ),
    "before and behind": (
        of(
            "y = nn.Dense(6)(xs[0])\nfor i, x in enumerate(xs):\n  y = y + nn.relu(nn.Dense(6)(x)) * i\n"
            "y = nn.LayerNorm()(y)\nreturn nn.Dense(2)(y) if self.width > 2 else nn.Dense(5)(y)"
        ),
        LIST,
    ),
    "an argument from the shapes": (
        of("ys = []\nfor x in xs:\n  y = nn.Dense(x.shape[-1] + 1)(x)\n  ys.append(nn.LayerNorm()(y))\nreturn ys"),
        LIST,
    ),
    "a partial of a class, by index": (
        of(
            "block = functools.partial(Block, act=nn.gelu)\nhs = []\nfor i in range(len(xs)):\n"
            "  h = block(features=xs[i].shape[-1])(xs[i])\n  hs.append(h)\n"
            "h = nn.Dense(self.width)(jnp.concatenate(hs, -1)) if self.width else hs[0]\nreturn Block(self.width)(h)"
        ),
        LIST,
    ),
    "keys that are filtered": (
        of(
            "parts = {k: v for k, v in data.items() if k.startswith('a')}\nout = []\nfor key in parts:\n"
            "  h = Block(self.width)(parts[key])\n  out.append(h.mean(-2))\nout.append(data['rest'])\n"
            "return nn.Dense(4, name='last')(jnp.concatenate(out, -1))",
            "data",
        ),
        PARTS,
    ),
    "keys in their order": (
        of(
            "keys = sorted([k for k in data.keys() if k.startswith('a')])\nlatents = []\nfor key in keys:\n"
            "  latents.append(data[key])\nhidden = [nn.relu(nn.Dense(self.width)(latent)) for latent in latents]\n"
            "return jnp.concatenate(hidden, -1)",
            "data",
        ),
        PARTS,
    ),
    "items of a dict": (
        of("return {k: nn.Dense(self.width)(v) for k, v in data.items()}", "data"),
        PARTS,
    ),
    "two kinds in turn, and loops within loops": (
        of(
            "ys = []\nfor x in xs:\n  h = nn.Dense(4)(x)\n  for _ in range(self.width - 2):\n    h = h + nn.Dense(4)(h)\n"
            "  for other in xs:\n    h = h + Block(4)(other) + nn.Dense(4, use_bias=False)(other)\n  ys.append(h)\n"
            "return nn.Dense(1)(sum(ys))"
        ),
        LIST,
    ),
    "one made and called later": (
        of("denses = []\nfor x in xs:\n  denses.append(nn.Dense(self.width))\nreturn [d(x) for d, x in zip(denses, xs)]"),
        LIST,
    ),
    "sizes in a list that the call fills": (
        of(
            "sizes = list(xs.shape)\nwhile len(sizes) < self.width:\n  sizes.append(3)\n"
            "for size in sizes:\n  xs = nn.Dense(size)(xs)\nreturn xs"
        ),
        LIST[0],
    ),
    "called twice in its pass": (
        of("ys = []\nfor x in xs:\n  block = Block(x.shape[-1])\n  ys.append(block(block(x)))\nreturn ys"),
        LIST,
    ),
    "names of the call": (
        of(
            "ys = {}\nfor k, v in data.items():\n  h = nn.Dense(self.width, name=f'embed {k}')(v)\n"
            "  ys[k] = Block(v.shape[-1], name='block/' + k)(h) + nn.Dense(1)(h)\n"
            "return ys, nn.LayerNorm(name='norm')(ys['rest']), nn.Dense(2)(ys['rest'])",
            "data",
        ),
        PARTS,
    ),
    "names of the call, in one that passes on what it is given": (
        of("return sum([nn.Dense(4, name=f'd_{i}')(x) for i, x in enumerate(xs)])")
        + "\n\nclass N(nn.Module):\n  @nn.compact\n  def __call__(self, xs):\n"
        "    h = M()(xs)\n    y = M(width=2)([h, h * 2])\n    return Block(3)(y) + nn.Dense(1)(h)\n",
        LIST,
    ),
    "under a field": (
        of(
            "ys = []\nfor x in xs:\n  h = x\n  if self.width > 3:\n    h = nn.Dense(4)(h)\n"
            "  ys.append(nn.Dense(3)(h))\nreturn ys"
        ),
        LIST,
    ),
    "in a class that passes on what it is given": (
        of("return nn.Dense(3)(jnp.concatenate([nn.Dense(4)(x) for x in xs], -1))")
        + "\n\nclass N(nn.Module):\n  @nn.compact\n  def __call__(self, xs):\n"
        "    h = M()(xs)\n    y = M(width=2)([h, h * 2])\n    return Block(3)(y) + h\n",
        LIST,
    ),
    "widths of the items, and one that is given all": (
        of("hs = []\nfor i in range(len(xs)):\n  hs.append(Block(features=xs[i].shape[-1])(xs[i]))\nreturn Fuse(3)(hs)")
        + "\n\nclass Fuse(nn.Module):\n  features: int\n  @nn.compact\n  def __call__(self, xs):\n    h = 0.0\n"
        "    for i in range(len(xs)):\n      h = h + nn.Dense(self.features)(xs[i])\n    return h\n",
        LIST,
    ),
    "one of its modules called in a loop": (
        of("dense = nn.Dense(4)\nreturn sum(dense(x) * nn.Dense(4)(x) for x in xs)"),
        SAME,
    ),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("what", PROGRAMS)
def test_as_many_as_there_are_passes(what: str) -> None:
    text, given = PROGRAMS[what]
    old, new, result = both(text)
    assert {r.outcome.value for r in result.classes} == {"native"}, [r.reason for r in result.classes]
    name = "N" if "class N" in text else "M"
    assert re.search(r"linen_parity\.(InTurn|ByName)\(\)", after(result))
    module = getattr(old, name)()
    variables = module.init(jax.random.key(0), given)
    shapes = given if type(given) is dict else jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), given)
    for example in (given, shapes):
        sizes = {"in_example": example} if type(given) in (list, dict) else {"in_shape": given.shape}
        model = getattr(new, name)(**sizes, rngs=nnx.Rngs(0))
        fresh = compat.to_linen(model)
        assert jax.tree.map(jnp.shape, fresh) == jax.tree.map(jnp.shape, dict(variables))
        compat.from_linen(variables, model)
        same(model(given), module.apply(variables, given))

    def loss(result: Any) -> Any:
        return sum((leaf**2).mean() for leaf in jax.tree.leaves(result))

    wanted = jax.grad(lambda v: loss(module.apply(v, given)))(variables)
    for one in (model, nnx.clone(model), nnx.merge(*nnx.split(model))):
        found = nnx.jit(nnx.grad(lambda m: loss(m(given))))(one)
        nnx.update(one, found)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, 1e-4, 1e-6), compat.to_linen(one), dict(wanted))
        compat.from_linen(variables, one)


def test_flags_statistics_and_random_numbers_of_the_call() -> None:
    body = (
        "h = 0\nfor x in xs:\n  h = nn.Dense(5)(h + x)\n  h = nn.BatchNorm(use_running_average=not train)(h)\n"
        "  h = nn.Dropout(0.5, deterministic=not train)(h)\nreturn nn.Dense(2)(h)"
    )
    old, new, result = both(of(body, "xs, train: bool = False"))
    assert {r.outcome.value for r in result.classes} == {"native"}
    given = [array(4, 5), array(4, 5) * 2]
    variables = old.M().init(jax.random.key(0), given)
    model = new.M(in_example=given, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    same(model(given), old.M().apply(variables, given))
    assert not jnp.array_equal(model(given, train=True), model(given, train=True))
    still = of(body.replace("0.5", "0.0"), "xs, train: bool = False")
    old, new, _ = both(still)
    model = new.M(in_example=given, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    wanted, updates = old.M().apply(variables, given, train=True, mutable=["batch_stats"])
    same(model(given, train=True), wanted)
    same(compat.to_linen(model)["batch_stats"], updates["batch_stats"])


def test_other_passes_raise_as_in_linen() -> None:
    old, new, _ = both(PROGRAMS["a comprehension"][0].replace("nn.Dense(3)(jnp.concatenate(ys, axis=-1))", "ys"))
    variables = old.M().init(jax.random.key(0), LIST)
    model = new.M(in_example=LIST, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    same(model(LIST[:2]), old.M().apply(variables, LIST[:2]))  # fewer are the first of them
    with pytest.raises(Exception, match="Dense_3"):
        old.M().apply(variables, [*LIST, LIST[0]])
    with pytest.raises(ValueError, match="3 modules were made, and this call asks for more"):
        model([*LIST, LIST[0]])


def test_other_names_raise_as_in_linen() -> None:
    body = "return {k: nn.Dense(4, name=f'd_{k}')(v) for k, v in data.items()}"
    old, new, _ = both(of(body, "data"))
    variables = old.M().init(jax.random.key(0), PARTS)
    model = new.M(in_example=PARTS, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    fewer = {"rest": PARTS["rest"]}
    same(model(fewer), old.M().apply(variables, fewer))
    with pytest.raises(Exception, match="d_more"):
        old.M().apply(variables, {"more": PARTS["rest"]})
    with pytest.raises(ValueError, match="M was made without a module 'd_more' for this place of the call"):
        model({"more": PARTS["rest"]})


def test_two_of_one_name_raise_as_in_linen() -> None:
    body = "a = [nn.Dense(4, name=f'd_{x.ndim}')(x) for x in xs]\nreturn [nn.Dense(4, name=f'd_{x.ndim}')(x) for x in a]"
    old, new, _ = both(of(body))
    with pytest.raises(Exception, match="d_2"):
        old.M().init(jax.random.key(0), SAME[:1])
    with pytest.raises(ValueError, match="two modules of M are called 'd_2'"):
        new.M(in_example=SAME[:1], rngs=nnx.Rngs(0))
    with pytest.raises(ValueError, match="two modules of M are called 'd_2'"):
        new.M(in_example=SAME, rngs=nnx.Rngs(0))


def test_a_name_of_something_else_raises_as_in_linen() -> None:
    old, new, _ = both(of("return nn.Dense(3, name='last')(sum([nn.Dense(4, name=k)(v) for k, v in data.items()]))", "data"))
    given = {"last": array(2, 4)}
    with pytest.raises(Exception, match="last"):
        old.M().init(jax.random.key(0), given)
    with pytest.raises(ValueError, match="a module is called 'last', and so is something else of M"):
        new.M(in_example=given, rngs=nnx.Rngs(0))


def test_a_module_of_another_place_of_the_call_raises() -> None:
    body = "ys = [nn.Dense(4)(x) for x in xs]\nreturn nn.Dense(4, use_bias=False)(sum(ys))"
    _, new, _ = both(of(body))
    model = new.M(in_example=SAME, rngs=nnx.Rngs(0))
    with pytest.raises(ValueError, match="the module at 1 was made for another place of the call"):
        model(SAME[:1])  # Linen gives the last Dense the weights of the second


def test_another_argument_raises_as_in_linen() -> None:
    old, new, _ = both(of("return [nn.Dense(x.shape[0])(x) for x in xs]").replace("x.shape[0]", "len(xs) + x.shape[-1]"))
    variables = old.M().init(jax.random.key(0), SAME)
    model = new.M(in_example=SAME, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    same(model(SAME), old.M().apply(variables, SAME))
    with pytest.raises(Exception, match="shape"):
        old.M().apply(variables, SAME[:1])
    with pytest.raises(ValueError, match=r"Linear was made with {'features': 6}, and this call gives it {'features': 5}"):
        model(SAME[:1])


def test_sizes_by_a_flag_raise_as_in_linen() -> None:
    body = (
        "sizes = [3]\nif train:\n  xs = xs[:1]\nfor n in xs.shape:\n  sizes.append(n)\n"
        "for size in sizes:\n  xs = nn.Dense(size)(xs)\nreturn xs"
    )
    old, new, _ = both(of(body, "xs, train: bool = True"))
    x = array(2, 5)
    variables = old.M().init(jax.random.key(0), x)
    model = new.M(in_shape=x.shape, rngs=nnx.Rngs(0))
    compat.from_linen(variables, model)
    same(model(x), old.M().apply(variables, x))
    with pytest.raises(Exception, match="shape"):
        old.M().apply(variables, x, train=False)
    with pytest.raises(ValueError, match=r"Linear was made with {'features': 1}, and this call gives it {'features': 2}"):
        model(x, train=False)


REFUSED: dict[str, str] = {
    "by a flag": "ys = []\nfor x in xs:\n  if train:\n    x = nn.Dense(4)(x)\n  ys.append(nn.Dense(4)(x))\nreturn ys",
    "what arrays hold": "return [nn.Dense(int(x.max()))(x) for x in xs]",
    "a number of the pass in a name": "return [nn.Dense(4, name='a')(x) for x in xs]",
    "lifted": "return [nn.remat(Block)(4)(x) for x in xs]",
    "in a function": "def f(x):\n  return nn.Dense(4)(x)\nreturn [f(x) for x in xs] + list(map(f, xs))",
    "a parameter": "return [x * self.param('w', nn.initializers.ones, (1,)) + nn.Dense(x.shape[-1])(x) for x in xs]",
    "given to another": "return [nn.Sequential([nn.Dense(4), nn.relu])(x) for x in xs]",
    "left by what arrays hold": "ys = []\nfor x in xs:\n  if x.sum() > 0:\n    break\n  ys += [nn.Dense(4)(x)]\nreturn ys",
    "a flag of the call by its argument": "return [nn.Dense(4 if train else 8)(x) for x in xs]",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_the_call_on_shapes_may_not_make_stays_linen(what: str) -> None:
    result = migrate(of(REFUSED[what], "xs, train: bool = False"))
    assert {r.outcome.value for r in result.classes if r.qualname == "m.M"} == {"bridged"}
    assert "InTurn" not in after(result)
