"""What rules and writers see of one file while they rewrite it."""

from __future__ import annotations

import ast
import dataclasses
import functools
from typing import TYPE_CHECKING

from .diagnostics import Diagnostic, Severity
from .edits import Conflict, EditSet, Part, Span
from .plan import ClassPlan, Plan
from .siblings import Home, home, imports_as_scripts_do, runs_alone, spelled
from .source import SourceFile
from .suppression import Suppressions

if TYPE_CHECKING:
    from .linen.project.index import Project


@dataclasses.dataclass
class Options:
    """The choices of the command line that change what is written."""

    naming: str = "linen"  # linen | snake
    jit: str = "nnx"  # nnx | functional
    bridge: bool = True
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()  # MODULE:CALLABLE, run in a subprocess to settle sizes

    def selects(self, code: str) -> bool:
        """Is the rule `code` on? By code or prefix; `ignore` wins."""
        if any(code.startswith(prefix) for prefix in self.ignore):
            return False
        return not self.select or any(code.startswith(prefix) for prefix in self.select)


class FileContext:
    """Edits, diagnostics and needed imports of one file, gathered in one place."""

    def __init__(self, source: SourceFile, plan: Plan, options: Options, project: Project | None = None) -> None:
        self.source = source
        self.project = project  # the other files; None where one file is all there is
        self.plan = plan
        self.options = options
        self.edits = EditSet(source.text)
        self.suppressions = Suppressions(source.text)
        self.diagnostics: list[Diagnostic] = []
        self._said_for: dict[str, set[str]] | None = None
        self._qualnames: dict[ast.AST, str | None] = {}  # every rule asks about the same nodes
        self.new_imports: dict[str, str] = {}  # local name → dotted name
        self.todos: list[tuple[int, str]] = []  # (offset of a statement's line, comment text)
        self.touched_names: set[str] = set()
        self.variable_types: dict[str, str] = {}  # collection → what its Variable type is called in this file
        self.gone: set[str] = set()  # dotted names that the project does not have any more
        self.parity_parts: set[str] = set()  # helpers of the generated linen_parity module that the new text uses

    # names -----------------------------------------------------------------------------------------------------
    @functools.cached_property
    def words(self) -> frozenset[str]:
        """The words of the file, and those that its words may stand for by imports of the project's other files.

        A file that handles the variables of another file's nnx modules counts as saying nnx.
        """
        said = self.source.words
        behind = [self.plan.words_behind[word] for word in self.plan.words_behind.keys() & said]
        if self.project is not None and self.project.handles_nnx(self.source):
            behind.append(frozenset({"nnx"}))
        return said.union(*behind)

    @functools.cached_property
    def classes(self) -> dict[int, ClassPlan]:
        """What was decided for the Linen classes of the file, by their lines; for rules, when all is decided."""
        here = self.plan.classes_by_path.get(str(self.source.path), [])
        return {plan.line: plan for plan in reversed(here)}

    def said_for(self, word: str) -> set[str]:
        """Other words by which this file may say a library name that ends in `word`."""
        if self._said_for is None:
            self._said_for = {}
            names = self.source.names
            pairs = [(local, target) for local, target in names.imports.items()]
            pairs += [(local, names.qualname(value) or "") for local, value in names.single_assignments.items()]
            for local, target in pairs:
                last = self.plan.canonical(target).rpartition(".")[2]
                if last != local:
                    self._said_for.setdefault(last, set()).add(local)
            for local in self.plan.words_behind.keys() & self.source.words:
                for last in self.plan.words_behind[local] - {local}:
                    self._said_for.setdefault(last, set()).add(local)
        return self._said_for.get(word, set())

    def qualname(self, node: ast.AST) -> str | None:
        """Canonical dotted name that `node` means, following imports, aliases and the project's re-exports."""
        try:
            return self._qualnames[node]
        except KeyError:
            found = self.source.names.qualname(node)
            name = self._qualnames[node] = self.plan.canonical(found) if found else None
            return name

    def name(self, dotted: str) -> str:
        """Text that means `dotted` in this file; adds an import where the file has none.

        `name("flax.nnx.Linear")` → `nnx.Linear`; prefers what the file already imports.
        """
        known = self.project.linen_classes.get(dotted) if self.project is not None else None
        if known is not None and known.source is self.source and known.source.names.scope_of(known.node) is not None:
            return known.node.name  # a class that a function defines, in which all that names it stands
        bound = {**self.source.names.module_imports, **self.new_imports}
        parts = dotted.split(".")
        for cut in range(len(parts), 0, -1):
            prefix = ".".join(parts[:cut])
            for local, target in bound.items():
                if target == prefix and not (cut == len(parts) and local in self.source.names.definitions):
                    if cut == 1 and local == "flax" and len(parts) > 1:
                        continue  # `flax.nnx.Linear` reads badly; import nnx instead
                    self.touched_names.add(local)
                    return ".".join([local, *parts[cut:]])
        starred = next((local for local, target in self.source.names.star_names.items() if target == dotted), None)
        if starred is not None and starred not in self.source.names.local_names:
            self.touched_names.add(starred)
            return starred
        module, local = _PREFERRED.get(parts[0], ("", ""))
        for prefix, (target, alias) in _PREFERRED.items():
            if dotted == prefix or dotted.startswith(prefix + "."):
                module, local = target, alias
                break
        written = module
        if not module:
            files = self.project.files if self.project is not None and dotted not in _STANDARD else {}
            module = next((m for cut in range(len(parts) - 1, 0, -1) if (m := ".".join(parts[:cut])) in files), parts[0])
            local, written = module.rpartition(".")[2], spelled(self.project, module)
        local = self.free_name(local, written)
        self.new_imports[local] = written
        return local + dotted[len(module) :]

    def imported(self, dotted: str) -> str:
        """A name of this file for one object of a module of the project, imported from there where the file has none."""
        for local, target in {**self.source.names.module_imports, **self.new_imports}.items():
            if target == dotted and local not in self.source.names.definitions:
                return local
        local = self.free_name(dotted.rpartition(".")[2], dotted)
        self.new_imports[local] = dotted
        return local

    def free_name(self, local: str, module: str) -> str:
        """`local`, or what is like it, as a name for `module` that nothing else in the file has."""
        taken = {
            **self.source.names.imports,
            **self.new_imports,
            **dict.fromkeys(self.source.names.definitions, ""),
        }
        names = self.source.names
        while (local in taken and taken[local] != module) or (local not in taken and local in names.local_names):
            local = f"_{local}" if not local.startswith("_") else local + "_"
        return local

    def parity(self, part: str) -> str:
        """Text that means the helper `part` of the project's generated `linen_parity` module, which is imported."""
        self.parity_parts.add(part)
        self.new_imports["linen_parity"] = f"{self.parity_home.prefix}linen_parity"
        return f"linen_parity.{part}"

    @functools.cached_property
    def parity_home(self) -> Home:
        """Where the generated module of this file stands; files that can share one are given it before they are finished."""
        return home(self.project, self.source, self.is_script)

    @property
    def is_script(self) -> bool:
        """Does the file stand in a plain directory, so that it is run there, whatever name others import it by?"""
        folder = self.source.path.parent
        if self.source.is_package or not folder.is_dir():
            return False
        plain = not (folder / "__init__.py").exists()
        return plain or imports_as_scripts_do(self.source) or runs_alone(self.project, self.source)

    # edits -----------------------------------------------------------------------------------------------------
    def span(self, node: ast.AST) -> Span:
        return self.source.span(node)

    def replace(self, node: ast.AST | Span, *parts: Part | ast.AST, code: str = "") -> bool:
        """Replace `node`; parts that are nodes are kept with their own edits. False where another edit stands."""
        span = node if isinstance(node, Span) else self.source.span(node)
        try:
            self.edits.replace(span, *[self.source.span(p) if isinstance(p, ast.AST) else p for p in parts], code=code)
        except Conflict:
            return False
        return True

    def insert(self, at: int, *parts: Part | ast.AST, code: str = "", order: int = 0) -> None:
        self.edits.insert(at, *[self.source.span(p) if isinstance(p, ast.AST) else p for p in parts], code=code, order=order)

    def text(self, node: ast.AST) -> str:
        """Source text of `node` as it stands before any edit."""
        return self.source.text_of(node)

    # diagnostics -----------------------------------------------------------------------------------------------
    def report(
        self,
        node: ast.AST,
        code: str,
        message: str,
        *,
        severity: Severity = Severity.INFO,
        help: str = "",
    ) -> None:
        """Record a diagnostic. A warning also leaves a TODO comment above the statement that `node` belongs to."""
        if severity is not Severity.ERROR and not self.options.selects(code):
            return
        if self.suppressions.covers(node, code):
            return
        line, column = self.source.position(node)
        found = Diagnostic(str(self.source.path), line, column, code, severity, message, help)
        if found in self.diagnostics:
            return
        self.diagnostics.append(found)
        if severity is Severity.WARNING:
            self.todo(node, f"{code} {message}")

    def todo(self, node: ast.AST, text: str) -> None:
        """Put `# TODO(nnx-migrate): text` above the statement of `node`, once."""
        statement = node
        for parent in [node, *self.source.ancestors(node)]:
            if isinstance(parent, ast.stmt):
                statement = parent
                break
        start = self.source.full_span(statement).start
        line = self.source.text.rfind("\n", 0, start) + 1
        comment = f"# TODO(nnx-migrate): {' '.join(text.split())}"
        if self.source.text[line:start].strip() or comment in self.source.text or self.source.marked(line, text[:4]):
            return
        if (line, comment) not in self.todos:
            self.todos.append((line, comment))
            indent = self.source.text[line:start]
            self.edits.insert(line, f"{indent}{comment}{self.source.newline}", code="todo", order=-100)


# Of Python itself, also where the project has a module of that name.
_STANDARD = frozenset({"typing.Any", "functools.partial", "math.prod", "types.SimpleNamespace", "os.path.abspath"})
# How a name is imported where the file has no import of it yet: prefix → (module, local name).
_PREFERRED = {
    "flax.nnx": ("flax.nnx", "nnx"),
    "flax.linen": ("flax.linen", "nn"),
    "jax.numpy": ("jax.numpy", "jnp"),
    "jax.sharding": ("jax", "jax"),
    "numpy": ("numpy", "np"),
    "orbax.checkpoint": ("orbax.checkpoint", "ocp"),
    "jax": ("jax", "jax"),
}
