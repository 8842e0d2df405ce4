"""What `verify` compares: cases given in pyproject.toml, and cases found in the code.

A case is a module class with constructor arguments and example inputs. Found cases come from `init` calls whose
constructor
arguments and input shapes can be read off the syntax tree; nothing is run to find them.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_INPUT = re.compile(r"\s*([a-z]+\d*)\s*\[\s*([\d\s,]*)\]\s*")
_DTYPES = {
    "f32": "float32", "f16": "float16", "bf16": "bfloat16", "f64": "float64", "i32": "int32", "i64": "int64", "i8":
    "int8",
    "u8": "uint8", "u32": "uint32", "bool": "bool", "key": "key",
}  # fmt: skip
SKIPPED = {".git", ".venv", "venv", "build", "node_modules", "__pycache__", ".nnx-migrate"}
#: Arguments of a call that say whether it is one of training.
FLAGS = ("train", "training", "is_training", "deterministic")
_KEYS = ("name", "module", "arguments", "inputs", "call", "method", "rngs", "mutable", "mesh", "rules")


class CaseError(ValueError):
    """A case of the configuration that cannot be read; the message says which, why, and what is expected."""


@dataclasses.dataclass
class Case:
    """One comparison. `file` is relative to the root; `inputs` are texts as `f32[8,128]`."""

    name: str
    file: str
    cls: str
    arguments: dict[str, Any] = dataclasses.field(default_factory=dict)
    positional: list[Any] = dataclasses.field(default_factory=list)
    inputs: list[str] = dataclasses.field(default_factory=list)
    call: dict[str, Any] = dataclasses.field(default_factory=dict)
    method: str | None = None
    rngs: list[str] | None = None
    mutable: list[str] | None = None
    mesh: dict[str, int] = dataclasses.field(default_factory=dict)
    rules: list[list[Any]] | None = None
    origin: str = ""
    guess: bool = False  # arguments and inputs are to be guessed from names and annotations

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def parse_input(text: str) -> tuple[tuple[int, ...], str]:
    """`f32[8,128]` → shape and dtype name. Raises CaseError."""
    found = _INPUT.fullmatch(text)
    if not found or (found[1] not in _DTYPES and found[1] not in _DTYPES.values()):
        raise CaseError(f"input {text!r}: expected a dtype and a shape as f32[8,128]; dtypes: {', '.join(_DTYPES)}")
    shape = tuple(int(n) for n in found[2].split(",") if n.strip())
    return shape, _DTYPES.get(found[1], found[1])


def spelt_out(text: str) -> str:
    """`f32[8,128]` as `float32[8,128]`, which needs no table to be read. Raises CaseError."""
    shape, dtype = parse_input(text)
    return f"{dtype}[{','.join(map(str, shape))}]"


def configured(root: Path) -> list[Case]:
    """The cases of `[[tool.nnx-migrate.verify]]` in the root's pyproject.toml. Raises CaseError."""
    file = root / "pyproject.toml"
    if not file.is_file():
        return []
    try:
        tables = tomllib.loads(file.read_text()).get("tool", {}).get("nnx-migrate", {}).get("verify", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise CaseError(f"{file}: cannot be read: {error}") from error
    if not isinstance(tables, list):
        raise CaseError(f"{file}: write [[tool.nnx-migrate.verify]], with double brackets, once for each case")
    return [_configured(table, file, number) for number, table in enumerate(tables, 1)]


def _configured(table: Any, file: Path, number: int) -> Case:
    where = f"{file}: [[tool.nnx-migrate.verify]] number {number}"
    unknown = [k for k in table if k not in _KEYS]
    if unknown:
        raise CaseError(f"{where}: unknown key `{unknown[0]}`; known keys: {', '.join(_KEYS)}")
    module = table.get("module")
    if not isinstance(module, str) or ":" not in module:
        raise CaseError(f"{where}: `module` must be 'path/to/file.py:Class' or 'package.module:Class', not {module!r}")
    place, cls = module.rsplit(":", 1)
    path = place if place.endswith(".py") else place.replace(".", "/") + ".py"
    inputs = table.get("inputs")
    if not isinstance(inputs, list) or not inputs:
        raise CaseError(f'{where}: `inputs` is missing: give one text for each argument, as ["f32[8,128]"]')
    for text in inputs:
        parse_input(text)
    return Case(
        table.get("name", cls),
        path,
        cls,
        dict(table.get("arguments", {})),
        [],
        list(inputs),
        dict(table.get("call", {})),
        table.get("method"),
        table.get("rngs"),
        table.get("mutable"),
        dict(table.get("mesh", {})),
        table.get("rules"),
        f"{file.name}, case {number}",
    )


@dataclasses.dataclass(frozen=True)
class Unchecked:
    """A module class without a usable example."""

    file: str
    cls: str
    line: int
    reason: str

    @property
    def remedy(self) -> str:
        return f'[[tool.nnx-migrate.verify]]\nmodule = "{self.file}:{self.cls}"\ninputs = ["f32[2,8]"]  # yours'


def discover(root: Path, given: list[Case]) -> tuple[list[Case], list[Unchecked]]:
    """Cases from `init` calls of the Linen tree `root`, and the module classes for which none was found."""
    trees: dict[str, ast.Module] = {}
    for path in sources(root):
        try:
            trees[path.relative_to(root).as_posix()] = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError, ValueError):
            continue
    classes: dict[str, dict[str, int]] = {}  # name → file → line: files may have classes of one name
    uses: dict[tuple[str, str], set[str]] = {}
    for file, tree in trees.items():
        linen = _linen_names(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any(_is_module(b, linen, classes) for b in node.bases):
                classes.setdefault(node.name, {}).setdefault(file, node.lineno)
                names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                uses[file, node.name] = names | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    cases: dict[str, Case] = {}
    failures: dict[tuple[str, str], str] = {}
    for file, tree in trees.items():
        homes = {name: _home(name, file, tree, files) for name, files in classes.items()}
        for cls, case, problem in _init_calls(tree, homes, file):
            if case is not None:
                cases.setdefault(_same(case), case)
            else:
                failures.setdefault((homes[cls], cls), problem)
    have = {(c.file, c.cls) for c in (*cases.values(), *given)}
    # A module that a checked one is made of is checked with it.
    queue = list(have)
    for file, cls in queue:
        inner = {(_home(n, file, trees[file], classes[n]), n) for n in uses.get((file, cls), set()) & set(classes)} - have
        have |= inner
        queue += sorted(inner)
    unchecked = [
        Unchecked(file, cls, line, failures.get((file, cls), "no `init` call with shapes that can be read from the code"))
        for cls, files in classes.items()
        for file, line in files.items()
        if (file, cls) not in have
    ]
    configured_ = {(g.file, g.cls) for g in given}
    return [c for c in cases.values() if (c.file, c.cls) not in configured_], unchecked


def _home(name: str, file: str, tree: ast.Module, files: dict[str, int]) -> str:
    """Which file's class a name means in `file`: its own, that of the module it is imported from, else the first."""
    if file in files or len(files) == 1:
        return file if file in files else next(iter(files))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any((a.asname or a.name) == name for a in node.names):
            tail = f"{(node.module or '').replace('.', '/')}.py"
            nearest = [f for f in files if f == tail or f.endswith(f"/{tail}")]
            beside = [f for f in nearest if Path(f).parent == Path(file).parent]
            if nearest:
                return (beside or nearest)[0]
    return next(iter(files))


def guesses(without: list[Unchecked]) -> list[Case]:
    """Cases for the classes without an example, whose arguments and inputs the worker guesses."""
    origin = "names and annotations, by trial"
    return [Case(u.cls, u.file, u.cls, origin=origin, guess=True) for u in without]


def sources(root: Path) -> Iterator[Path]:
    """Python files of a tree."""
    if root.is_file():
        yield root
        return
    for path in sorted(root.rglob("*.py")):
        if not SKIPPED & set(path.relative_to(root).parts[:-1]):
            yield path


def _linen_names(tree: ast.Module) -> set[str]:
    """How this file spells `flax.linen.Module`."""
    names = {"flax.linen.Module"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {f"{a.asname}.Module" for a in node.names if a.name == "flax.linen" and a.asname}
        elif isinstance(node, ast.ImportFrom) and node.module == "flax":
            names |= {f"{a.asname or a.name}.Module" for a in node.names if a.name == "linen"}
        elif isinstance(node, ast.ImportFrom) and node.module == "flax.linen":
            names |= {a.asname or a.name for a in node.names if a.name == "Module"}
    return names


def _is_module(base: ast.expr, linen: set[str], classes: dict[str, Any]) -> bool:
    text = ast.unparse(base)
    return text in linen or text in classes


def _same(case: Case) -> str:
    return repr((case.file, case.cls, sorted(case.arguments.items(), key=str), case.positional, case.inputs, case.call))


def _init_calls(tree: ast.Module, homes: dict[str, str], file: str) -> Iterator[tuple[str, Case | None, str]]:
    """`(class, case, problem)` for each `Class(...).init(key, inputs…)`, directly or by way of a name of the same
    scope. `homes`: name → the file of the class that it means here.
    """
    scopes: list[ast.AST] = [
        tree,
        *(n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))),
    ]
    for scope in scopes:
        known: dict[str, ast.expr] = {}
        for outer in (tree, scope):
            for node in _own(outer):
                if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                    known[node.targets[0].id] = node.value
        for node in _own(scope):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "init"):
                continue
            made = node.func.value
            if isinstance(made, ast.Name):
                made = known.get(made.id, made)
            if not (isinstance(made, ast.Call) and ast.unparse(made.func).split(".")[-1] in homes):
                continue
            cls = ast.unparse(made.func).split(".")[-1]
            where = f"{file}:{node.lineno}"
            try:
                positional = [_value(a, known) for a in made.args]
                arguments = {k.arg: _value(k.value, known) for k in made.keywords if k.arg}
                inputs = [_shape(a, known) for a in node.args[1:]]
                call = {k.arg: _value(k.value, known) for k in node.keywords if k.arg and k.arg not in ("method", "rngs")}
            except ValueError as error:
                yield cls, None, f"{where}: {error}"
                continue
            yield cls, Case(cls, homes[cls], cls, arguments, positional, inputs, call, origin=where), ""


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a scope in source order, those of nested functions left out."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        yield node
        yield from _own(node)


