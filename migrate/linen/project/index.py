"""The project index: every file, what it defines, and what its names mean across files."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ...names import canonical
from ...plan import follow_aliases
from ...source import SourceFile
from ...trees import said, subtree
from . import configured, imports
from .programs import programs

# Packages whose names are known, whatever else a file imports all of.
_WELL_KNOWN = ("flax", "jax", "numpy", "optax")
# Classes of flax.linen that are no modules.
_NO_MODULES = frozenset(
    {
        "flax.linen.Partitioned",
        "flax.linen.LogicallyPartitioned",
        "flax.linen.meta.AxisMetadata",
        "flax.linen.partitioning.AxisMetadata",
        "flax.linen.RulesFallback",
    }
)
# The words that annotate variables with axes, by names of the rules and by names of the mesh.
_LOGICAL = frozenset({"with_logical_partitioning", "LogicallyPartitioned", "param_with_axes", "variable_with_axes"})
_ANNOTATIONS = _LOGICAL | {"with_partitioning", "Partitioned", "PARTITION_NAME"}


def _imports(source: SourceFile, modules: set[str]) -> bool:
    """Does the file import one of the modules, or a name of it?"""
    names = source.names
    return any(n in modules or n.rpartition(".")[0] in modules for n in (*names.imports.values(), *names.star_imports))


@dataclasses.dataclass
class ClassInfo:
    """A class that is, or inherits from, flax.linen.Module."""

    qualname: str
    node: ast.ClassDef
    source: SourceFile
    bases: tuple[str, ...]  # canonical names; project classes as <module>.<Class>

    @functools.cached_property
    def nodes(self) -> Sequence[ast.AST]:
        """The definition and all below it, breadth first."""
        return subtree(self.node)


class Project:
    """The files of a run by module name, with names resolved across them. File order never matters.

    `unread`: modules that are there and could not be read or migrated; nothing is known of what they define. `made`:
    names of what configuration files construct, with the place.
    """

    def __init__(
        self,
        files: Iterable[SourceFile],
        unread: Collection[str] = (),
        made: Mapping[str, configured.Configured] | None = None,
    ) -> None:
        self.files: dict[str, SourceFile] = {}
        self.unread = frozenset(unread)
        self.configured = dict(made or {})
        self.aliases: dict[str, str] = {}
        self._canonical: dict[str, str] = {}  # answers of `canonical`, once all aliases are known
        self._qualnames: dict[ast.AST, str | None] = {}  # answers of `qualname`, from then on
        self._texts: dict[ast.AST, str] = {}  # answers of `said`
        self._loaded: dict[tuple[str, bool], frozenset[str]] = {}  # answers of `loaded_by`
        self._complete = False
        for source in sorted(files, key=lambda f: str(f.path)):
            self.files[source.module] = source
        for module, source in self.files.items():
            for local, target in source.names.imports.items():
                if local not in source.names.definitions:
                    self.aliases[f"{module}.{local}"] = target
        self._star_aliases()
        self._complete = True
        self.unseen_bases: dict[str, str] = {}  # modules by what they do → why it is not seen what they derive from
        self.linen_classes: dict[str, ClassInfo] = self._find_classes()
        self.stand_elsewhere: frozenset[ast.AST] = frozenset()  # what stands in functions whose text classes have
        self._said: dict[str, bool] = {}  # answers of `linen_says`
        self._said_anywhere: dict[str, bool] = {}  # and of `says`

    @functools.cached_property
    def linen_names(self) -> dict[ast.AST, str]:
        """The definitions of Linen classes, with their full names."""
        return {info.node: name for name, info in self.linen_classes.items()}

    @functools.cached_property
    def made_by_configurations(self) -> Mapping[str, configured.Configured]:
        """The Linen classes that hydra constructs, by configuration files and dicts of the code, with the place."""
        return configured.find(self)

    @functools.cached_property
    def configurations_obstacle(self) -> str:
        """Why these cannot be given sizes and rngs where the configurations are read; "" where they can."""
        return configured.find_obstacle(self)

    @functools.cached_property
    def class_words(self) -> frozenset[str]:
        """The words by which files may say a Linen class: their own names, and what imports and assignments make of them."""
        words = {name.rpartition(".")[2] for name in self.linen_classes}
        words |= {alias.rpartition(".")[2] for alias in self.aliases if self.canonical(alias) in self.linen_classes}
        for source in self.files.values():
            for local, value in source.names.single_assignments.items():
                if isinstance(value, ast.Name | ast.Attribute) and self.qualname(source, value) in self.linen_classes:
                    words.add(local)
        return frozenset(words)

    @functools.cached_property
    def inside_modules(self) -> frozenset[ast.AST]:
        """Everything in Linen classes, and in functions whose text stands there and that nothing calls any more."""
        return self.stand_elsewhere.union(node for info in self.linen_classes.values() for node in info.nodes)

    @functools.cached_property
    def linen_modules(self) -> frozenset[str]:
        """The modules with Linen classes."""
        return frozenset(info.source.module for info in self.linen_classes.values())

    def linen_says(self, *words: str) -> bool:
        """Does a file with Linen classes have one of the words in its text?"""
        for word in words:
            if word not in self._said:
                self._said[word] = any(word in self.files[name].text for name in self.linen_modules)
        return any(self._said[word] for word in words)

    def says(self, *words: str) -> bool:
        """Does any file have one of the words in its text?"""
        for word in words:
            if word not in self._said_anywhere:
                self._said_anywhere[word] = any(word in source.text for source in self.files.values())
        return any(self._said_anywhere[word] for word in words)

    def files_saying(self, function: str) -> list[SourceFile]:
        """The files that have a function's name among their words."""
        return self._saying_functions.get(function, [])

    @functools.cached_property
    def _saying_functions(self) -> dict[str, list[SourceFile]]:
        names = {node.name for source in self.files.values() for node in source.by_kind.get(ast.FunctionDef, ())}  # type: ignore[attr-defined]
        found: dict[str, list[SourceFile]] = {}
        for source in self.files.values():
            for name in names & source.words:
                found.setdefault(name, []).append(source)
        return found

    def _star_aliases(self) -> None:
        for _ in range(3):  # star imports may chain
            for module, source in self.files.items():
                for base in reversed(source.names.star_imports):  # of two that bring a name the last one counts
                    other = self.files.get(base)
                    if other is None:
                        continue
                    for name in other.names.given_to_stars():
                        own = f"{module}.{name}" in self.files and name not in other.names.definitions  # one of its modules
                        if name not in source.names.definitions and not own:
                            self.aliases.setdefault(f"{module}.{name}", f"{base}.{name}")
                            source.names.star_names.setdefault(name, f"{base}.{name}")
        for source in self.files.values():
            self._unread_stars(source)

    def _unread_stars(self, source: SourceFile) -> None:
        """What a file says and nothing binds is from the one module outside of the project of which it imports all."""
        stars = {base for base in source.names.star_imports if base not in self.files}
        others = {base for base in stars if base.partition(".")[0] in (*_WELL_KNOWN, *sys.stdlib_module_names)}
        if len(stars - others) != 1:
            return
        (base,) = stars - others
        names = [node for node in source.by_kind.get(ast.Name, ()) if isinstance(node, ast.Name)]
        bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
        made = [node for kind in (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler) for node in source.by_kind.get(kind, ())]
        bound |= {getattr(node, "name", None) or "" for node in made} | source.names.imports.keys()
        for name in {node.id for node in names} - bound:
            if not hasattr(builtins, name) and not name.startswith("_") and (not others or name[:1].isupper()):
                source.names.star_names.setdefault(name, f"{base}.{name}")

    def loaded_by(self, module: str, *, surely: bool) -> frozenset[str]:
        """The project's modules that importing `module` imports, itself included; `surely`: not under a condition."""
        if (module, surely) not in self._loaded:
            self._loaded[module, surely] = imports.loaded_by(self.files, module, surely=surely)
        return self._loaded[module, surely]

    def canonical(self, name: str) -> str:
        """Follow re-exports inside the project, then those of the known libraries."""
        known = self._canonical.get(name)
        if known is None:
            known = canonical(follow_aliases(name, self.aliases))
            if self._complete:
                self._canonical[name] = known
        return known

    def qualname(self, source: SourceFile, node: ast.AST) -> str | None:
        """Canonical dotted name of an expression of `source`, across files."""
        name = self._qualnames.get(node, "")  # which nothing is called
        if name != "":
            return name
        name = self._qualname(source, node)
        if self._complete and node in source.parents:  # code that was put together may still change
            self._qualnames[node] = name
        return name

    def alternatives(self, source: SourceFile, root: ast.Name, behind: str = "") -> frozenset[str]:
        """What a name, or the attributes `behind` of it, may mean that conditions of the file import one thing or another
        as; empty where it is always the same."""
        names = source.names
        if root.id not in names.alternatives or names.is_hidden(root.id, root):
            return frozenset()
        if names.imported(root) != names.imports[root.id]:  # by a function of its own
            return frozenset()
        return frozenset(self.canonical(f"{dotted}{behind}") for dotted in names.alternatives[root.id])

    def said(self, node: ast.AST) -> str:
        """`ast.unparse` of what stands in a file; every execution of a class asks for the text of the same expressions."""
        text = self._texts.get(node)
        if text is None:
            text = self._texts[node] = said(node)
        return text

    def _qualname(self, source: SourceFile, node: ast.AST) -> str | None:
        found = source.names.qualname(node)
        if found is None and isinstance(node, ast.Name) and not source.names.is_hidden(node.id, node):
            for base in source.names.star_imports:
                if f"{source.module}.{node.id}" in self.aliases:
                    found = f"{source.module}.{node.id}"
                elif base == "flax.linen" and node.id[:1].isupper():
                    found = f"flax.linen.{node.id}"
        if found is None and isinstance(node, ast.Subscript):
            return self._generic(source, node)
        return self.canonical(found) if found else None

    def _generic(self, source: SourceFile, node: ast.Subscript) -> str | None:
        """The class that `Encoder[int]` is with one of its types said: makers and bases may name it so."""
        name = self.qualname(source, node.value)
        defined = self.definition(name) if name else None
        if defined is None or not isinstance(defined[1], ast.ClassDef):
            return None
        # An enumeration is asked by key in the same words.
        generic = any(isinstance(base, ast.Subscript) for base in defined[1].bases)
        return name if generic else None

    def definition(self, qualname: str) -> tuple[SourceFile, ast.stmt] | None:
        """The module-level statement that defines a canonical project name."""
        module, _, name = qualname.rpartition(".")
        source = self.files.get(module)
        if source is None or name not in source.names.definitions:
            return None
        return source, source.names.definitions[name]

    @functools.cached_property
    def programs(self) -> Mapping[str, int]:
        """A number for each module: those that share one may be parts of one running program."""
        return programs(self)

    @functools.cached_property
    def _of_programs(self) -> Mapping[int, frozenset[str]]:
        """The modules of each number."""
        found: dict[int, set[str]] = {}
        for name, number in self.programs.items():
            found.setdefault(number, set()).add(name)
        return {number: frozenset(names) for number, names in found.items()}

    def running_with(self, modules: Collection[str]) -> frozenset[str]:
        """The modules that may be parts of one running program with any of these."""
        return frozenset().union(*(self._of_programs[number] for number in {self.programs[name] for name in modules}))

    @functools.cached_property
    def annotated_classes(self) -> frozenset[str]:
        """The Linen classes of files that annotate variables with axes, or have a file without classes that does."""
        classes = {info.source.module for info in self.linen_classes.values()}
        kept = {source.module for source in self.files.values() if not source.words.isdisjoint(_ANNOTATIONS)}
        while True:
            helpers = kept - classes
            more = {module for module, source in self.files.items() if module not in kept and _imports(source, helpers)}
            if not more:
                return frozenset(name for name, info in self.linen_classes.items() if info.source.module in kept)
            kept |= more

    @functools.cached_property
    def uses_logical_names(self) -> bool:
        """Does the project annotate variables with logical names?"""
        return not all(source.words.isdisjoint(_LOGICAL) for source in self.files.values())

    @functools.cached_property
    def exported(self) -> dict[str, frozenset[str]]:
        """Names that each file binds and other files of the project take from it: they stay bound, used there or not."""
        found: dict[str, set[str]] = {}
        for module, source in self.files.items():
            for dotted in source.names.imports.values():
                base, _, name = dotted.rpartition(".")
                if base in self.files and base != module:
                    found.setdefault(base, set()).add(name)
            for base in source.names.star_imports:
                if base in self.files:
                    found.setdefault(base, set()).update(self.files[base].names.imports)
            for base, name in self._looked_up(source):
                if base != module:
                    found.setdefault(base, set()).add(name)
        return {module: frozenset(names) for module, names in found.items()}

    def _looked_up(self, source: SourceFile) -> Iterator[tuple[str, str]]:
        """(module of the project, name that it imports) for what a file reads off such modules: `train.nn`."""
        if self._packages.isdisjoint(source.names.imports.values()):
            return
        for node in source.by_kind.get(ast.Attribute, ()):
            assert isinstance(node, ast.Attribute)
            if node.attr in self._imported_names:
                base = self.files.get(source.names.raw_qualname(node.value) or "")
                if base is not None and node.attr in base.names.imports:
                    yield base.module, node.attr

    @functools.cached_property
    def _imported_names(self) -> frozenset[str]:
        return frozenset(name for source in self.files.values() for name in source.names.imports)

    @functools.cached_property
    def _packages(self) -> frozenset[str]:
        """The modules of the project and the packages that hold them."""
        split = [module.split(".") for module in self.files]
        return frozenset(".".join(parts[: n + 1]) for parts in split for n in range(len(parts)))

    @functools.cached_property
    def _nnx_packages(self) -> frozenset[str]:
        return frozenset(name.partition(".")[0] for name, source in self.files.items() if "nnx" in source.words)

    def handles_nnx(self, source: SourceFile) -> bool:
        """Can the file meet nnx objects? Files of the packages that say nnx, and those that import from them."""
        reached = [source.module, *source.names.imports.values(), *source.names.star_imports]
        return any(name.partition(".")[0] in self._nnx_packages for name in reached)

    def _find_classes(self) -> dict[str, ClassInfo]:
        candidates: dict[str, ClassInfo] = {}
        others: list[ClassInfo] = []  # `if HAVE_FLAX: class Net(nn.Module)`, `else: class Net`
        for source, node in self._plausible_classes():
            bases = tuple(self.qualname(source, base) or "" for base in node.bases)
            qualname = source.names.nested_name(node)
            above = candidates.get(qualname)
            if above is not None and any(not base or base in candidates for base in bases):
                bases += above.bases  # `class Block(Block)`, of the one above it, which has no name any more
            elif above is not None:
                others.append(above)
            candidates[qualname] = ClassInfo(qualname, node, source, bases)
        linen = {"flax.linen.Module"}
        while True:
            found = {
                name
                for name, info in candidates.items()
                if name not in linen and any(self._is_linen(b, linen) for b in info.bases)
            }
            if not found:
                found = {name for name, info in candidates.items() if name not in linen and self._acts_as_one(info, linen)}
            if not found:
                break
            linen |= found
        for info in others:
            if info.qualname not in linen and any(self._is_linen(base, linen) for base in info.bases):
                candidates[info.qualname] = info
                linen.add(info.qualname)
        return {name: info for name, info in candidates.items() if name in linen}

    @functools.cached_property
    def _tops(self) -> frozenset[str]:
        """The first names of the project's own modules, and of packages whose classes are no Linen modules."""
        own = {name.partition(".")[0] for name in self.files}
        return frozenset(own | sys.stdlib_module_names | {"flax", "jax", "typing_extensions"})

    def _acts_as_one(self, info: ClassInfo, linen: set[str]) -> bool:
        """Does a class derive from what is not seen, of another package or computed, and do what Linen modules alone do?"""
        unseen = [said for node, base in zip(info.node.bases, info.bases) if (said := self._unseen(node, base))]
        methods = {s.name: s for s in info.node.body if isinstance(s, ast.FunctionDef)}
        if not unseen or "__call__" not in methods:
            return False
        marks = [self.qualname(info.source, d) for method in methods.values() for d in method.decorator_list]
        setup = methods.get("setup")
        if setup is not None and len(setup.args.args) == 1 and "__init__" not in methods:
            made = [s.value.func for s in subtree(setup) if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call)]
            marks += ["flax.linen.compact" for f in made if self._is_linen(self.qualname(info.source, f) or "", linen)]
        if "flax.linen.compact" in marks:
            self.unseen_bases[info.qualname] = unseen[0]
        return "flax.linen.compact" in marks

    def _unseen(self, node: ast.expr, base: str) -> str:
        """How to say that a base class is not seen; "" where it is."""
        if "." in base and base.partition(".")[0] not in self._tops:
            return f"its base `{base}` is of a package that is not migrated with it"
        found = self.definition(base)
        computed = not base or (found is not None and not isinstance(found[1], ast.ClassDef))
        if computed and not isinstance(node, ast.Subscript):  # `Generic[T]`
            return f"only running the code tells what its base `{ast.unparse(node)}` is"
        return ""

    def _plausible_classes(self) -> list[tuple[SourceFile, ast.ClassDef]]:
        """Classes that could be Linen modules: those of files that say flax or import something of it from the project,
        and elsewhere those whose base has the name of one of them. Resolving names costs much more than this, and most
        files of a large tree have none."""
        found: list[tuple[SourceFile, ast.ClassDef]] = []
        others: list[tuple[SourceFile, ast.ClassDef]] = []
        behind = {name for name in self.aliases if self.canonical(name).partition(".")[0] == "flax"}
        behind |= {name.rpartition(".")[0] for name in behind}
        for source in self.files.values():
            says = "flax" in source.text or "linen" in source.text
            says = says or not behind.isdisjoint(source.names.imports.values())
            says = says or not behind.isdisjoint(source.names.star_imports)
            classes = [(source, node) for node in source.by_kind.get(ast.ClassDef, ()) if isinstance(node, ast.ClassDef)]
            (found if says else others).extend(classes)
        names = {node.name for _, node in found}
        while True:
            new = [(source, node) for source, node in others if _has_base_named(source, node, names)]
            if not new:
                return found
            found += new
            names |= {node.name for _, node in new}
            taken = {id(node) for _, node in new}
            others = [pair for pair in others if id(pair[1]) not in taken]

    @staticmethod
    def _is_linen(base: str, linen: set[str]) -> bool:
        layer = base.startswith("flax.linen.") and base not in _NO_MODULES and base.rpartition(".")[2][:1].isupper()
        return base in linen or layer


def _has_base_named(source: SourceFile, node: ast.ClassDef, names: set[str]) -> bool:
    for base in (b.value if isinstance(b, ast.Subscript) else b for b in node.bases):
        if isinstance(base, ast.Attribute):
            last = base.attr
        elif isinstance(base, ast.Name):
            last = source.names.imports.get(base.id, base.id).rpartition(".")[2]
            if last not in names and base.id in source.names.definitions:
                stmt = source.names.definitions[base.id]
                if not isinstance(stmt, ast.ClassDef):  # an alias: what it means takes resolving
                    return True
        else:
            continue
        if last in names:
            return True
    return False
