"""Lists and iterators of which expressions take items: what is taken is gone, however often the constructor would say it."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from .loading import module

HEAD = """import collections
import dataclasses
import heapq
import itertools
from typing import Any, Sequence
import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from flax.core import FrozenDict


def taken(sizes):
    return sizes.pop()


def wider(options):
    options["w"] = options.get("w", 1) + 3
    return options


class Box:
    def __init__(self, w):
        self.w = w

    def grow(self):
        self.w += 2
        return self


@dataclasses.dataclass
class Config:
    w: int = 3

    def wider(self):
        self.w += 1
        return self.w


class Net(nn.Module):
    ws: Sequence[int] = (3, 4, 5)
    options: Any = FrozenDict(features=3, use_bias=False)
"""
CALL = "    @nn.compact\n    def __call__(self, x):\n"
COMPACT = [
    "ws = list(self.ws)\nx = nn.Dense(ws.pop())(x)\nreturn nn.Dense(ws.pop())(x)",
    "ws = list(self.ws)\nreturn nn.Dense(ws.pop(0))(nn.Dense(ws.pop(0))(x)), nn.Dense(len(ws))(x)",
    "ws = list(self.ws)\nx = nn.Dense(ws.pop())(x)\nws.append(8)\nfor w in ws:\n    x = nn.Dense(w)(x)\nreturn x",
    "ws: list = list(self.ws)\nx = nn.Dense(taken(ws))(x)\nreturn nn.Dense(taken(ws))(x), nn.Dense(len(ws))(x)",
    "ws = list(self.ws)\nn = ws.pop()\nx = nn.Dense(n)(x)\nx = nn.Dense(n + len(ws))(x)\n"
    "if ws.pop() == 4:\n    x = nn.Dense(9)(x)\nreturn x, nn.Dense(len(ws))(x)",
    "ws = list(self.ws)\ndef block(z):\n    return nn.Dense(ws.pop())(z)\nx = block(x)\nreturn nn.Dense(ws[0])(block(x))",
    "q = collections.deque(self.ws)\nx = nn.Dense(q.popleft())(x)\ny = nn.Dense(q.popleft())(x)\nq.append(7)\n"
    "return nn.Dense(q.pop())(y), nn.Dense(len(q) + 2)(x)",
    "q = collections.deque(self.ws)\nq.rotate(1)\nq.appendleft(7)\nreturn nn.Dense(q[1])(x), nn.Dense(q[0])(x)",
    "ws = set(self.ws)\nws.discard(3)\nm = nn.Dense(max(ws))\nws.add(9)\n"
    "return m(x), nn.Dense(max(ws))(x), nn.Dense(len(ws))(x)",
    "c = collections.Counter('aab')\nc.subtract('a')\nc['a'] += 4\no = collections.OrderedDict(a=3, b=4)\n"
    "o.move_to_end('a')\nreturn nn.Dense(c['a'])(x), nn.Dense(list(o.values())[0])(x)",
    "ws = list(self.ws)\nheapq.heapify(ws)\nx = nn.Dense(heapq.heappop(ws))(x)\nreturn nn.Dense(ws[0])(x)",
    "ws = list(self.ws)\nvs = ws\nx = nn.Dense(vs.pop())(x)\nreturn nn.Dense(ws[-1])(x)",
    "for ws in ([3, 4], [5, 6]):\n    x = nn.Dense(ws.pop())(x)\n    x = nn.Dense(ws[0])(x)\nreturn x",
    "it = iter(self.ws)\nx = nn.Dense(next(it))(x)\nfor w in it:\n    x = nn.Dense(w)(x)\nreturn x",
    "def sizes():\n    yield 3\n    yield from (4, 5)\ng = sizes()\nx = nn.Dense(next(g))(x)\n"
    "for w, n in zip(g, 'ab'):\n    x = nn.Dense(w, name=n)(x)\nreturn x",
    "g = (w + 1 for w in self.ws)\nfor w in g:\n    if w > 4:\n        break\nreturn nn.Dense(sum(g))(x)",
    "for g, group in itertools.groupby(self.ws):\n    x = nn.Dense(g + len(list(group)))(x)\nreturn nn.Dense(2)(x)",
    "o = {'w': 3}\na = nn.Dense(wider(o)['w'])(x)\nreturn a, nn.Dense(o['w'])(x), nn.Dense(wider(o)['w'])(x)",
    "b = Box(3)\na = nn.Dense(b.w)(x)\nb.grow()\nc = nn.Dense(b.w)(x)\n"
    "return a, c, nn.Dense(b.grow().w)(x), nn.Dense(b.w)(x)",
    "c = Config()\na = nn.Dense(c.wider())(x)\nb = nn.Dense(c.w * 2)(x)\nc.wider()\nreturn a, b, nn.Dense(c.w)(x)",
    "c = Config(5)\ndef use(config, z):\n    config.w *= 2\n    return nn.Dense(config.w)(z)\n"
    "y = use(c, x)\nreturn y, nn.Dense(c.w)(x)",
    "seen = {}\ndef size(k):\n    if k not in seen:\n        seen[k] = len(seen) + 2\n    return seen[k]\n"
    "return nn.Dense(size('a'))(x), nn.Dense(size('b'))(x), nn.Dense(size('a'))(x), nn.Dense(len(seen))(x)",
    "counts = {'n': 0}\ndef block(z):\n    counts['n'] += 1\n    return nn.Dense(2 * counts['n'])(z)\n"
    "x = block(block(x))\nreturn nn.Dense(counts['n'])(x)",
    "d = {'a': 1}\nks, vs, its = d.keys(), d.values(), d.items()\nn = len(d)\nd.update(b=4)\n"
    "return nn.Dense(len(ks))(x), nn.Dense(sum(vs))(x), nn.Dense(len(its))(x), nn.Dense(n)(x)",
    "a = b = [3]\na.append(4)\nc = a[:]\nc[0] = 8\np, q = [b] * 2\np.append(5)\n"
    "return nn.Dense(len(b))(x), nn.Dense(b[0])(x), nn.Dense(c[0])(x), nn.Dense(q[-1])(x)",
    "for i, w in enumerate(ws := list(self.ws)):\n    x = nn.Dense(w)(x)\n    if i == 0:\n        ws.append(7)\n"
    "return nn.Dense(len(ws))(x)",
    "ws = [2, 3]\n(vs := ws).append(4)\nus = vs + [1]\nus += [5]\nws += (9,)\n"
    "return nn.Dense(len(ws))(x), nn.Dense(len(vs))(x), nn.Dense(len(us))(x)",
    "g = jax.vmap(lambda r: jnp.convolve(r, jnp.ones(3), 'full'))(x[0])\n"
    "ws = list(self.ws)\na = nn.Dense(ws[0])(g)\nws[0] = 9\n"
    "return a, nn.Dense(ws[0])(g), nn.Dense(ws[0])(x)",
    "g = jax.vmap(lambda r: jnp.convolve(r, jnp.ones(3), 'full'))(x[0])\n"
    "o = {'n': 2}\nfor k in range(2):\n    g = nn.Dense(o['n'] + k)(g)\n"
    "    o['n'] = o['n'] + 3\nreturn g",
    "s = list(x.shape[1:])\nw = self.param('w', nn.initializers.normal(), (s.pop(),))\n"
    "v = self.param('v', nn.initializers.normal(), tuple(s) + (2,))\nreturn x * w, v, nn.Dense(s.pop())(x)",
    "o = dict(w=3, use_bias=False)\nw = o.pop('w')\nreturn nn.Dense(w, **o)(x), nn.Dense(w, use_bias=o.pop('use_bias'))(x)",
]
SETUP = [
    "s = np.array([2, 3])\nself.a = nn.Dense(int(s[0]))\ns += 1\nt = s\nt[0] = 8\n"
    "self.b = nn.Dense(int(s[0]) + int(s.sum()))",
    "ws = [3, 4]\nself.c = nn.Dense(ws[0])\nws[0], ws[1] = ws[1], 9\nm = ws\nself.a = nn.Dense(ws[0])\n"
    "del ws[0]\nm.insert(0, 2)\nself.b = nn.Dense(m[1] + len(ws))",
    "c = collections.Counter('aab')\nself.a = nn.Dense(c['a'])\nc.update('aaa')\nself.b = nn.Dense(c['a'])\ndel c['a']",
    "ws = list(self.ws)\nself.a = nn.Dense(ws[0])\nws.reverse()\nself.b = nn.Dense(ws[0])\nws[0] = 7\nws.clear()",
    "k = {'a': 2}\nj = k\nself.a = nn.Dense(k['a'])\nj |= {'a': 6}\nself.b = nn.Dense(k['a'])",
    "ws = list(self.ws)\nself.a = nn.Dense(ws.pop())\nself.b = nn.Dense(ws.pop())",
    "ws = list(self.ws)\nn = ws.pop()\nself.a = nn.Dense(n)\nself.b = nn.Dense(len(ws))",
    "it = iter(self.ws)\nself.a = nn.Dense(next(it))\nself.b = nn.Dense(next(it))",
    "c = Config(4)\nself.a = nn.Dense(c.w)\nc.wider()\nself.b = nn.Dense(c.w)",
    "o = {'w': 2}\nself.a = nn.Dense(wider(o)['w'])\nself.b = nn.Dense(o['w'])",
    "o = dict(self.options)\nn = o.pop('features')\nself.a = nn.Dense(n, **o)\n"
    "o.setdefault('features', 5)\nself.b = nn.Dense(o['features'])",
]


def same_or_left(name: str, text: str) -> str:
    """Whether the class became native, in which case it computes what it did, or stays Linen."""
    result = migrate_project([SourceFile.parse(Path("net.py"), "net", text)])
    (net,) = result.classes
    if str(net.outcome) != "native":
        return net.code
    for path, content in result.created.items():
        module(path.stem, content)
    before, after = module(f"{name}_before", text), module(f"{name}_after", result.files[0].after or "")
    x = jnp.ones((2, 3, 4)) / 3
    added = {a.name: eval(a.origin, {"x": x}) for a in net.added_arguments}
    variables = before.Net().init(jax.random.key(0), x)
    new = after.Net(**added, rngs=nnx.Rngs(0))
    assert compat.check_equivalence(before.Net(), variables, new, x), result.files[0].after
    again = migrate_project([SourceFile.parse(Path("net.py"), "net", result.files[0].after or "")]).files[0].after
    assert again in (None, result.files[0].after)
    return "native"


def indented(body: str, by: int) -> str:
    return "".join(" " * by + line + "\n" for line in body.splitlines())


@pytest.mark.parametrize("place", range(len(COMPACT)))
def test_compact_methods_that_take_items(place: int) -> None:
    found = same_or_left(f"taken_{place}", HEAD + CALL + indented(COMPACT[place], 8))
    assert found in ("native", "NNX110", "NNX111", "NNX113", "NNX134"), found


@pytest.mark.parametrize("place", range(len(SETUP)))
def test_setup_that_takes_items(place: int) -> None:
    call = "    def __call__(self, x):\n        return self.b(self.a(x))\n"
    found = same_or_left(f"taken_setup_{place}", f"{HEAD}    def setup(self):\n{indented(SETUP[place], 8)}{call}")
    assert found in ("native", "NNX113", "NNX114"), found


def test_some_of_them_are_native() -> None:
    """Statements that only change a list are copied, and what the call takes it gives its layers."""
    bodies = [COMPACT[0], COMPACT[2], COMPACT[7], COMPACT[8], COMPACT[13], COMPACT[18]]
    for place, body in enumerate(bodies):
        assert same_or_left(f"taken_native_{place}", HEAD + CALL + indented(body, 8)) == "native", body
    call = "    def __call__(self, x):\n        return self.b(self.a(x))\n"
    assert same_or_left("taken_statement", f"{HEAD}    def setup(self):\n{indented(SETUP[-1], 8)}{call}") == "native"


def test_skips_are_arrays() -> None:
    """A list of arrays is the call's anyway: what layers make of its items has the sizes that it had."""
    body = "skips = []\nfor w in (3, 4):\n    x = nn.Dense(w)(x)\n    skips.append(x)\n"
    body += "for w in (5, 6):\n    x = nn.Dense(w)(x + skips.pop().sum())\nreturn x"
    assert same_or_left("taken_skips", HEAD + CALL + indented(body, 8)) == "native"


def test_an_input_that_a_condition_asks_is_a_flag() -> None:
    """An argument without default decides as one with it: what stands there is made (NNX119)."""
    text = "from flax import linen as nn\n\n\nclass Net(nn.Module):\n    @nn.compact\n    def __call__(self, x, plain):\n"
    text += "        if not plain:\n            x = nn.Dense(4)(x)\n        return x\n"
    (net,) = migrate_project([SourceFile.parse(Path("net.py"), "net", text)]).classes
    assert str(net.outcome) == "native", net.reason
