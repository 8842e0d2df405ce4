"""The engine behind the families of renamed jax names: uses, import statements and what has no replacement.

An import that can simply name the new module does (`from jax.sharding import Mesh`) and its uses stay as they are;
where the name itself changes, uses are rewritten and the old import goes. Everything goes by the path that the file
spells, so a user's own `tree_map` is never touched.
"""

from __future__ import annotations

import ast
import dataclasses
import weakref

from ..catalog.jax_names import BY_NAME, EXPRESSIONS, Gone, lookup
from ..context import FileContext
from ..diagnostics import Severity
from ..rule import Rule
from . import _host_callback, device_put_copies

# Family → rule code; filled in by the rule files.
CODES = {
    "tree": "NNX801",
    "array": "NNX802",
    "sharding": "NNX803",
    "numpy": "NNX805",
    "moved": "NNX807",
    "core": "NNX808",
    "manual": "NNX811",
}
_done: weakref.WeakSet[FileContext] = weakref.WeakSet()


def attach(rule: Rule) -> None:
    """Make `rule` carry out the renames. Whichever family's rule meets the module first does the work for all that are
    selected, since one import statement can hold names of several families."""

    @rule.register(ast.Module, words=_KNOWN)
    def visit(node: ast.AST, ctx: FileContext) -> None:
        if ctx not in _done:
            _done.add(ctx)
            _File(ctx).rewrite()


def local_import(ctx: FileContext, dotted: str) -> str:
    """As `ctx.name`, for modules that `import jax` alone does not make reachable (`jax.extend`, `functools`, ...)."""
    for prefix, local in (
        ("jax.extend.core.primitives", "jex_primitives"),
        ("jax.extend.core", "jex_core"),
        ("jax.extend.linear_util", "linear_util"),
        ("jax.extend.random", "jex_random"),
        ("jax.extend.backend", "jex_backend"),
        ("jax.example_libraries.stax", "stax"),
        ("jax.example_libraries.optimizers", "optimizers"),
    ):
        if dotted == prefix or dotted.startswith(prefix + "."):
            bound = {**ctx.source.names.imports, **ctx.new_imports}
            for name, target in bound.items():
                if target == prefix:
                    return name + dotted[len(prefix) :]
                if target == dotted and name not in ctx.source.names.definitions:
                    return name
            while local in bound or local in ctx.source.names.definitions:
                local = f"_{local}"
            ctx.new_imports[local] = prefix
            return local + dotted[len(prefix) :]
    return ctx.name(dotted)


