"""Classes that build on classes of the project: which constructor makes what.

What a base's `setup` makes is made by the base's constructor, which the derived one calls; what compact methods of a
base make, the derived constructor makes itself, as it is the derived class's sizes and names that count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING

from ...edits import Part, Parts
from ...linen.project.classes import ClassModel
from ...linen.values.dims import Atom, Dim
from ...linen.values.other_files import marking
from ...linen.values.replacing import sayable
from ...linen.values.sites import CallRecord, Site, Unmigratable
from ...linen.values.values import Array, Shape, Value
from ...source import SourceFile
from ...trees import subtree

if TYPE_CHECKING:
    from ...linen.execution.execute import Execution
    from .class_text import ClassText

_Carried = list[tuple[str, Dim, Dim]]  # tracker, first size, next size


def setup_owner(text: ClassText) -> ClassModel | None:
    """The base whose `setup` this class inherits or calls, if it does."""
    own = text.model.own_methods.get("setup")
    if own is None:
        method = text.model.method("setup")
        return method.owner if method is not None and method.owner is not text.model else None
    called = next((m for node, m in text.run.super_calls if m.name == "setup" and _within(own.node, node)), None)
    return called.owner if called is not None else None


def delegated(text: ClassText) -> set[Site]:
    """The sites that the constructor of a base makes."""
    owner = setup_owner(text)
    if owner is None or not needs_constructor(text):
        return set()
    own = {id(n) for m in text.model.own_methods.values() for n in m.nodes}
    return {s for s in text.run.sites if s.in_setup and s.kind != "rng" and id(s.anchor()[1]) not in own}


def needs_constructor(text: ClassText) -> bool:
    """Does the class make or hold anything of its own? If not, it inherits the constructor."""
    model = text.model
    own = {id(n) for m in model.own_methods.values() for n in m.nodes}
    makes = [s for s in text.run.sites if s.kind != "rng" and not s.lazy]
    made_here = any(id(s.anchor()[1]) in own for s in makes)
    if model.own_fields or not makes or made_here or "setup" in model.own_methods:
        return True
    if text.run.computing is not None and text.run.computing.method.owner is model:
        return True
    if "__call__" in model.own_methods and _asks_otherwise(text):
        return True
    return _makes_otherwise(text)


def _asks_otherwise(text: ClassText) -> bool:
    """Does its own call show other sizes than that of its base: `super().__call__(x, x)` for `__call__(self, q, k)`?"""
    plan = text.plans.get(text.model.bases[0].qualname) if text.model.bases else None
    if plan is None or plan.details is None:
        return False
    return [added.name for added, _, _ in text.added()] != [added.name for added, _, _ in plan.details.added]


def _makes_otherwise(text: ClassText) -> bool:
    """Would its constructor make something else than that of a base: of a size that a method of its own says?"""
    plans = [text.plans.get(base.qualname) for base in text.model.bases]
    writers = [plan.writer for plan in plans if plan is not None]
    if any(getattr(writer, "lines", text.lines) != text.lines for writer in writers):
        return True
    return bool(text.later) and any(_asked(writer) != _asked(text) for writer in writers if isinstance(writer, type(text)))


def _asked(text: ClassText) -> list[str]:
    return [added.name for added, _, _ in text.added()]


def call_of_base(text: ClassText) -> Parts:
    """`super().__init__(...)`: the fields of the base and the sizes that it asks for, in this class's terms."""
    owner = setup_owner(text)
    assert owner is not None
    plan = text.plans.get(owner.qualname)
    if plan is None or plan.details is None:
        raise Unmigratable("NNX176", f"{owner.name}, of the same class family, is not native")
    direct = text.model.bases == (owner,)
    arguments: list[Part] = [] if direct else ["self"]
    for field in owner.fields():
        arguments.append(f"{field.name}={text.field(field.name)}")
    base = text.analyser.execution(owner.qualname)
    known = _bindings(base, text)
    made = delegated(text)
    for site, (_, needs) in text.built.items():
        if site not in made:
            refuse_sizes_of_base(text, needs)
    text.needs, text.closing = set(), True
    for added, argument, index in plan.details.added:
        if added.call:
            arguments.append(f"{added.name}={added.name}")
        elif index == -1:
            dim = known.dims.get((argument, -1))
            if dim is None:
                raise Unmigratable("NNX161", f"`{added.name}` of {owner.name}, its base, is not known here")
            if added.origin.startswith("None if") and argument in text.run.optional_arguments:
                text.optional.add(argument)
            arguments.append(f"{added.name}={text.dim(dim)}")
        else:
            shape = known.shapes.get(argument)
            if shape is None or not sayable(shape):
                raise Unmigratable("NNX161", f"`{added.name}` of {owner.name}, its base, is not known here")
            arguments.append(f"{added.name}={text.shape(shape)}")
    text.closing = False
    if text.needs & text.run.trackers:
        raise Unmigratable("NNX161", f"what {owner.name}, its base, asks for follows from a loop")
    arguments.append("rngs=rngs")
    said: list[Part] = ["super().__init__(" if direct else f"{_base_name(text, owner)}.__init__("]
    for position, argument_text in enumerate(arguments):
        said += [", " if position else "", argument_text]
    return (*said, ")")


