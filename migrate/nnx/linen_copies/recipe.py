"""What a module of Linen copies is made of: which definitions, what they import, and from where without a circle."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Iterator, Mapping

from ...edits import Span
from ...linen.modules.local_classes import bound_twice
from ...linen.project.classes import Classes
from ...linen.project.imports import imported_modules, loaded_by, module_level
from ...linen.project.index import Project
from ...source import SourceFile
from ...trees import subtree
from . import derived, gin_bindings
from .file_names import original_of, unsuitable_file
from .references import Reference, References, When, is_mutated, is_plain_value
from .within import imported_within

_PLAIN_DECORATORS = {"flax", "jax", "functools", "dataclasses", "typing", "contextlib", "numpy"}


class Uncopyable(Exception):
    """A definition of which no copy can be made that behaves as the original does."""


@dataclasses.dataclass
class Recipe:
    """One module of copies, `<file>_linen.py`."""

    source: SourceFile  # of the originals
    definitions: dict[str, ast.stmt] = dataclasses.field(default_factory=dict)  # local name → its statement
    statements: dict[ast.stmt, set[str]] = dataclasses.field(default_factory=dict)  # import statement → names of it in use
    guarded: dict[ast.stmt, set[str]] = dataclasses.field(default_factory=dict)  # likewise, under TYPE_CHECKING
    from_copies: dict[str, str] = dataclasses.field(default_factory=dict)  # local name → key of another copy
    from_source: set[str] = dataclasses.field(default_factory=set)  # names imported from the original file
    moved: dict[Span, str] = dataclasses.field(default_factory=dict)  # reference → key of what is copied elsewhere
    within: dict[Span, ast.stmt] = dataclasses.field(default_factory=dict)  # of these: the import in a function around it
    derived: dict[str, ast.ClassDef] = dataclasses.field(default_factory=dict)  # see `derived.values_of`
    back: list[Span] = dataclasses.field(default_factory=list)  # references to what stays in the original file alone
    annotating: set[str] = dataclasses.field(default_factory=set)  # names of the original file that annotations alone say
    postponed: bool = False  # annotations must not be evaluated


class Kitchen:
    """Makes the recipes of all modules of copies, given what is to be copied."""

    def __init__(
        self,
        classes: Classes,
        references: References,
        needed: Mapping[str, str],
        users: Mapping[str, set[str]],
        uses: derived.Uses,
    ) -> None:
        """`needed`: keys of the definitions to copy. `users`: module → modules that refer to copies of its definitions.
        `uses`: where what stays Linen refers to them."""
        self.classes = classes
        self.project = classes.project
        self.references = references
        self.needed = needed
        self.users = _all_users(self.project, users)
        self.uses = uses
        self.recipes: dict[str, Recipe] = {}
        self._reached: dict[str, dict[str, frozenset[str]]] = {}
        self.failed: dict[str, str] = {}  # key → why no copy of it can be made

    def cook(self) -> None:
        """Fill `recipes` and `failed`."""
        for key in self.needed:
            module = key.rpartition(".")[0]
            recipe = self.recipes.setdefault(module, Recipe(self.project.files[module]))
            try:
                self._add(recipe, key)
            except Uncopyable as error:
                self.failed[key] = str(error)

    def _add(self, recipe: Recipe, key: str) -> None:
        name = key.rpartition(".")[2]
        if name in recipe.definitions:
            return
        self._check(recipe, key)
        found = self.project.definition(key)
        assert found is not None
        node = found[1]
        if isinstance(node, ast.ClassDef) and key not in self.project.linen_classes:
            self._derive(recipe, key, node)
            return
        recipe.definitions[name] = node
        replaced = set(gin_bindings.names_within(self.project, recipe.source, node))
        for reference in self.references.of(key):
            if reference.root not in replaced:
                self._use(recipe, reference)

    def _derive(self, recipe: Recipe, key: str, node: ast.ClassDef) -> None:
        """A class that is no Linen class but names some: one derived from it names their copies instead."""
        if may_be_run(recipe.source):
            raise Uncopyable(f"it derives from {node.name} of {recipe.source.path.name}, which is run as a script")
        recipe.derived[node.name] = node
        wanted = {r.node: r for r in self.references.of(key) if r.key in self.needed}
        for value in derived.values_of(node, set(wanted)):
            self._use(recipe, wanted[value])

    def _is_plain_keyword(self, source: SourceFile, keyword: ast.keyword) -> bool:
        """A keyword of a class statement that does nothing but make the class: no registry sees the copy."""
        abstract = keyword.arg == "metaclass" and self.project.qualname(source, keyword.value) == "abc.ABCMeta"
        return abstract or keyword.arg == "kw_only"

    # may it be copied? -------------------------------------------------------------------------------------------
    def _check(self, recipe: Recipe, key: str) -> None:
        source, name = recipe.source, key.rpartition(".")[2]
        why = unsuitable_file(source)
        if why:
            raise Uncopyable(why)
        for user, use in self.uses.get(key) or ():
            if use.root.id in user.names.alternatives:
                raise Uncopyable(f"{user.path.name} imports one or another thing as {use.root.id}")
        found = self.project.definition(key)
        assert found is not None
        node = found[1]
        if source.is_package and any(isinstance(n, ast.ImportFrom) and n.level for n in subtree(node)):
            raise Uncopyable(f"{name} imports by the place of its {source.path.name}, beside which no copy stands")
        model = self.classes.get(key)  # of several class statements that nothing sees but the last, it is the last
        last = model is not None and model.node is node and not bound_twice(self.project, model)
        again = name in source.names.imports or (_bindings(source, name) > 1 and not last)
        if node not in source.tree.body or again:
            raise Uncopyable(f"{name} is not bound just once, at the top level of {source.path.name}")
        if isinstance(node, ast.ClassDef) and key in self.project.linen_classes:
            if any(not self._is_plain_keyword(source, k) for k in node.keywords):
                raise Uncopyable(f"the class statement of {name} has keywords")
            if is_mutated(self.project, key):
                raise Uncopyable(f"attributes of {name} are set from outside")
        elif isinstance(node, ast.ClassDef):
            wanted = {r.node for r in self.references.of(key) if r.key in self.needed and r.when is not When.ANNOTATION}
            if not derived.may_stand_in(self.uses, key) or not derived.values_of(node, wanted):
                raise Uncopyable(f"{name} is no Linen class and its identity may matter")
            if is_mutated(self.project, key):
                raise Uncopyable(f"attributes of {name} are set from outside")
            return
        elif isinstance(node, ast.FunctionDef):
            if any(isinstance(n, ast.Global) for n in subtree(node)):
                raise Uncopyable(f"{name} writes global variables")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            if isinstance(node, ast.Assign) and not (len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
                raise Uncopyable(f"{name} is bound together with other names")
            if node.value is None or not is_plain_value(self.project, source, node.value) or is_mutated(self.project, key):
                raise Uncopyable(f"the value of {name} may be one that must not exist twice")
        else:
            raise Uncopyable(f"{name} is no class, function or constant")
        bound = gin_bindings.decorators(self.project, source, node) if not may_be_run(source) else []
        for decorator in getattr(node, "decorator_list", []):
            if decorator in bound:
                continue
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            known = self.project.qualname(source, called) or ""
            if known.partition(".")[0] not in _PLAIN_DECORATORS:
                raise Uncopyable(f"the decorator `{ast.unparse(decorator)}` of {name} would act twice")

    # what it uses --------------------------------------------------------------------------------------------------
    def _use(self, recipe: Recipe, reference: Reference) -> None:
        source, key, root = recipe.source, reference.key, reference.root
        module, _, name = key.rpartition(".")
        asked = key in self.needed and reference.when is not When.ANNOTATION
        if asked and root.id in source.names.alternatives:
            raise Uncopyable(f"{source.path.name} imports one or another thing as {root.id}")
        if asked and module != source.module:
            if isinstance(reference.node, ast.Name) and self._imported_plainly(source, root.id):
                recipe.from_copies[root.id] = key
            else:
                span = source.span(reference.node)
                recipe.moved[span] = key
                statement = imported_within(source, self.project.files[module], reference.node)
                if statement is not None:
                    recipe.within[span] = statement
            return
        if asked:
            if not isinstance(reference.node, ast.Name) or root.id != name:
                raise Uncopyable(f"{name} goes by another name in its own file")
            return
        if key and module == source.module and root.id == name and isinstance(reference.node, ast.Name):
            self._use_own(recipe, reference, key, name)
            return
        self._import(recipe, reference)

    def _use_own(self, recipe: Recipe, reference: Reference, key: str, name: str) -> None:
        """Something of the same file that is no copy: imported from it where that makes no circle, else copied or asked
        for when it is used."""
        source = recipe.source
        if name in recipe.definitions or name in recipe.from_source:
            return
        if not self._is_circular(source.module):
            recipe.from_source.add(name)
            return
        if key not in self.project.linen_classes:
            try:
                self._add(recipe, key)
                return
            except Uncopyable:
                recipe.definitions.pop(name, None)
        if reference.when is When.IMPORT:
            raise Uncopyable(f"{name} is needed while {source.path.name} is still being imported")
        if may_be_run(source) and reference.when is When.ANNOTATION:  # nobody looks it up
            recipe.annotating.add(name)
            recipe.postponed = True
            return
        if may_be_run(source):
            raise Uncopyable(f"it needs {name} of {source.path.name}, which is run as a script")
        recipe.back.append(source.span(reference.node))
        if reference.when is When.ANNOTATION:
            recipe.postponed = True

    def _import(self, recipe: Recipe, reference: Reference) -> None:
        source, root = recipe.source, reference.root
        if root.id not in source.names.imports:
            stars = [s for s in source.tree.body if isinstance(s, ast.ImportFrom) and s.names[0].name == "*"]
            if not stars:
                raise Uncopyable(f"it is not clear what `{root.id}` is")
            for star in stars:
                recipe.statements.setdefault(star, set()).add("*")
            return
        found = list(import_statements(source.tree.body, source, root.id))
        if not found:
            if any(True for _ in import_statements(module_level(source.tree.body), source, root.id)):
                self._use_conditional(recipe, reference)
                return
            guarded = list(_guarded_statements(source, root.id))
            if not guarded:
                return  # imported in the function that uses it
            for statement in guarded:
                recipe.guarded.setdefault(statement, set()).add(root.id)
            recipe.postponed = True
            return
        for statement in found:
            if self._reaches_user(source, statement):
                raise Uncopyable(f"`{ast.unparse(statement)}` is part of a circle of imports")
            recipe.statements.setdefault(statement, set()).add(root.id)

    def _use_conditional(self, recipe: Recipe, reference: Reference) -> None:
        """What the original imports or not, under `try` or a condition, is read off the original where it is used."""
        source, root = recipe.source, reference.root
        if reference.when is When.IMPORT or may_be_run(source):
            raise Uncopyable(f"the import of `{root.id}` is conditional")
        recipe.back.append(source.span(root))
        if reference.when is When.ANNOTATION:
            recipe.postponed = True

    def _imported_plainly(self, source: SourceFile, local: str) -> bool:
        return any(isinstance(s, ast.ImportFrom) for s in import_statements(source.tree.body, source, local))

    # circles -------------------------------------------------------------------------------------------------------
    def _is_circular(self, module: str) -> bool:
        """Does importing the original file import its module of copies?"""
        return bool(self._reach(module, module) & self.users.get(module, set()))

    def _reaches_user(self, source: SourceFile, statement: ast.stmt) -> bool:
        users = self.users.get(source.module, set())
        targets = set(imported_modules(self.project.files, source, statement))
        return any(self._reach(target, source.module) & users for target in targets)

    def _reach(self, module: str, home: str) -> frozenset[str]:
        """The project's modules that importing `module` imports, itself included, packages around `home` apart: these
        are being imported already when it is."""
        known = self._reached.setdefault(home.rpartition(".")[0], {})
        if module not in known:
            known[module] = loaded_by(self.project.files, module, surely=False, apart=home)
        return known[module]


def _all_users(project: Project, users: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Users of each module of copies, also those that reach it through other modules of copies (`m_linen`)."""
    full = {module: set(direct) for module, direct in users.items()}
    changed = True
    while changed:
        changed = False
        for direct in full.values():
            for user in list(direct):
                original = original_of(project, user)
                if original is not None:
                    more = full.get(original, set()) - direct
                    if more:
                        direct |= more
                        changed = True
    return {module: {u for u in direct if original_of(project, u) is None} for module, direct in full.items()}


