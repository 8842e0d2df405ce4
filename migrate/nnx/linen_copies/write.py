"""Writing modules of Linen copies, and pointing what stays Linen to them."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from ...context import FileContext
from ...edits import Edit, EditSet, Span
from ...linen.project.index import Project
from ...plan import ClassPlan, Outcome, Plan
from ...siblings import above, beside
from ...source import SourceFile
from ...trees import parse_text, subtree
from ..generated.imports import finish_imports, spell
from . import derived, gin_bindings
from .file_names import MARK, copy_module, copy_name, copy_path, file_name, suffix
from .recipe import Recipe
from .settle import Copies
from .within import imported_within, imports_of

_WIDTH = 100
_OTHERS = ("NNX2", "NNX4")  # rules for code that becomes NNX: a copy stays Linen


def write(project: Project, plan: Plan, copies: Copies, contexts: Mapping[str, FileContext]) -> None:
    """Point the references of what stays Linen to the copies, and say in the report which copies there are."""
    beside: dict[ast.stmt, tuple[FileContext, list[str]]] = {}
    for source, reference in copies.redirects:
        context = contexts[source.module]
        module, _, name = reference.key.rpartition(".")
        original = project.files[module]
        statement = imported_within(context.source, original, reference.node)
        if statement is None:
            local = _import_copies(project, context, original)
        else:
            dotted = spelled(project, context.source, original, context.is_script)
            local = context.free_name(dotted.rpartition(".")[2], dotted)
            lines = beside.setdefault(statement, (context, []))[1]
            line = spell(context.source, local, dotted).statement()
            lines += [line] if line not in lines else []
        context.replace(reference.node, f"{local}.{name}", code="NNX178")
    for statement, (context, lines) in beside.items():
        lead = context.source.newline + context.source.indent_of(statement)
        context.insert(context.source.span(statement).end, *[f"{lead}{line}" for line in lines], code="NNX178")
    for key, outer in copies.needed.items():
        module, _, name = key.rpartition(".")
        if key in project.linen_classes:
            info = project.linen_classes[key]
            lifting = copies.lifting.get(outer)
            why = f"to which it applies {lifting}" if lifting else "which stays Linen"
            if outer in plan.classes and not lifting:
                why = f"{why} ({plan.classes[outer].code})"
            place, user = copy_path(project, info.source).name, outer.rpartition(".")[2]
            contexts[module].report(info.node, "NNX178", f"a Linen copy of {name} is kept in {place} for {user}, {why}")


def add_plans(project: Project, plan: Plan, copies: Copies) -> None:
    """Let the plan know the copies, as classes that stay Linen, so that the code that uses them is left alone."""
    plan.redirected = copies.nodes(project)
    plan.kept = {f"{module}.{name}" for module, recipe in copies.recipes.items() for name in recipe.from_source}
    for key in copies.needed:
        original = plan.classes.get(key)
        if original is not None:
            name, home = copy_name(project, key), project.definition(key)
            source = project.linen_classes[key].source if home is None else home[0]
            plan.classes[name] = ClassPlan(
                qualname=name,
                path=str(copy_path(project, source)),
                line=1,
                outcome=Outcome.BRIDGED,
                reason="it is a Linen copy",
                code="NNX178",
                fields=original.fields,
                required_fields=original.required_fields,
                methods=original.methods,
                call_arguments=original.call_arguments,
                call_rest=original.call_rest,
                copy_of=key,
            )


def copy_sources(project: Project, plan: Plan, copies: Copies, contexts: Mapping[str, FileContext]) -> list[FileContext]:
    """The modules of copies as files of their own, to be given the local rules and finished like any other."""
    found = []
    for module, recipe in copies.recipes.items():
        text, imports = _text(project, copies, module, recipe, contexts[module])
        source = recipe.source
        path, name = copy_path(project, source), copy_module(project, module)
        made = SourceFile(path, name, text, parse_text(text), False, source.resolve, source.prefix)
        context = FileContext(made, plan, contexts[module].options)
        context.new_imports.update(imports)
        found.append(context)
    return found


def applies(code: str) -> bool:
    """Does a local rule apply to copies? The JAX ones do, those that turn Linen into NNX do not."""
    return not code.startswith(_OTHERS)


def finish(context: FileContext) -> str:
    """The text of a module of copies, once the rules have been applied to it."""
    text = context.edits.render()
    done = finish_imports(context.source, text, context.new_imports)
    parse_text(done)
    return done


# references --------------------------------------------------------------------------------------------------------
def _import_copies(project: Project, context: FileContext, original: SourceFile) -> str:
    """The local name of `original`'s module of copies in a file; imports it."""
    dotted = spelled(project, context.source, original, context.is_script)
    local = dotted.rpartition(".")[2]
    for known, target in context.new_imports.items():
        if target == dotted:
            return known
    local = context.free_name(local, dotted)
    context.new_imports[local] = dotted
    return local