@dataclasses.dataclass
class _File:
    ctx: FileContext

    def rewrite(self) -> None:
        kept: dict[tuple[ast.AST | None, str], tuple[str, str]] = {}  # where the import takes over the new path: old, new
        source = self.ctx.source
        for node in [*source.by_kind.get(ast.ImportFrom, ()), *source.by_kind.get(ast.Import, ())]:
            assert isinstance(node, ast.ImportFrom | ast.Import)
            scope = source.names.scope_of(node)
            kept |= {(scope, local): paths for local, paths in self._import(node).items()}
        for node in self._candidates():
            parent = source.parents.get(node)
            dotted = self._dotted(node)
            if dotted is None or not dotted.startswith("jax"):
                continue
            if isinstance(parent, ast.Attribute):
                longer = f"{dotted}.{parent.attr}"
                if lookup(longer) is not None or longer.startswith(_CONSTRUCTORS):
                    continue  # the longer chain is the one that is known
            if self._is_known_alias(node):
                continue  # an alias is rewritten where it is made
            old, new = kept.get(self._root(node), ("", ""))
            if old and (dotted == old or lookup(f"{new}{dotted.removeprefix(old)}") is None):
                continue  # the import names the new path, and there it is
            self._use(node, dotted)

    def _dotted(self, node: ast.Name | ast.Attribute) -> str | None:
        """The path that the file spells, also on a module that it has from another file (`from .common import jax`)."""
        names = self.ctx.source.names
        dotted = names.raw_qualname(node)
        if dotted is None or dotted.startswith("jax") or not isinstance(node, ast.Attribute):
            return dotted
        base = self.ctx.plan.canonical(names.raw_qualname(node.value) or "")
        return f"{base}.{node.attr}" if base.startswith("jax") else dotted

    def _candidates(self) -> list[ast.Name | ast.Attribute]:
        """Names and attribute chains that a known name may end: those that say its last word, or import it, and what is
        looked up on them (members of a module that moved)."""
        source = self.ctx.source
        names = source.names
        imported = {name for name, target in names.imports.items() if not _KNOWN.isdisjoint(target.split("."))}
        imported |= names.single_assignments.keys()
        behind = self.ctx.plan.words_behind
        through_files = {word for word in behind.keys() & source.words if not _KNOWN.isdisjoint(behind[word])}
        imported |= through_files
        found: list[ast.Name | ast.Attribute] = []
        for node in source.by_kind.get(ast.Name, ()) if imported else ():
            if node.id in imported and isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
                found.append(node)  # type: ignore[arg-type]
        ends = _KNOWN | through_files
        for node in source.by_kind.get(ast.Attribute, ()):
            if node.attr in ends and isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
                found.append(node)  # type: ignore[arg-type]
        seen = set(found)
        for chain in found:  # grows while it is walked
            parent = source.parents.get(chain)
            if isinstance(parent, ast.Attribute) and isinstance(parent.ctx, ast.Load) and parent not in seen:
                seen.add(parent)
                found.append(parent)
        return found

    def _is_known_alias(self, node: ast.AST) -> bool:
        """Is `node` `tmap` or `tmap.x` after `tmap = jax.tree_map`? (`j.tree_map` after `j = jax` is not.)"""
        names = self.ctx.source.names
        base = node
        while isinstance(base, ast.Attribute):
            base = base.value
        if not isinstance(base, ast.Name) or base.id not in names.single_assignments or names.is_hidden(base.id, node):
            return False
        return base is node or lookup(names.raw_qualname(base) or "") is not None

    def _root(self, node: ast.AST) -> tuple[ast.AST | None, str]:
        """The name that a chain starts from, with the function or class that imports it."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return (self.ctx.source.names.importing_scope(node), node.id) if isinstance(node, ast.Name) else (None, "")

    def _selected(self, family: str) -> bool:
        return self.ctx.options.selects(CODES[family])

    # uses ------------------------------------------------------------------------------------------------------
    def _use(self, node: ast.expr, dotted: str) -> None:
        if dotted in EXPRESSIONS and self._selected("numpy"):
            new, shape, _ = EXPRESSIONS[dotted]
            text = shape.format(self.ctx.name(new)) if new else shape
            parent = self.ctx.source.parents.get(node)
            tight = isinstance(parent, ast.BinOp | ast.UnaryOp | ast.Attribute)
            self.ctx.replace(node, f"({text})" if tight and text.startswith("-") else text, code=CODES["numpy"])
            return
        found = lookup(dotted)
        if found is None or not self._selected(found[0].family):
            return
        if self.ctx.suppressions.covers(node, CODES[found[0].family]):
            return
        entry, new_name = found
        parent = self.ctx.source.parents.get(node)
        if dotted == "jax.lax.tie_in" and isinstance(parent, ast.Call) and len(parent.args) == 2:
            return  # another rule's
        if entry.old in device_put_copies.ARGUMENTS and isinstance(parent, ast.Call) and node is parent.func:
            if device_put_copies.arguments(parent, entry.old) is not None:
                return  # likewise
        if entry.old == _host_callback.MODULE and _host_callback.calls(self.ctx):
            return
        if new_name is None:
            self._manual(node, entry)
        else:
            self.ctx.replace(node, local_import(self.ctx, new_name), code=CODES[entry.family])

    def _manual(self, node: ast.AST, entry: Gone) -> None:
        self.ctx.report(
            node,
            CODES["manual"],
            f"{entry.old} is gone since jax {entry.removed}: {entry.note}",
            severity=Severity.WARNING,
            help=entry.note,
        )

    # imports ---------------------------------------------------------------------------------------------------
    def _import(self, node: ast.ImportFrom | ast.Import) -> dict[str, tuple[str, str]]:
        """Rewrite one import statement; answers the local names whose uses need no change, with their old and new paths."""
        if isinstance(node, ast.ImportFrom):
            if node.level or not (node.module or "").startswith("jax") or any(a.name == "*" for a in node.names):
                return {}
            pairs = [(alias, f"{node.module}.{alias.name}") for alias in node.names]
        else:
            pairs = [(alias, alias.name) for alias in node.names]
        stay: list[ast.alias] = []
        lines: list[str] = []
        kept: dict[str, tuple[str, str]] = {}
        changed = False
        plain = isinstance(node, ast.Import)
        for alias, dotted in pairs:
            local = alias.asname or alias.name
            found = self._import_target(dotted)
            if found is None or found[1] is None:
                moved = self._dead_module(dotted) and local not in self._exported and self._all_uses_known(local, dotted)
                moved |= dotted.startswith(_host_callback.MODULE) and bool(_host_callback.calls(self.ctx))
                if moved or (found is not None and self._is_unused(local, dotted)):
                    changed = True  # nothing is left in it
                    if plain and not alias.asname:
                        lines.append("import jax")
                    continue
                stay.append(alias)
                if found is not None and found[0].old not in device_put_copies.ARGUMENTS:  # most of their uses are rewritten
                    self._manual(node, found[0])
                continue
            new = found[1]
            changed = True
            if isinstance(node, ast.Import):
                if alias.asname:
                    lines.append(f"import {new} as {alias.asname}")
                    kept[local] = dotted, new
                else:  # its uses are rewritten and bring their own import; it also made `jax` known
                    lines.append("import jax")
                continue
            module, _, tail = new.rpartition(".")
            if alias.asname or tail == alias.name or local in self._exported or self._is_imported_again(node, local):
                lead = f"from {module} import" if module else "import"  # `from jax import api as j` is `import jax as j`
                lines.append(f"{lead} {tail}" + (f" as {local}" if local != tail else ""))
                kept[local] = dotted, new
        if not changed:
            return {}
        self._write(node, stay, lines)
        return kept

    def _is_imported_again(self, node: ast.ImportFrom, local: str) -> bool:
        """Does another statement import the name in the same scope, `except ImportError`? Its uses may mean either."""
        source = self.ctx.source
        scope = source.names.scope_of(node)
        for other in [*source.by_kind.get(ast.ImportFrom, ()), *source.by_kind.get(ast.Import, ())]:
            assert isinstance(other, ast.ImportFrom | ast.Import)
            if other is not node and source.names.scope_of(other) is scope and local in dict(source.names.bindings(other)):
                return True
        return False

    def _import_target(self, dotted: str) -> tuple[Gone, str | None] | None:
        found = lookup(dotted)
        if found is None and dotted == "jax.config.config":
            return None
        if found is None or not self._selected(found[0].family) or dotted in EXPRESSIONS:
            return None
        return found

    @property
    def _exported(self) -> frozenset[str]:
        """Names that other files take from this one."""
        project = self.ctx.project
        return project.exported.get(self.ctx.source.module, frozenset()) if project is not None else frozenset()

    @staticmethod
    def _dead_module(dotted: str) -> bool:
        """Is it a name that today's jax does not import, all of whose known members have moved?"""
        return dotted in EXPRESSIONS or dotted in _DEAD_MODULES

    def _all_uses_known(self, local: str, dotted: str) -> bool:
        """Does every use of an imported dead name have an entry with a replacement?"""
        source = self.ctx.source
        top = local.partition(".")[0]
        for node in source.nodes:
            if not (isinstance(node, ast.Name) and node.id == top) or source.names.is_hidden(node.id, node):
                continue
            chain: ast.AST = node
            path = source.names.raw_qualname(chain)
            while path is not None and path != dotted and dotted.startswith(path + "."):
                parent = source.parents.get(chain)
                if not isinstance(parent, ast.Attribute):
                    break
                chain, path = parent, source.names.raw_qualname(parent)
            if path != dotted:
                continue  # another module under the same top: `jax.numpy`
            if dotted in EXPRESSIONS:
                continue
            parent = source.parents.get(chain)
            if not isinstance(parent, ast.Attribute):
                return False
            entry = BY_NAME.get(f"{dotted}.{parent.attr}")
            special = f"{dotted}.{parent.attr}" in HANDLED_ELSEWHERE
            if not special and (entry is None or entry.new is None or not self._selected(entry.family)):
                return False
        return True

    def _is_unused(self, local: str, dotted: str) -> bool:
        """Does nothing in the file say an imported name, nor take another file it from here?"""
        source = self.ctx.source
        if local in self._exported or source.path.name == "__init__.py" or "__all__" in source.words:
            return False
        kinds = (ast.Attribute,) if "." in local else (ast.Name,)
        return not any(
            node.id == local if isinstance(node, ast.Name) else source.names.raw_qualname(node) == dotted
            for kind in kinds
            for node in source.by_kind.get(kind, ())
            if isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and node.attr == dotted.rpartition(".")[2])
        )

    def _write(self, node: ast.ImportFrom | ast.Import, stay: list[ast.alias], lines: list[str]) -> None:
        source = self.ctx.source
        out: list[str] = []
        if stay:
            names = ", ".join(a.name + (f" as {a.asname}" if a.asname else "") for a in stay)
            out.append(f"from {node.module} import {names}" if isinstance(node, ast.ImportFrom) else f"import {names}")
        merged: dict[str, list[str]] = {}
        for line in lines:
            head, word, names = line.partition(" import ")
            if word:
                merged.setdefault(head, []).append(names)
            else:
                merged.setdefault(line, [])
        out += [f"{head} import {', '.join(names)}" if names else head for head, names in merged.items()]
        if out:
            glue = source.newline + source.indent_of(node)
            self.ctx.replace(node, glue.join(out), code="NNX800")
            return
        if _alone_in_block(source.parents.get(node), node):
            self.ctx.replace(node, "pass", code="NNX800")
            return
        whole = source.line_span(node)
        if source.text[whole.start : whole.end].strip() == source.text_of(node):
            self.ctx.replace(whole, code="NNX800")
        else:
            self.ctx.replace(node, "pass", code="NNX800")


def _alone_in_block(parent: ast.AST | None, node: ast.stmt) -> bool:
    for field in ("body", "orelse", "finalbody", "handlers"):
        block = getattr(parent, field, None)
        if isinstance(block, list) and node in block:
            return len(block) == 1 and not isinstance(parent, ast.Module)
    return False


# Modules that today's jax lacks, or whose every known name has moved; an import of one goes with its last use.
_DEAD_MODULES = frozenset(
    {
        "jax.experimental.maps",
        "jax.experimental.sharding",
        "jax.prng",
        "jax.abstract_arrays",
        "jax.lib.xla_bridge",
        "jax.lib.xla_client",
        "jax.lib.xla_extension",
        "jax.util",
    }
)
# The last words of the known names, and of the modules whose members moved.
_KNOWN = frozenset(name.rpartition(".")[2] for name in (*BY_NAME, *EXPRESSIONS, *_DEAD_MODULES))
# Class methods that another rule rewrites: the class alone would be renamed.
_CONSTRUCTORS = "jax.experimental.global_device_array.GlobalDeviceArray.from_"
# Members of those modules that another rule rewrites.
HANDLED_ELSEWHERE = frozenset({"jax.experimental.maps.mesh", "jax.experimental.maps.thread_resources"})