def may_be_run(source: SourceFile) -> bool:
    """May the file be run as a program? Then importing it by its name would run it a second time."""
    return "__main__" in source.text or any(_runs(source, statement) for statement in source.tree.body)


def _runs(source: SourceFile, statement: ast.stmt) -> bool:
    """Does a line of a file do what a program is for, when it is imported: `main()`, a loop that trains?"""
    if isinstance(statement, ast.For | ast.While | ast.With):
        return any(isinstance(node, ast.Call) for inner in statement.body for node in subtree(inner))
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    called = statement.value.func
    return isinstance(called, ast.Name) and isinstance(source.names.definitions.get(called.id), ast.FunctionDef)


def import_statements(body: Iterable[ast.stmt], source: SourceFile, local: str) -> Iterator[ast.Import | ast.ImportFrom]:
    """The unconditional imports that bind `local`."""
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            if any(name == local for name, _ in source.names.bindings(statement)):
                yield statement


def _guarded_statements(source: SourceFile, local: str) -> Iterator[ast.stmt]:
    for statement in source.tree.body:
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from import_statements(statement.body, source, local)


def _bindings(source: SourceFile, name: str) -> int:
    """How often the module's top level binds a name."""
    count = 0
    for statement in module_level(source.tree.body):
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            count += statement.name == name
        elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Delete | ast.For):
            targets = getattr(statement, "targets", None) or [statement.target]  # type: ignore[union-attr]
            count += sum(isinstance(n, ast.Name) and n.id == name for t in targets for n in subtree(t))
    return count