def spelled(project: Project, source: SourceFile, original: SourceFile, is_script: bool) -> str:
    """The dotted name by which `source` imports the module of copies of `original`: as it imports `original` itself."""
    names, stem, ending = source.names, file_name(original), suffix(project)
    for node in imports_of(source) if source is not original else ():
        if isinstance(node, ast.ImportFrom):
            if node.names[0].name == "*" and node.module and not node.level:
                if (source.resolve(node.module) if source.resolve is not None else node.module) == original.module:
                    return f"{node.module}{ending}"
            if any(original.module in (known, known.rpartition(".")[0]) for _, known in names.bindings(node)):
                dots = "." * node.level
                if any(known == original.module for _, known in names.bindings(node)):
                    return f"{dots}{node.module or ''}{'.' if node.module else ''}{stem}{ending}"
                if node.module and node.module.rpartition(".")[2] == stem:
                    return f"{dots}{node.module}{ending}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                known = source.resolve(alias.name) if source.resolve is not None else alias.name
                if known == original.module:
                    return alias.name + ending
    if is_script and not original.is_package:
        together = source.path.parent == original.path.parent
        prefix = beside(project, source if together else original)
        if together or prefix != ".":  # a dot, which its neighbours say, means another folder here
            return f"{prefix}{stem}{ending}"
    return above(project, original.module) + original.module + ending


# text --------------------------------------------------------------------------------------------------------------
def _text(project: Project, copies: Copies, module: str, recipe: Recipe, context: FileContext) -> tuple[str, dict[str, str]]:
    """The module's text, and the imports that `finish_imports` is to add: local name → dotted name."""
    source, newline = recipe.source, recipe.source.newline
    place = _place(project, module, source)
    imports: dict[str, str] = {}
    edits = EditSet(source.text)
    bound = {
        decorator: node
        for node in recipe.definitions.values()
        for decorator in gin_bindings.decorators(project, source, node)
    }
    replaced = {n for decorator in bound for n in subtree(decorator)}
    nodes = (n for node in recipe.definitions.values() for n in subtree(node) if n not in replaced)
    own = {n.id for n in nodes if isinstance(n, ast.Name)}
    locals_of: dict[str, str] = {}
    within: dict[ast.stmt, list[str]] = {}  # import in a function → those that follow it

    def module_name(dotted: str) -> str:
        if dotted not in locals_of:
            local = dotted.rpartition(".")[2]
            while local in own or local in source.names.local_names or local in locals_of.values():
                local = f"{local}_" if local.startswith("_") else f"_{local}"  # Python mangles `__name` in classes
            locals_of[dotted] = local
        return locals_of[dotted]

    for span, key in recipe.moved.items():
        home, _, name = key.rpartition(".")
        dotted = _from_beside(source, spelled(project, source, project.files[home], context.is_script))
        if span in recipe.within:
            line = spell(place, module_name(dotted), dotted).statement()
            lines = within.setdefault(recipe.within[span], [])
            lines += [line] if line not in lines else []
        else:
            imports[module_name(dotted)] = dotted
        edits.replace(span, f"{module_name(dotted)}.{name}")
    for statement, lines in within.items():
        lead = f"{newline}{source.indent_of(statement)}"
        edits.insert(source.span(statement).end, "".join(f"{lead}{line}" for line in lines))
    for local, key in recipe.from_copies.items():
        home, _, name = key.rpartition(".")
        dotted = _from_beside(source, spelled(project, source, project.files[home], context.is_script))
        imports[local] = f"{dotted}.{name}"
    here = spelled(project, source, source, context.is_script).removesuffix(suffix(project))
    for name in recipe.from_source:
        imports[name] = f"{here}.{name}"
    for span in recipe.back:
        edits.add(Edit(span, (f"{module_name(here)}.", span)))
    helper = gin_bindings.HELPER
    while helper in source.words:
        helper = f"_{helper}"
    for decorator, node in bound.items():
        edits.replace(source.span(decorator), gin_bindings.said(decorator, node, helper))
    out = [_head(source), _docstring(copies, module, recipe)]
    future = recipe.postponed or any(
        isinstance(s, ast.ImportFrom) and s.module == "__future__" and any(a.name == "annotations" for a in s.names)
        for s in source.tree.body
    )
    if future:
        out.append("from __future__ import annotations\n\n")
    said = [spell(place, name, f"{here}.{name}").statement() for name in sorted(recipe.annotating)]
    out += [_statements(source, recipe.statements), _guarded(recipe, said), "\n"]
    if bound:
        names = {name: module_name(name) for name in gin_bindings.IMPORTED}
        imports.update({local: name for name, local in names.items()})
        out.append(f"\n{gin_bindings.text(helper, names)}")
    for statement in sorted(recipe.definitions.values(), key=lambda s: s.lineno):
        gap = "\n\n" if isinstance(statement, ast.ClassDef | ast.FunctionDef) else ""
        body = edits.render(_with_comments(source, statement))
        out.append(f"{gap}{body.rstrip()}\n".replace("\r\n", "\n"))
    made: dict[ast.ClassDef, dict[ast.expr, str]] = {}
    for node in recipe.derived.values():
        values = [value for s in node.body if (value := _names_copy(recipe, source, s)) is not None]
        made[node] = {value: edits.render(source.span(value)) for value in values}
    if made:
        out.append(f"\n\n{derived.text(source, made, lambda name: spell(place, name, f'{here}.{name}').statement())}")
    if recipe.back:
        line = spell(place, module_name(here), here).statement()
        out.append(f"\n\n{line}  # noqa: E402  (last, because it imports this module)\n")
    return re.sub(r"\n{4,}", "\n\n\n", "".join(out)).replace("\n", newline), imports