def _value(node: ast.expr, known: dict[str, ast.expr], depth: int = 0) -> Any:
    """A literal, with names of the scope resolved. Raises ValueError naming the expression that is none."""
    if isinstance(node, ast.Name) and node.id in known and depth < 8:
        return _value(known[node.id], known, depth + 1)
    if isinstance(node, (ast.Tuple, ast.List)):
        return [_value(e, known, depth) for e in node.elts]
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, known, depth), _value(node.right, known, depth)
        operations: dict[type, Any] = {
            ast.Add: lambda a, b: a + b,
            ast.Mult: lambda a, b: a * b,
            ast.FloorDiv: lambda a, b: a // b,
        }
        operation = operations.get(type(node.op))
        if operation is not None and isinstance(left, int) and isinstance(right, int):
            return operation(left, right)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        raise ValueError(f"`{ast.unparse(node)}` is no literal") from None


_FILLED = ("ones", "zeros", "empty", "full")
_DRAWN = ("normal", "uniform", "randint", "truncated_normal")


def _shape(node: ast.expr, known: dict[str, ast.expr], depth: int = 0) -> str:
    """The shape and dtype that an expression makes, as `f32[2,3]`. Raises ValueError."""
    if isinstance(node, ast.Name) and node.id in known and depth < 8:
        return _shape(known[node.id], known, depth + 1)
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).split(".")[-1]
        given = {k.arg: k.value for k in node.keywords}
        at = 0 if name in _FILLED or name == "ShapeDtypeStruct" else 1 if name in _DRAWN else -1
        shape = given.get("shape", node.args[at] if 0 <= at < len(node.args) else None)
        if at >= 0 and shape is not None:
            dims = _value(shape, known)
            dims = [dims] if isinstance(dims, int) else dims
            dtype = given.get("dtype", node.args[1] if at == 0 and name != "full" and len(node.args) > 1 else None)
            text = ast.unparse(dtype).split(".")[-1].strip("'\"") if dtype is not None else ""
            text = {"": "int32" if name == "randint" else "float32", "int": "int32", "float": "float32"}.get(text, text)
            text = {"bool_": "bool"}.get(text, text)
            if all(isinstance(d, int) for d in dims) and text in _DTYPES.values():
                return f"{text}[{','.join(map(str, dims))}]"
    raise ValueError(f"the shape of `{ast.unparse(node)}` cannot be read from the code")
