"""The decision for every class and call site: plain data, free of syntax trees' writers."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any


class Outcome(enum.StrEnum):
    """What becomes of a Linen module class."""

    NATIVE = "native"  # an nnx.Module
    BRIDGED = "bridged"  # stays Linen, wrapped with nnx.bridge where NNX code uses it
    MANUAL = "manual"  # left as it was and marked


@dataclasses.dataclass(frozen=True)
class AddedArgument:
    """A keyword-only constructor argument for a size that Linen inferred at init.

    `origin` is the expression that gives it from the arguments of `__call__`: `x.shape[-1]`.
    """

    name: str
    origin: str


@dataclasses.dataclass
class ClassPlan:
    """One Linen module class. `qualname` is `<module>.<Class>`."""

    qualname: str
    path: str
    line: int
    outcome: Outcome
    reason: str = ""
    code: str = ""  # diagnostic code of the reason
    fields: tuple[str, ...] = ()
    required_fields: tuple[str, ...] = ()  # fields without a default
    added_arguments: tuple[AddedArgument, ...] = ()
    needs_rngs: bool = True
    collections: frozenset[str] = frozenset()  # variable collections of the class and its submodules, params too
    rng_streams: frozenset[str] = frozenset()  # streams used at call time: dropout, sample, ...
    methods: tuple[str, ...] = ()  # public methods
    call_arguments: tuple[str, ...] = ()  # positional parameter names of __call__, without self
    # Linen attribute/auto name → where it is found on the NNX object, where the two differ.
    renamed_attributes: dict[str, str] = dataclasses.field(default_factory=dict)
    details: Any = None  # what the module writer keeps for itself (never read by others)
    writer: Any = dataclasses.field(default=None, repr=False, compare=False)  # likewise


@dataclasses.dataclass
class Plan:
    """Everything that was decided, for the whole project."""

    classes: dict[str, ClassPlan] = dataclasses.field(default_factory=dict)
    aliases: dict[str, str] = dataclasses.field(default_factory=dict)  # project re-export → definition

    def canonical(self, name: str) -> str:
        """Follow the project's own re-exports: `pkg.Model` → `pkg.model.Model`."""
        seen: set[str] = set()
        while name not in seen:
            seen.add(name)
            for cut in range(len(name), 0, -1):
                if cut < len(name) and name[cut] != ".":
                    continue
                target = self.aliases.get(name[:cut])
                if target is not None:
                    name = target + name[cut:]
                    break
        return name

    def module_class(self, qualname: str | None) -> ClassPlan | None:
        """The plan of the Linen class that a (canonical) name means."""
        return self.classes.get(qualname) if qualname else None