def _place(project: Project, module: str, source: SourceFile) -> SourceFile:
    """Where the copies' own imports stand: beside a package, all of them say it by its name."""
    if not source.is_package:
        return source
    path, name = copy_path(project, source), copy_module(project, module)
    return SourceFile(path, name, "", parse_text(""), False, source.resolve, source.prefix)


def _from_beside(source: SourceFile, dotted: str) -> str:
    """What a relative name of a package's `__init__.py` is in a file beside the package: `.net.parts` of its `.parts`."""
    inner = dotted.lstrip(".")
    level = len(dotted) - len(inner)
    if not source.is_package or not level:
        return dotted
    return f".{file_name(source)}.{inner}".rstrip(".") if level == 1 else "." * (level - 1) + inner


def _names_copy(recipe: Recipe, source: SourceFile, statement: ast.stmt) -> ast.expr | None:
    """What a statement of a class gives a name to, where that is copied."""
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    if value is None:
        return None
    text = ast.unparse(value)
    copied = text in recipe.definitions or text in recipe.from_copies or source.span(value) in recipe.moved
    return value if copied else None


def _head(source: SourceFile) -> str:
    """The comment that says whose code it is, where the original begins with one."""
    lines = []
    for line in source.lines:
        if not line.startswith("#"):
            break
        lines.append(line.rstrip("\r\n"))
    text = "\n".join(line for line in lines if not line.startswith("#!"))
    return f"{text}\n\n" if "copyright" in text.lower() or "license" in text.lower() else ""


def _docstring(copies: Copies, module: str, recipe: Recipe) -> str:
    needed = {copies.needed[key] for key in copies.needed if key.rpartition(".")[0] == module}
    users = ", ".join(sorted(q.rpartition(".")[2] for q in needed))
    said = (
        f"They keep the parameter names, random numbers and checkpoints of what stays Linen and uses them: {users}. "
        f"When that is native too, delete this file. nnx-migrate leaves it alone."
    )
    return f'"""{MARK} ({recipe.source.path.name}).\n\n{textwrap.fill(said, _WIDTH)}\n"""\n\n'


def _statements(source: SourceFile, statements: Mapping[ast.stmt, Iterable[str]], indent: str = "") -> str:
    """Import statements, with the names in use only, as a file beside a package says those of its `__init__.py`."""
    out = []
    for statement, used in sorted(statements.items(), key=lambda item: item[0].lineno):
        assert isinstance(statement, ast.Import | ast.ImportFrom)
        names = set(used)
        kept = [a for a in statement.names if a.name == "*" or (a.asname or a.name.partition(".")[0]) in names]
        aliases = [f"{a.name} as {a.asname}" if a.asname else a.name for a in kept]
        if isinstance(statement, ast.Import):
            out += [f"{indent}import {alias}\n" for alias in aliases]
            continue
        dotted = "." * statement.level + (statement.module or "")
        head = f"{indent}from {_from_beside(source, dotted)} import "
        line = head + ", ".join(aliases)
        if len(line) > _WIDTH:
            line = head + "(\n" + "".join(f"{indent}    {alias},\n" for alias in aliases) + f"{indent})"
        out.append(f"{line}\n")
    return "".join(dict.fromkeys(out))


def _guarded(recipe: Recipe, said: Sequence[str]) -> str:
    """What annotations alone need: the original's imports for type checkers, and `said`, from the original itself."""
    if not recipe.guarded and not said:
        return ""
    own = "".join(f"    {line}\n" for line in said)
    guarded = _statements(recipe.source, recipe.guarded, "    ")
    return f"from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n{guarded}{own}"


def _with_comments(source: SourceFile, statement: ast.stmt) -> Span:
    """The statement's lines with the comments directly above it, TODO comments of this tool apart."""
    whole = source.line_span(statement)
    start = whole.start
    while start:
        line = source.text.rfind("\n", 0, start - 1) + 1
        text = source.text[line:start]
        if not text.startswith("#") or "TODO(nnx-migrate)" in text or text.startswith("# %%"):
            break
        start = line
    return Span(start, whole.end)


__all__ = ["add_plans", "applies", "copy_sources", "finish", "write"]
