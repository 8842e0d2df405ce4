"""Steps of generated programs with plain Python around layers: widths and conditions computed from fields and sizes, in
locals that branches and loops change.

As in `generator_modules`. The body is written at random and followed by running it over layers that only know widths.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

    from generator import Body, Step, Writer

Fields = dict[str, int]
Known = dict[str, list[str]]  # kind of value → locals that hold one

_FIELDS = """\
  a: int = 3
  b: int = 4
  d: int = 2
  f: bool = True
  o: Optional[int] = None
  s: str = 'u'
  t: Tuple[int, ...] = (3, 4)
"""
_DEFAULTS: dict[str, Any] = {"a": 3, "b": 4, "d": 2, "f": True, "o": None, "s": "u", "t": (3, 4)}
_OTHERS: dict[str, tuple[Any, ...]] = {
    "a": (2, 6), "b": (1, 5), "d": (1, 3), "f": (False,), "o": (2, 5), "s": ("v",), "t": ((2, 3, 4), (5,)),
}  # fmt: skip
_LARGEST = 24


class _Text:
    """Random expressions over the fields, the size of `x` and the locals so far."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.known: Known = {"number": [], "optional": [], "truth": []}

    def number(self, depth: int) -> str:
        if depth <= 0 or self.draw.random() < 0.3:
            return self.draw.choice(["self.a", "self.b", "x.shape[-1]", "2", *self.known["number"]])
        one, other = self.number(depth - 1), self.number(depth - 1)
        return self.draw.choice([
            f"({one} + {other})", f"({one} * {other})", f"({one} - {other})", f"({one} // 2)", f"({one} % 3)",
            f"max({one}, {other})", f"min({one}, {other})", f"abs({one} - {other})",
            f"({one} if {self.truth(depth - 1)} else {other})", f"({self.optional(depth - 1)} or {one})",
            f"len({self.items(depth - 1)})", f"{self.items(depth - 1)}[-1]", f"sum({self.items(depth - 1)})",
            f"{{'u': {one}, 'v': {other}}}[self.s]",
        ])  # fmt: skip

    def optional(self, depth: int) -> str:
        given = f"({self.number(depth - 1)} if {self.truth(depth - 1)} else None)" if depth > 0 else "self.o"
        return self.draw.choice(["self.o", "self.o", given, *self.known["optional"]])

    def items(self, depth: int) -> str:
        pair = f"({self.number(depth - 1)}, {self.number(depth - 1)})"
        return self.draw.choice(["self.t", "self.t[:2]", "self.t[::-1]", "(self.t + (2,))", pair])

    def truth(self, depth: int) -> str:
        if depth <= 0:
            return self.draw.choice(["self.f", "self.o", *self.known["truth"]])
        one, other = self.truth(depth - 1), self.truth(depth - 1)
        return self.draw.choice([
            f"({self.number(depth - 1)} {self.draw.choice(['<', '>', '==', '!='])} {self.number(depth - 1)})",
            f"(not {one})", f"({one} and {other})", f"({one} or {other})", f"({self.optional(depth - 1)} is None)",
            "(self.s == 'u')", "(self.s in ('v', 'w'))", f"({self.number(0)} in {self.items(depth - 1)})",
        ])  # fmt: skip

    def lines(self, count: int, depth: int) -> list[str]:
        """Statements, one block deep at the most `depth` times."""
        found: list[str] = []
        for _ in range(count):
            form = self.draw.randrange(7)
            if form == 0:
                name, kind = self.draw.choice([("n", "number"), ("m", "optional"), ("k", "truth")])
                write = {"number": self.number, "optional": self.optional, "truth": self.truth}[kind]
                found.append(f"{name} = {write(2)}")
                self.known[kind] = sorted({*self.known[kind], name})
            elif form == 1 and self.known["number"]:
                found.append(f"{self.draw.choice(self.known['number'])} {self.draw.choice(['+=', '*='])} {self.number(1)}")
            elif form in (2, 3) and depth:
                heads = [
                    f"if {self.truth(2)}:",
                    "for i in range(self.d):",
                    "for i in self.t:",
                    "for i, _ in enumerate(self.t):",
                ]
                head = self.draw.choice(heads)
                found += [head, *self._block([] if head.startswith("if") else ["i"], depth)]
                if head.startswith("if") and self.draw.random() < 0.5:
                    found += ["else:", *self._block([], depth)]
            else:
                found.append(f"x = nn.Dense(max(1, {self.number(2)}))(x)")
        return found

    def _block(self, numbers: list[str], depth: int) -> list[str]:
        outside = {kind: list(names) for kind, names in self.known.items()}
        self.known["number"] += numbers
        found = self.lines(self.draw.randrange(1, 3), depth - 1)
        self.known = outside  # what a block binds may not be there behind it
        return [f"  {line}" for line in found]


class _Sized:
    """What a body knows of an array: its shape."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


def _width(lines: list[str], values: dict[str, Any], shape: list[int]) -> int | None:
    """The width that statements leave `x` with; None where they fail, or make layers that are too large."""

    def dense(features: int) -> Any:
        if not isinstance(features, int) or not 0 < features <= _LARGEST:
            raise ValueError(features)
        return lambda x: _Sized((*x.shape[:-1], features))

    names: dict[str, Any] = {"self": types.SimpleNamespace(**values), "nn": types.SimpleNamespace(Dense=dense)}
    names["x"] = _Sized(tuple(shape))
    try:
        exec("\n".join(lines), names)  # text of this file's own
    except (ArithmeticError, LookupError, NameError, TypeError, ValueError):
        return None
    width: int = names["x"].shape[-1]
    return width


def computed(w: Writer, body: Body, fields: Fields) -> None:
    """A class whose layers depend on what plain Python makes of its fields, with some of the fields given."""
    w.mark("computed in Python")
    for _ in range(50):
        lines = _Text(w.random).lines(w.random.randrange(2, 5), 2)
        given = {n: w.random.choice(others) for n, others in _OTHERS.items() if w.random.random() < 0.4}
        width = _width(lines, _DEFAULTS | given, body.shape)
        if width is not None and _width(lines, _DEFAULTS, body.shape) is not None and any("nn." in l for l in lines):
            break
    else:
        lines, given, width = ["x = nn.Dense(self.o or 5)(x)"], {}, 5
    name = w.fresh("Computed")
    text = "".join(f"    {line}\n" for line in lines)
    w.classes.append(f"class {name}(nn.Module):\n{_FIELDS}\n  @nn.compact\n  def __call__(self, x):\n{text}    return x\n")
    body.add(f"x = {name}({', '.join(f'{n}={v!r}' for n, v in given.items())})(x)")
    body.shape[-1] = width


STEPS: list[Step] = [computed]