def refuse_sizes_of_base(text: ClassText, needs: Set[str]) -> None:
    """Refuse sizes that a loop of the base's constructor has when it is done."""
    told = {tracker for site in delegated(text) for tracker, _, _ in text.run.all_carried.get(site, ())}
    if needs & told:
        raise Unmigratable("NNX161", "a size follows from a loop over modules that a base makes", text.model.node)


def has_loops_of_base(run: Execution) -> bool:
    """Do sizes go from one module to the next in a list that the constructor of a base fills?"""
    own = {id(n) for m in run.model.own_methods.values() for n in m.nodes}
    return any(site.in_setup and id(site.anchor()[1]) not in own for site in run.all_carried)


def _base_name(text: ClassText, owner: ClassModel) -> str:
    for model in text.model.mro():
        for node, base in zip(model.node.bases, model.info.bases):
            if base == owner.qualname and model is text.model:
                return ast.unparse(node.value if isinstance(node, ast.Subscript) else node)
    if owner.source is text.source:
        return owner.name
    raise Unmigratable("NNX161", f"{owner.name}, whose setup is inherited, has no name in this file")


class _Bindings:
    """What the inputs of the base's methods are in the derived class."""

    def __init__(self) -> None:
        self.dims: dict[tuple[str, int], Dim] = {}
        self.shapes: dict[str, Shape] = {}
        self.carried: dict[str, Dim] = {}  # what the base's loops carry, a size each → what those of this class do

    def bind(self, base: Shape, here: Shape) -> None:
        """Learn from one array that both classes give to the same submodule."""
        folded = base.fold()
        if not folded.dims and folded.lead is not None and folded.lead.known and not folded.lead.head:
            if not folded.lead.dropped and not folded.lead.skipped:
                self._same(self.shapes, folded.lead.argument, here)
        count = max(1, len(base.dims), len(here.dims))
        for x, y in zip(reversed(base.expand(count).dims), reversed(here.expand(count).dims)):
            if x is not None and y is not None:
                self._bind_size(x, y)

    def _bind_size(self, base: Dim, here: Dim) -> None:
        atom, own = base.single_atom(), here.single_atom()
        if atom is not None and atom.kind == "input":
            self._same(self.dims, (atom.args[0], atom.args[1]), here)
        elif atom is not None and own is not None and atom.kind == own.kind == "cond" and atom.args[0] == own.args[0]:
            for then, other in zip(atom.args[1:], own.args[1:]):  # of an optional input, which is optional in both
                self._bind_size(then, other)

    @staticmethod
    def _same(table: dict, key: object, value: object) -> None:
        if table.setdefault(key, value) != value:
            raise Unmigratable("NNX161", "a base's submodules see inputs of several sizes here")

    def check(self, base: Shape, here: Shape, node: ast.AST) -> None:
        """The last size must be what the base's constructor will make of the bound ones."""
        self._check_size(base.dim(-1), here.dim(-1), node)

    def _check_size(self, base: Dim | None, here: Dim | None, node: ast.AST) -> None:
        def change(atom: Atom) -> Dim | None:
            if atom.kind == "local":
                return self.carried.get(atom.args[0])
            return self.dims.get((atom.args[0], atom.args[1])) if atom.kind == "input" else None

        if base is not None and (here is None or base.substitute(change) != here):
            raise Unmigratable("NNX161", "a submodule of a base sees another input size here", node)

    def bind_carried(self, base: _Carried, here: _Carried) -> None:
        """Learn from what the loops over one list of modules carry in both classes."""
        for (tracker, first, _), (own, mine, _) in zip(base, here, strict=False):
            self._same(self.carried, tracker, Dim.local(own))
            self._bind_size(first, mine)

    def check_carried(self, base: _Carried, here: _Carried, node: ast.AST) -> None:
        """The base's constructor must carry from one pass to the next what this class does."""
        if len(base) != len(here):
            raise Unmigratable("NNX161", "a loop over modules of a base carries other sizes here", node)
        for (_, *sizes), (_, *mine) in zip(base, here, strict=True):
            for size, own in zip(sizes, mine, strict=True):
                self._check_size(size, own, node)


