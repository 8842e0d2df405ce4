"""The decision for every class and call site: plain data, free of syntax trees' writers."""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
from collections.abc import Mapping
from typing import Any

_LIBRARIES = frozenset({"jax", "flax", "orbax", "optax"})


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
    whole: bool = False  # what the call is given, and not a size of it
    call: bool = False  # all that it is given, `(args, kwargs)`
    default: str = ""  # of what the call may leave out: the constructor may, too


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
    shared_streams: frozenset[str] = frozenset()  # those of which all members of a stack may draw the same numbers
    unnamed_streams: bool = False  # may it draw from a stream whose name the code does not write out?
    sown: frozenset[str] = frozenset()  # collections that the class and its submodules sow into
    arrays: bool = False  # do the class or its submodules keep arrays beside their variables?
    wraps: bool = False  # do they wrap a module that stays Linen?
    own_streams: bool = False  # do they hold random streams that no call draws from in Linen: of an nnx.RNN of setup?
    transforms: bool = False  # are they called under transforms of NNX, which a trace around the call hides variables from?
    late: bool = False  # do the class or its submodules make variables when they are called?
    modes: frozenset[str] = frozenset()  # its name and those below it that ask whether batch statistics are mutable
    updated: frozenset[str] = frozenset()  # `Counter.count`: what the call may update that is Linen's `init`, however deep
    applied_by: frozenset[str] = frozenset()  # its methods that apply it themselves: `self.apply(params, x)`
    methods: tuple[str, ...] = ()  # public methods
    call_arguments: tuple[str, ...] = ()  # positional parameter names of __call__, without self
    call_rest: str = ""  # the name of __call__'s `*args`
    call_keywords: tuple[str, ...] = ()  # its keyword-only parameters
    call_defaults: Mapping[str, str] = dataclasses.field(default_factory=dict)  # of both; "" for what is no constant
    # Linen attribute/auto name → where it is found on the NNX object, where the two differ.
    renamed_attributes: dict[str, str] = dataclasses.field(default_factory=dict)
    copy_of: str = ""  # the class that this is a Linen copy of (see nnx/linen_copies); copies are in no report
    alias_of: str = ""  # the class that this one is under a lifted transform; see nnx/lifted_aliases
    details: Any = None  # what the module writer keeps for itself (never read by others)
    writer: Any = dataclasses.field(default=None, repr=False, compare=False)  # likewise

    @property
    def called_by_init(self) -> bool:
        """Is it native, and does the call that Linen's `init` makes show in what that gives?"""
        shown = self.late or self.sown - {"intermediates"} or self.updated
        return self.outcome is Outcome.NATIVE and bool(shown)

    def hold(self, inner: ClassPlan) -> bool:
        """Give the class what another has that it holds, which its own text does not tell: True if that was anything new."""
        new = False
        for name in (
            "collections",
            "rng_streams",
            "shared_streams",
            "sown",
            "modes",
            "unnamed_streams",
            "arrays",
            "wraps",
            "transforms",
            "own_streams",
        ):
            own = getattr(self, name)
            new |= own != own | getattr(inner, name)
            setattr(self, name, own | getattr(inner, name))
        return new


def call_names(plan: ClassPlan) -> set[str]:
    """What origins of sizes can be told by."""
    return {*plan.call_arguments, plan.call_rest, *plan.call_keywords}


def follow_aliases(name: str, aliases: Mapping[str, str]) -> str:
    """Replace the longest aliased head of a dotted name until none is left.

    A package that re-exports a name like its module (`from .dot import dot` makes `pkg.dot` mean `pkg.dot.dot`) is
    followed once; imports in a circle end somewhere on it.
    """
    for _ in range(40):
        head = name
        while head:
            target = aliases.get(head)
            if target is not None and target != head and (head == name or not target.startswith(f"{head}.")):
                name = target + name[len(head) :]
                break
            head = head.rpartition(".")[0]
        if not head:
            break
    return name


@dataclasses.dataclass
class Plan:
    """Everything that was decided, for the whole project."""

    classes: dict[str, ClassPlan] = dataclasses.field(default_factory=dict)
    aliases: dict[str, str] = dataclasses.field(default_factory=dict)  # project re-export → definition
    kept: set[str] = dataclasses.field(default_factory=set)  # what Linen copies import of the files of the originals
    redirected: dict[ast.AST, str] = dataclasses.field(default_factory=dict)  # reference → the Linen copy that it gets
    warnings: list[tuple[str, str, Any, Any]] = dataclasses.field(default_factory=list)  # code, message, source, node
    templates: set[ast.Call] = dataclasses.field(default_factory=set)  # modules handed over outside of any: see `templates`
    handed_over: set[ast.AST] = dataclasses.field(default_factory=set)  # what tables hold for fields of native classes
    taken: set[ast.AST] = dataclasses.field(default_factory=set)  # constructions that native classes do for functions
    lifted_aliases: dict[ast.AST, str] = dataclasses.field(default_factory=dict)  # `nn.vmap(Model)` → the class it becomes
    lifted_texts: list[Any] = dataclasses.field(default_factory=list, repr=False)  # what the writer keeps for itself
    _canonical: dict[str, str] = dataclasses.field(default_factory=dict, repr=False)  # answers of `canonical`

    def canonical(self, name: str) -> str:
        """Follow the project's own re-exports: `pkg.Model` → `pkg.model.Model`."""
        asked = name
        if (known := self._canonical.get(asked)) is not None:
            return known
        name = self._canonical[asked] = follow_aliases(asked, self.aliases)
        return name

    @functools.cached_property
    def words_behind(self) -> dict[str, frozenset[str]]:
        """Names that an import of the project binds → the words of the library names that they may stand for.

        `from jax import tree_map as tm` in one file makes `tm` stand for `tree_map` in all that import it from there.
        """
        found: dict[str, set[str]] = {}
        for name in self.aliases:
            parts = self.canonical(name).split(".")
            if parts[0] in _LIBRARIES:
                found.setdefault(name.rpartition(".")[2], set()).update(parts)
        return {word: frozenset(behind) for word, behind in found.items()}

    @functools.cached_property
    def classes_by_path(self) -> dict[str, list[ClassPlan]]:
        """The classes of each file; asked for when all is decided."""
        found: dict[str, list[ClassPlan]] = {}
        for plan in self.classes.values():
            found.setdefault(plan.path, []).append(plan)
        return found

    def reported(self) -> list[ClassPlan]:
        """The classes of the user's own."""
        return [found for found in self.classes.values() if not found.copy_of]

    def module_class(self, qualname: str | None) -> ClassPlan | None:
        """The plan of the Linen class that a (canonical) name means."""
        return self.classes.get(qualname) if qualname else None