def _bindings(base_run: Execution, text: ClassText) -> _Bindings:
    here = {id(s.anchor()[1]): s for s in text.run.sites if s.in_setup}
    pairs: list[tuple[Shape, Shape, ast.AST]] = []
    loops: list[tuple[_Carried, _Carried, ast.AST]] = []
    base, own = base_run.model, text.model
    apart = base.source is not own.source or base.is_nested
    places = (base.source, base.node), (own.source, own.node)
    change = marking(text.run.project, *places) if apart else lambda atom: None
    for site in base_run.sites:
        other = here.get(id(site.anchor()[1]))
        if not site.in_setup or other is None or site.call is None:
            continue
        if other.call is None:
            raise Unmigratable("NNX161", "a submodule that a base makes is not called here", site.node)
        told = base_run.all_carried.get(site, [])
        carried = [(name, first.substitute(change), then.substitute(change)) for name, first, then in told]
        loops.append((carried, text.run.all_carried.get(other, []), site.node))
        for a, b in zip(_arrays(site.call), _arrays(other.call)):
            if isinstance(a, Array) and isinstance(b, Array):
                pairs.append((a.shape.substitute(change), b.shape, site.node))
    found = _Bindings()
    for base, mine, _ in pairs:
        found.bind(base, mine)
    for carried, own, _ in loops:
        found.bind_carried(carried, own)
    for carried, own, node in loops:
        found.check_carried(carried, own, node)
    for base, mine, node in pairs:
        found.check(base, mine, node)
    return found


def _arrays(call: CallRecord) -> list[Value]:
    return [*call.args, *[value for _, value in sorted(call.keywords.items())]]


def _within(outer: ast.AST, node: ast.AST) -> bool:
    return any(child is node for child in subtree(outer))


def refuse_overriding_mixins(text: ClassText) -> None:
    """Refuse a class of whose bases one that is no module replaces what a module after it has: `class M(Wide, Block)`.

    The methods of such classes are not followed, and sizes would be those that the module's method says.
    """
    models = {owner.qualname: owner for owner in text.model.mro()}
    said: set[str] = set()
    for owner in text.model.mro():
        said |= owner.own_methods.keys() | owner.class_attributes.keys() | {f.name for f in owner.own_fields}
        for position, base in enumerate(owner.info.bases):
            definition = text.run.project.definition(base) if base not in models else None
            if definition is None or not isinstance(definition[1], ast.ClassDef):
                continue
            after = [models[name] for name in owner.info.bases[position + 1 :] if name in models]
            theirs = {
                name for model in after for above in model.mro() for name in above.own_methods | above.class_attributes
            }
            replaced = sorted(_names_of(definition[1]) & theirs - said)
            if replaced:
                reason = (
                    f"`{replaced[0]}` of {definition[1].name}, which is no module, replaces that of a base of {owner.name}"
                )
                raise Unmigratable("NNX160", reason, owner.node)


def _names_of(node: ast.ClassDef) -> set[str]:
    """What a class's own body gives it, but for what Python asks of any object."""
    functions = {s.name for s in node.body if isinstance(s, ast.FunctionDef)}
    targets = [t for s in node.body if isinstance(s, ast.Assign) for t in s.targets]
    names = functions | {t.id for t in targets if isinstance(t, ast.Name)}
    return {name for name in names if not name.startswith("__") or name == "__call__"}


_READ_NOTHING = ("flax.", "abc.", "typing.", "collections.")


def plain_bases(text: ClassText, models: Iterable[ClassModel]) -> Iterator[tuple[SourceFile, ast.ClassDef] | None]:
    """The classes that are no modules from which `models` derive: mixins. None for one of another package."""
    project = text.run.project
    todo = [base for model in models for base in model.foreign_bases]
    seen: set[str] = set()
    while todo:
        name = todo.pop()
        if name in seen or name.startswith(_READ_NOTHING):
            continue
        seen.add(name)
        definition = project.definition(name)
        if definition is None or not isinstance(definition[1], ast.ClassDef):
            yield None
            continue
        source, node = definition[0], definition[1]
        yield source, node
        todo += [base for b in node.bases if (base := project.qualname(source, b)) is not None]
