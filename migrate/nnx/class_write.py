"""The edits that turn a planned class into NNX: header, constructor, methods."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..catalog import layers
from ..edits import Part, Parts, Span
from ..linen.applied import DENSE_OPTIONS, Applied
from ..linen.classes import Field, Method
from ..linen.execute import Execution
from ..linen.merging import Either, members
from ..linen.passed import held_modules
from ..linen.self_calls import SetupParam
from ..linen.sites import BoundArg, Factory, Local, Module, Repeated, SelfModule, Site, Unmigratable, Variable
from ..linen.values import Const
from ..source import SourceFile
from . import carried as carried_lists
from . import (
    cells,
    choices,
    constructor_text,
    elsewhere,
    factories,
    field_kinds,
    flag_names,
    helper_functions,
    inheritance,
    lifted,
    lifted_functions,
    merged_flags,
    rank_checks,
    setup_conditions,
    setup_names,
)
from .branches import exclusive
from .class_text import VARIABLE_TYPES, ClassText
from .text_parts import BREAK, CLOSE, MethodEdit, Namer, joined, length


class ClassWriter:
    """Writes one class. `edits` come out; the caller checks that no two classes want different ones."""

    def __init__(self, text: ClassText, namer: Namer, loaded: frozenset[str]) -> None:
        self.text = text
        self._environment: Any = None  # of the call that is being written
        self.run: Execution = text.run
        self.model = text.model
        self.source: SourceFile = text.source
        self.namer = namer
        self.loaded = loaded  # attribute names that are read on anything but self, anywhere in the project
        self.edits: list[MethodEdit] = []
        self.moved: list[tuple[SourceFile, Span]] = []
        self.collection_classes: set[str] = set()
        self.carried: set[tuple[ast.For, str]] = set()  # loops of setup that keep a size, see `carried`
        text.namer = namer

    def write(self) -> list[MethodEdit]:
        """All edits of the class; raises Unmigratable."""
        self.text._build_all()
        self.by_base = inheritance.delegated(self.text)
        self._header()
        self._methods()
        self._constructor()
        return self.edits

    def put(
        self,
        node: ast.AST | Span,
        *parts: Part,
        source: SourceFile | None = None,
        in_place: bool = False,
        parity: tuple[str, ...] = (),
    ) -> None:
        where = source or self.source
        span = node if isinstance(node, Span) else where.span(node)
        edit = MethodEdit(where, span, tuple(parts), in_place=in_place, parity=parity)
        for other in self.edits:
            if other.source is where and other.span == span and not other.insert:
                if other.parts != edit.parts:
                    raise Unmigratable("NNX170", "one place in the code would have to become two different things")
                return
        self.edits.append(edit)

    def insert(self, at: int, *parts: Part, source: SourceFile | None = None, order: int = 0) -> None:
        self.edits.append(MethodEdit(source or self.source, Span(at, at), tuple(parts), insert=True, order=order))

    def remove(self, source: SourceFile, span: Span) -> None:
        """Take lines away."""
        self.edits.append(MethodEdit(source, span, ()))

    def laid_out_at(self, site: Site, parts: Parts) -> Parts:
        """Generated text for the statement that holds a site."""
        return self._laid_out(parts, site.source.indent_of(self._statement(site)))

    def calls_of(self, site: Site) -> None:
        """The edits of a site's calls."""
        self._calls(site)

    # header ----------------------------------------------------------------------------------------------------
    def _header(self) -> None:
        for base, name in zip(self.model.node.bases, self.model.info.bases):
            if name == "flax.linen.Module":
                self.put(base, self.namer.name("flax.nnx.Module"))
            elif name == cells.BASE:
                self.put(base, self.namer.name("flax.nnx.RNNCellBase"))
        for keyword in self.model.node.keywords:
            if keyword.arg in ("kw_only", "eq", "frozen", "repr", "order"):
                raise Unmigratable("NNX171", f"the class has the dataclass option {keyword.arg}", self.model.node)
        for decorator in self.model.node.decorator_list:
            name = self.run.project.qualname(self.source, decorator.func if isinstance(decorator, ast.Call) else decorator)
            if name in ("dataclasses.dataclass", "flax.struct.dataclass"):
                raise Unmigratable("NNX171", "the class is decorated as a dataclass", self.model.node)

    # methods ---------------------------------------------------------------------------------------------------
    def _methods(self) -> None:
        own = list(self.model.own_methods.values())
        inherited = {m for m in self.run.inlined if m.owner is not self.model}
        for method in [*own, *inherited]:
            self._decorators(method)
        for site in self.run.sites:
            if site in self.by_base:
                self._calls(site)
            else:
                self._site_edit(site)
        for span, parts in setup_names.edits(self.run, self.text.renamed):
            self.put(span, *parts)
        for _, module in held_modules(self.run):
            self._calls(module.site)
        for site in self.run.reached.values():
            self._calls(site)
        for method in own:
            self._rewrite_body(method)
        factories.rewrite(self)
        helper_functions.write(self)
        for label, (statement, name) in self.text.names.iterators.items():
            start = self.source.line_span(statement).start
            indent = self.source.indent_of(statement)
            self.insert(start, f"{indent}{name} = iter({label}){self.source.newline}")
        for loop, counter in self.text.names.counters.items():
            self._count_loop(loop, counter)
        for call, value in self.run.constants.items():
            self._constant(call, value)
        for read in self.run.variable_reads.values():
            self.put(read.node, *self.text.variable_read(read), source=read.source)
        for where, span, parts in lifted_functions.edits(self.text):
            self.put(span, *parts, source=where, parity=elsewhere.parity_of(self.source, where, parts))
        for applied in self.run.applied.values():
            self._applied(applied)
        for sow in self.run.sows:
            self._sow(sow)
        self._calltime_parameters()
        self._drop_unused()
        for span, parts in cells.method_edits(self):
            self.put(span, *parts)
        for span, parts in cells.key_lines(self):
            self.insert(span.start, *parts)
        bodies = [(m.node, m.source) for m in own]
        choices.drop_factories(self, bodies)
        for left in choices.left_over(self, bodies):
            raise Unmigratable("NNX130", f"`{ast.unparse(left)}` is used in a way that cannot be followed", left)

    def _decorators(self, method: Method) -> None:
        for decorator, name in zip(method.node.decorator_list, method.decorators):
            if name in ("flax.linen.compact", "flax.linen.nowrap"):
                span = method.source.line_span(decorator)
                self.put(span, source=method.source)

    def _site_edit(self, site: Site) -> None:
        if site.choice and site.kind in ("layer", "class"):
            choices.write(self, site)
            return
        if site.through:
            helper_functions.site_edit(self, site)
            return
        if site.in_setup and site.kind != "rng":
            self._setup_site(site)
            self._calls(site)
            return
        if site.lazy:
            self._lazy_variable(site)
            return
        if site.kind == "rng":
            self.put(site.node, f"{site.holder}.{self.stream(site.target)}()", source=site.source)
            return
        if self.text.is_wrapper(site):
            expression = self.text.built[site][0].expression
            indent = site.source.indent_of(_statement_of(site.source, site.node))
            self.put(site.node, *self._laid_out(expression, indent), source=site.source)
            self._calls(site)
            return
        said = self.text.reference(site)
        if site.kind == "param":
            said = (*said, "[...]")
        if "dtype" in site.renders:
            argument, node = site.renders["dtype"]
            said = (f"{self.namer.parity('in_dtype')}(", *said, ", ", site.source.span(node), f", {argument!r})")
        self.put(site.node, *said, source=site.source)
        self.moved.append((site.source, site.source.span(site.node)))
        self._calls(site)

    def _lazy_variable(self, site: Site) -> None:
        """A variable whose first value needs the call is made where it is first asked for, as Linen did."""
        assert site.name is not None
        source, name = site.source, site.name.constant
        statement = _statement_of(source, site.node)
        newline = source.newline
        rest = [*site.node.args[2:], *[k.value for k in site.node.keywords if k.arg == "init_fn"]]
        if not rest or any(isinstance(a, ast.Starred) for a in rest):
            raise Unmigratable("NNX166", "a variable has no plain initial value", site.node)
        function: Parts = (source.span(rest[0]),)
        if isinstance(rest[0], ast.Lambda):
            function = ("(", *function, ")")
        made = joined(function, [(source.span(a),) for a in rest[1:]])
        kind = self.text.variable_type(site.target)
        inner = source.indent_of(statement) + source.indent_unit
        test: Parts = (f"if not hasattr(self, {name!r}):{newline}{inner}self.{name} = {kind}(",)
        self._put_before(source, statement, [(*test, *self._laid_out(made, inner), ")")])
        self.put(site.node, f"self.{name}", source=source)

    def stream(self, stream: str) -> str:
        name = "rngs" if stream == "rngs" else f"{stream}_rngs"
        while name in self.run.fields:
            name += "_"
        self.text.streams[stream] = name
        return name

    def _setup_site(self, site: Site) -> None:
        before, expression = self.text.built[site][0].before, self.text.built[site][0].expression
        if before:
            statement = self._statement(site)
            indent, unit, newline = site.source.indent_of(statement), site.source.indent_unit, site.source.newline
            lines: list[Part] = []
            for depth, line in before:
                lines += [unit * depth, *self._laid_out(line, indent + unit * depth), newline, indent]
            self.insert(site.source.span(statement).start, *lines, source=site.source)
        for name, option in lifted.kept_options(self.text, site).values():
            statement = self._statement(site)
            after = f"{site.source.newline}{site.source.indent_of(statement)}"
            at = site.source.span(statement).start
            self.insert(at, f"self.{name} = ", site.source.span(option), after, source=site.source)
        carried = self.run.carried.get(site)
        if carried:
            carried_lists.write(self, site, carried, expression)
            return
        laid = self._laid_out(expression, site.source.indent_of(self._statement(site)))
        when = setup_conditions.made_when(self.text, site)
        if when is not None:
            laid = (*laid, f" if {when} else None") if when else ("None",)
        self.put(site.node, *laid, source=site.source)

    def _statement(self, site: Site) -> ast.stmt:
        for node in site.source.ancestors(site.node):
            if isinstance(node, ast.stmt):
                return node
        raise AssertionError("a construction stands in a statement")

    def _calls(self, site: Site) -> None:
        seen: set[ast.Call] = set()
        for node, method, env in site.calls:
            if node in seen or env.source.path != site.source.path:
                continue
            seen.add(node)
            self._environment = env
            others = [s for s in self.run.sites if s is not site and any(call is node for call, _, _ in s.calls)]
            if others and not site.choice and any(s.lifted for s in [site, *others]):
                parts = lifted.alternative_call(self.text, [site, *others], node, method)
                self.put(node, *parts, source=env.source)
            elif site.kind == "layer" and not lifted.levels_of(self.text, site, node, method):
                self._layer_call(site, node, method, env.source)
            elif lifted.levels_of(self.text, site, node, method):
                self._lifted_call(site, node, method)
            elif site.kind == "class" and cells.is_carry_call(self, site, method):
                self.put(node, *cells.carry_call(env.source, node), source=env.source)
            elif site.kind == "class":
                self._class_call(site, node, env.source)

    def _calltime(self, site: Site, source: SourceFile, call: ast.Call) -> list[tuple[str, Parts]]:
        """Flags that Linen gave to the constructor and NNX takes at the call."""
        layer = layers.lookup(site.target)
        assert layer is not None
        found: list[tuple[str, Parts]] = []
        for name in self.text.moved_fields(site, layer):
            node = site.bound[name].node
            if node is not None:
                flag_names.check(self.run, source, node, call, self._environment)
                found.append((name, (source.span(node),)))
        for key, (node, where, _) in site.calltime.items():
            if site.factory is not None and site.factory.field:
                found.append((key, (self.text._calltime_name(site, key),)))
            elif where is source:
                flag_names.check(self.run, source, node, call, self._environment)
                found.append((key, (source.span(node),)))
        return found

    def _layer_call(self, site: Site, node: ast.Call, method: str, source: SourceFile) -> None:
        layer = layers.lookup(site.target)
        assert layer is not None
        args = {k: layers.Arg(self._argument_text(b), b.abs.value) for k, b in site.bound.items()}
        positional: list[Parts] = [(source.span(a),) for a in node.args]
        keywords: list[tuple[str | None, Parts]] = [
            (k.arg, (source.span(k.value),) if k.arg else ("**", source.span(k.value))) for k in node.keywords
        ]
        differing = field_kinds.flags(site)
        moved: list[tuple[str | None, Parts]] = [] if differing else list(self._calltime(site, source, node))
        before = (list(positional), list(keywords), None if method == "__call__" else method)
        given = [*keywords, *moved]
        if method == "__call__":
            after = layer.call(args, positional, given)
        else:
            after = layer.call_method(method, args, positional, given)
        for part in layer.parity_of_call(args, [k for k, _ in after[1]]):
            self.namer.parity(part)
        if site.alternatives:
            self._same_call(site, method, positional, keywords, after if not moved else None, node)
        if (list(after[0]), list(after[1]), after[2]) == before and not moved and not differing:
            return
        func: Parts = (source.span(node.func),)
        if method != "__call__" and isinstance(node.func, ast.Attribute):
            func = (source.span(node.func.value),)
        if after[2] is not None:
            func = (*func, f".{after[2]}")
        arguments = list(after[0]) + [(f"{k}=", *p) if k else p for k, p in after[1]]
        if differing:
            arguments.append(self._taken(site, differing, source, node))
        named = [self.text.named(a) for a in arguments]
        self.put(node, *self._laid_out(joined(func, named), source.indent_of(_statement_of(source, node))), source=source)

    def _same_call(
        self, site: Site, method: str, positional: list[Parts], keywords: list, after: object, node: ast.Call
    ) -> None:
        """Every kind of module must be called with the same arguments, flags apart."""
        for kind in (site, *site.alternatives) if after is None else site.alternatives:
            layer = layers.lookup(kind.target)
            assert layer is not None
            args = {k: layers.Arg(self._argument_text(b), b.abs.value) for k, b in kind.bound.items()}
            if method == "__call__":
                made = layer.call(args, positional, keywords)
            else:
                made = layer.call_method(method, args, positional, keywords)
            after = made if after is None else after
            if made != after or layer.parity_of_call(args, [k for k, _ in made[1]]):
                raise Unmigratable("NNX163", "modules of several kinds are called in different ways in NNX", node)

    def _taken(self, site: Site, flags: dict[str, tuple[Site, Any]], source: SourceFile, call: ast.Call) -> Parts:
        """`**linen_parity.taken(self.norm, use_running_average=...)`: flags for those modules that have them."""
        if self.text.names.places[site].iterator:
            raise Unmigratable("NNX163", "modules of several kinds with different flags are made in nested loops", site.node)
        parts: list[Part] = ["**", self.namer.parity("taken"), "(", *self.text.reference(site)]
        for key, (kind, (node, where, _)) in flags.items():
            layer = layers.lookup(kind.target)
            keyword = layer.call_time_fields.get(key, key) if layer is not None else key
            if kind.factory is not None and kind.factory.field:
                parts += [f", {keyword}={self.text._calltime_name(kind, key)}"]
            elif where is source:
                flag_names.check(self.run, source, node, call, self._environment)
                parts += [f", {keyword}=", source.span(node)]
            else:
                raise Unmigratable("NNX172", f"`{key}` of a module is set in another file", site.node)
        return (*parts, ")")

    def _argument_text(self, bound: BoundArg) -> Parts:
        """A constructor argument as the method says it, for the few calls that repeat one."""
        if isinstance(bound.abs.value, Module):
            place = self.text.names.places.get(bound.abs.value.site)
            if place is not None and place.kind == "attribute":
                return (place.object,)
        if bound.node is None or bound.localized is None or bound.localized.source is not self.source:
            return ("",)
        return (self.source.span(bound.node),)

    def _class_call(self, site: Site, node: ast.Call, source: SourceFile) -> None:
        """A factory's flags, which a submodule's call now takes, are handed to it."""
        called = self.text.plans.get(site.target)
        keywords = called.details.call_keywords if called is not None and called.details is not None else {}
        extra: list[Part] = []
        for name in merged_flags.moved(self.text, site):
            value = site.bound[name].node
            assert value is not None
            extra += [", " if extra or node.args or node.keywords else "", f"{name}=", source.span(value)]
        if not keywords and not extra:
            return
        for keyword, (field, key) in keywords.items():
            bound = site.bound.get(field)
            factory = bound.abs.value if bound is not None else None
            if not isinstance(factory, Factory):
                raise Unmigratable("NNX172", f"`{key}` of the modules in `{field}` is not known here", node)
            taking = next((kind for kind in factory.kinds() if key in kind.calltime), None)
            if taking is None:
                continue  # a kind of module that has no such flag
            value, where, _ = taking.calltime[key]
            if factory.field:
                extra += [", " if extra or node.args or node.keywords else "", f"{keyword}={keyword}"]
            elif where is source:
                flag_names.check(self.run, source, value, node, self._environment)
                extra += [", " if extra or node.args or node.keywords else "", f"{keyword}=", source.span(value)]
            else:
                raise Unmigratable("NNX172", f"`{key}` of the modules in `{field}` is set in another file", node)
        end = source.span(node).end - 1
        if source.text[end] != ")":
            raise Unmigratable("NNX172", "a call that does not end in a bracket", node)
        self.insert(end, *extra, source=source)

    def _lifted_call(self, site: Site, node: ast.Call, method: str) -> None:
        lines, expression = lifted.call_edit(self.text, site, node, method)
        statement = _statement_of(site.source, node)
        self._put_before(site.source, statement, lines)
        self.put(node, *expression, source=site.source)

    def _put_before(self, source: SourceFile, statement: ast.stmt, lines: Sequence[Parts]) -> None:
        """Lines of their own before a statement; one that stands behind its `def` moves to the next line."""
        indent, newline, own = source.indent_of(statement), source.newline, source.shares_line(statement)
        parts: list[Part] = [newline] if own and lines else []
        for line in lines:
            parts += [indent, *line, newline]
        if lines:
            at = source.span(statement).start if own else source.line_span(statement).start
            self.insert(at, *parts, *([indent] if own else []), source=source)

    def _rewrite_body(self, method: Method) -> None:
        """Variables, setup's parameters and containers, factories."""
        run, source = self.run, method.source
        for node in ast.walk(method.node):
            if isinstance(node, ast.Attribute):
                base = run.evaluated.get(node.value)
                if node.attr == "value" and base is not None and isinstance(base.value, Variable):
                    self.put(node, source.span(node.value), "[...]", source=source)
                elif base is not None and isinstance(node.ctx, ast.Load) and members(base.value):
                    self._module_attribute(node, members(base.value), source)
                elif _is_self(node.value) or (base is not None and isinstance(base.value, SelfModule)):
                    held = run.attributes.get(node.attr)
                    key = self.text.setup_params.get(node.attr)
                    read = isinstance(node.ctx, ast.Load) and method.name != "setup"
                    if held is not None and isinstance(held.value, SetupParam) and (read or key is not None):
                        shown: Parts = (source.span(node),) if key is None else (f"self.{key}",)
                        self.put(node, *shown, *(("[...]",) if read else ()), source=source)
            elif isinstance(node, ast.Assign) and method.name == "setup":
                self._container(node, source)
            if isinstance(node, ast.Call) and _is_super_call(node, "setup") and inheritance.setup_owner(self.text):
                call = self._laid_out(inheritance.call_of_base(self.text), source.indent_of(_statement_of(source, node)))
                self.put(node, *call, source=source)

    def _module_attribute(self, node: ast.Attribute, modules: tuple[Module, ...], source: SourceFile) -> None:
        """`self.dense.features`: layers of NNX keep some arguments and parameters under other names."""
        found = {m.site.target: layers.lookup(m.site.target) for m in modules if m.site.kind == "layer"}
        names = {layer.attributes.get(node.attr, node.attr) for layer in found.values() if layer is not None}
        if not names or names == {node.attr}:
            return
        if len(names) > 1 or len(found) < len({m.site.target for m in modules}):
            raise Unmigratable("NNX127", f"`{ast.unparse(node)}` is kept under different names", node)
        self.put(node, source.span(node.value), f".{names.pop()}", source=source)

    def text_at(self, parts: Parts, source: SourceFile, node: ast.AST) -> Parts:
        """Parts laid out for the statement that holds a node."""
        return self._laid_out(parts, source.indent_of(_statement_of(source, node)))

    def _container(self, node: ast.Assign, source: SourceFile) -> None:
        """`self.layers = [...]` of modules needs nnx.List: NNX refuses plain containers."""
        target = node.targets[0]
        if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"):
            return
        if isinstance(node.value, ast.Constant) and node.value.value is None and self._holds_module(target.attr, node):
            self.put(node.value, f"{self.namer.name('flax.nnx.data')}(None)", source=source)
            return
        found = self.run.evaluated.get(node.value)
        if found is None or isinstance(found.value, Module | Either) or next(self.run.modules_in(found.value), None) is None:
            return
        if isinstance(node.value, ast.ListComp) and any(
            self.run.carried.get(site) for site in self.run.modules_in(found.value)
        ):
            return
        for container in [node.value, *self._inner_containers(node.value)]:
            kind = "Dict" if isinstance(container, ast.Dict | ast.DictComp) else "List"
            span = source.span(container)
            self.put(span, f"{self.namer.name(f'flax.nnx.{kind}')}(", span, ")", source=source)

    def _inner_containers(self, outer: ast.expr) -> Iterator[ast.expr]:
        """Lists and dicts of modules within another, which NNX refuses as well; not those given to a layer."""
        for child in ast.iter_child_nodes(outer):
            if not isinstance(child, ast.expr) or isinstance(child, ast.Call | ast.Lambda):
                continue
            found = self.run.evaluated.get(child)
            if isinstance(child, ast.List | ast.Tuple | ast.ListComp | ast.Dict | ast.DictComp) and found is not None:
                if next(self.run.modules_in(found.value), None) is not None:
                    yield child
            yield from self._inner_containers(child)

    def _holds_module(self, attribute: str, none: ast.Assign) -> bool:
        """Is a module assigned to the attribute in setup besides None? NNX must be told, where it is None first."""
        setup = self.model.method("setup")
        for node in ast.walk(setup.node) if setup is not None else ():
            targets = node.targets if isinstance(node, ast.Assign) else []
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Attribute) and t.attr == attribute for t in targets):
                found = self.run.evaluated.get(node.value)
                if found is not None and next(self.run.modules_in(found.value), None) is not None:
                    assert setup is not None
                    if not exclusive(none, node, setup.node):
                        return True
        return False

    def _count_loop(self, loop: ast.For, counter: str) -> None:
        if isinstance(loop.target, ast.Name) and loop.target.id == "_" and _is_range(loop.iter):
            self.put(loop.target, counter, in_place=True)
            return
        target = self.source.span(loop.target)
        bracket = isinstance(loop.target, ast.Tuple) and self.source.text[target.start] != "("
        inner: Parts = ("(", target, ")") if bracket else (target,)
        self.put(target, f"{counter}, ", *inner, in_place=True)
        iterator = self.source.span(loop.iter)
        self.put(iterator, "enumerate(", iterator, ")", in_place=True)

    def _constant(self, call: ast.Call, value: str) -> None:
        for method in self.model.methods().values():
            if any(n is call for n in ast.walk(method.node)):
                self.put(call, value, source=method.source)

    def _applied(self, applied: Applied) -> None:
        """`self.head.apply({"params": {"kernel": k}}, x)`: the layer's function on the weights given."""
        source = applied.source
        parts: list[Part] = [f"{self.namer.parity('dense')}(", source.span(applied.inputs)]
        parts += [", ", source.span(applied.weights["kernel"])]
        if "bias" in applied.weights:
            parts += [", ", source.span(applied.weights["bias"])]
        for option in DENSE_OPTIONS:
            bound = applied.site.bound.get(option)
            if bound is None:
                continue
            if bound.node is None or not lifted.outside_setup(self.text, applied.site, bound.node):
                raise Unmigratable("NNX149", f"`{option}` of a layer that is applied is known to setup only", applied.node)
            same = applied.site.source is source
            parts += [f", {option}=", applied.site.source.span(bound.node) if same else ast.unparse(bound.node)]
        self.put(applied.node, *parts, ")", source=source)

    def _sow(self, node: ast.Call) -> None:
        for method in self.model.own_methods.values():
            if any(n is node for n in ast.walk(method.node)):
                if not node.args or not isinstance(node.args[0], ast.Constant):
                    raise Unmigratable("NNX143", "the collection of a sown value is not a constant", node)
                collection = str(node.args[0].value)
                if collection not in VARIABLE_TYPES:
                    self.collection_classes.add(collection)
                self.put(node.args[0], self.text.variable_type(collection), source=method.source)

    def _calltime_parameters(self) -> None:
        """Flags that factories in fields used to hold become keyword-only parameters of the methods that use them."""
        if not self.text.call_keywords:
            return
        method = self.model.own_methods.get("__call__")
        if method is None or any(s.method != "__call__" for s in self.run.sites if s.factory and s.factory.field):
            raise Unmigratable("NNX172", "modules made by a field's factory are used outside of __call__")
        missing = [k for k in self.text.call_keywords if k not in {p.arg for p in method.parameters}]
        arguments = method.node.args
        if arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
            raise Unmigratable("NNX172", "__call__ already has keyword-only arguments")
        last = [*arguments.args, *arguments.defaults][-1]
        end = max(self.source.span(n).end for n in [*arguments.args, *arguments.defaults])
        del last
        if missing:
            kinds = {name: "bool | None = None" if name in self.text.perhaps else "bool" for name in missing}
            self.insert(end, ", *, " + ", ".join(f"{name}: {kind}" for name, kind in kinds.items()))

    # unused assignments ----------------------------------------------------------------------------------------
    def _drop_unused(self) -> None:
        """Assignments that only fed constructors are removed from the methods."""
        statements = {
            step.statement: step
            for block in self.run.blocks.values()
            for step in _locals(block)
            if step.source is self.source
        }
        methods = [m for m in self.model.own_methods.values() if m.name != "setup"]
        gone = [span for source, span in self.moved if source is self.source]
        edits = [e for e in self.edits if e.source is self.source]
        kept_inside = [p for e in edits for p in e.parts if isinstance(p, Span)]
        for method in methods:
            own = [s for s in statements if any(n is s for n in ast.walk(method.node))]
            while True:
                own_reads = {  # a statement that changes a list reads it, which alone keeps neither
                    n
                    for s in own
                    if statements[s].changes and not _only_statement(self.source, s)
                    for n in ast.walk(s)
                    if isinstance(n, ast.Name) and n.id in statements[s].names
                }
                loads = {
                    n.id
                    for n in ast.walk(method.node)
                    if isinstance(n, ast.Name)
                    and isinstance(n.ctx, ast.Load)
                    and n not in own_reads
                    and not self._is_gone(self.source.span(n), gone, kept_inside)
                }
                found = next(
                    (
                        s
                        for s in own
                        if not (statements[s].names & loads)
                        and self._was_moved(method, statements[s], gone)
                        and not _only_statement(self.source, s)
                    ),
                    None,
                )
                if found is None:
                    break
                own.remove(found)
                span = self.source.line_span(found)
                gone.append(span)
                self.edits.append(MethodEdit(self.source, span, ()))

    def _is_gone(self, span: Span, gone: list[Span], kept: list[Span]) -> bool:
        inside = [g for g in gone if g.contains(span)]
        if not inside:
            return False
        # Text that an edit keeps (a flag moved to the call) is still there.
        return not any(k.contains(span) and any(g.contains(k) for g in inside) and k not in gone for k in kept)

    def _was_moved(self, method: Method, step: Local, gone: list[Span]) -> bool:
        """Was the name read by what has moved to the constructor? What was unused before is not ours to remove."""
        if isinstance(self.run.evaluated.get(getattr(step.statement, "value", step.statement)), type(None)):
            return False
        return any(
            isinstance(n, ast.Name)
            and n.id in step.names
            and isinstance(n.ctx, ast.Load)
            and any(g.contains(self.source.span(n)) for g in gone)
            for n in ast.walk(method.node)
        )

    # constructor -----------------------------------------------------------------------------------------------
    def _constructor(self) -> None:
        model, source = self.model, self.source
        setup = model.own_methods.get("setup")
        if model.bases and not inheritance.needs_constructor(self.text):
            return
        fields = model.fields()
        post = model.own_methods.get("__post_init__")
        if post is not None:
            raise Unmigratable("NNX173", "the class has a __post_init__", post.node)
        if any(f.name.startswith("__") for f in fields):
            raise Unmigratable("NNX173", "a field's name starts with two underscores")
        indent = source.indent_of(model.node.body[0]) or source.indent_of(model.node) + source.indent_unit
        body = indent + source.indent_unit
        lines: list[Parts] = []
        stored = self._stored(fields)
        for field in fields:
            if field.factory is not None:
                lines.append((f"if {field.name} is None:",))
                lines.append((source.indent_unit, f"{field.name} = ", self._default(field.factory, field), "()"))
        lines += [(f"self.{f.name} = ", *self._stored_value(f)) for f in fields if f.name in stored]
        for field in model.own_fields:  # no argument of the constructor, but perhaps a value
            value = field.default or field.factory
            if not field.init and value is not None:
                lines.append((f"self.{field.name} = ", self._default(value, field), "" if field.default else "()"))
        lines += rank_checks.lines(self.text)
        if self.run.mode_flag:
            lines.append(("self.use_running_average = True  # train() sets it to False, eval() to True",))
        compact: list[Parts] = []
        if setup is None and self.by_base:
            compact.append(inheritance.call_of_base(self.text))
        for held in [h for h in self.text.names.lists if not h.named_by]:
            compact.append(held.assigned((f"{self.namer.name('flax.nnx.List')}()",)))
        for entry in self.run.blocks:
            if entry == "setup":
                continue
            for depth, line in constructor_text.constructor_lines(self.text, entry):
                prefix = source.indent_unit * depth
                compact.append((prefix, *self._laid_out(line, body + prefix)) if prefix else self._laid_out(line, body))
        streams = [(f"self.{attribute} = rngs.{stream}.fork()",) for stream, attribute in sorted(self.text.streams.items())]
        signature = self._signature(fields, indent, body)
        self._remove_fields(model)
        newline = source.newline
        everything = [*lines, *([] if setup is not None else compact), *([] if setup is not None else streams)]
        if setup is not None:
            head = Span(source.full_span(setup.node).start, source.span(setup.node.body[0]).start)
            first = setup.node.body[0]
            doc: list[Part] = []
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
                doc = [source.span(first), newline, source.indent_of(first)]
                head = Span(head.start, source.span(first).end)
                if len(setup.node.body) == 1:
                    doc = [source.span(first)]
                else:
                    head = Span(head.start, source.span(setup.node.body[1]).start)
            comment = source.text[source.text.find(":", _signature_end(source, setup.node)) + 1 : head.end]
            inner = source.indent_of(first)
            opening: list[Part] = [*signature, newline, inner, *doc]
            for line in lines:
                opening += [*line, newline, inner]
            if "#" in comment and not doc:
                opening += [comment.strip(), newline, inner]
            self.put(head, *opening)
            tail = source.line_span(setup.node.body[-1]).end
            late = [*compact, *streams]
            if late:
                self.insert(tail, *[p for line in late for p in (inner, *line, newline)])
            if len(setup.node.body) == 1 and isinstance(first, ast.Pass) and (lines or late):
                self.put(first, "pass")
            return
        if not everything:
            everything = [("pass",)] if not fields and not model.bases else [("del rngs  # nothing to create",)]
            if not fields and not self.text.added():
                everything = [("del rngs  # nothing to create",)]
        at = self._constructor_place(model)
        written: list[Part] = [indent, *signature, newline]
        for line in everything:
            written += [body, *line, newline]
        self.insert(at, *written, newline if not self._blank_follows(at) else "", order=-1)

    def _stored(self, fields: Iterable[Field]) -> set[str]:
        """Fields that are read after construction, here or elsewhere."""
        kept: set[str] = set(self.text.shadowed)
        gone = [span for source, span in self.moved if source is self.source]
        kept_spans = [p for e in self.edits if e.source is self.source for p in e.parts if isinstance(p, Span)]
        deleted = [e.span for e in self.edits if e.source is self.source and not e.parts and not e.insert]
        names = {f.name for f in fields}
        for owner in self.model.mro():
            for node in ast.walk(owner.node):
                if isinstance(node, ast.Attribute) and node.attr in names:
                    if owner is self.model and isinstance(node.value, ast.Name) and node.value.id == "self":
                        span = self.source.span(node)
                        dropped = any(d.contains(span) for d in deleted) or self._is_gone(span, gone, kept_spans)
                        if dropped and not any(k.contains(span) and k not in gone for k in kept_spans):
                            continue
                    kept.add(node.attr)
        kept |= inheritance.read_by_plain_bases(self.text, names)
        for other in self.text.analyser.classes:
            if other is not self.model and self.model in other.mro():
                kept |= {n.attr for n in ast.walk(other.node) if isinstance(n, ast.Attribute) and n.attr in names}
        # What is handed in stays an attribute even where nothing reads it: Linen stores its variables there.
        return kept | (names & (self.loaded | self.text.shadowed | set(self.run.held)))

    def _stored_value(self, field: Field) -> Parts:
        """What is stored of a field: NNX refuses plain lists of modules."""
        if isinstance(self.run.held.get(field.name), Repeated):
            return (f"{self.namer.name('flax.nnx.List')}({field.name})",)
        return (field.name,)

    def _default(self, node: ast.expr, field: Field) -> Part:
        return self.source.span(node) if field.source is self.source else ast.unparse(node)

    def _signature(self, fields: list[Field], indent: str, body: str) -> Parts:
        nnx_rngs = self.namer.name("flax.nnx.Rngs")
        plain: list[Parts] = []
        only: list[Parts] = []
        for field in fields:
            parts: list[Part] = [field.name]
            if field.annotation is not None:
                parts += [": ", self._default(field.annotation, field)]
            if field.factory is not None:
                parts += [" | None = None"]
            elif field.default is not None:
                parts += [" = " if field.annotation is not None else "=", self._default(field.default, field)]
            (only if field.kw_only else plain).append(tuple(parts))
        seen_default = False
        for field in fields:
            if field.kw_only:
                continue
            has = field.default is not None or field.factory is not None
            if seen_default and not has:
                raise Unmigratable("NNX174", f"the field {field.name} without a default follows one with", field.node)
            seen_default = has
        for added, _, index in self.text.added():
            kind = "int" if index == -1 else "tuple[int, ...]"
            if (self.model.qualname, added.name) in self.text.analyser.partial:
                kind = "tuple[int | None, ...]"
            optional = " | None" if added.origin.startswith("None if") else ""
            only.append((f"{added.name}: {kind}{optional}",))
        for name in self.text.dtypes():
            any_type, default = self.namer.name("typing.Any"), self.namer.name("jax.numpy.float32")
            only.append((f"{name}: {any_type} = {default}",))
        only.append((f"rngs: {nnx_rngs}",))
        everything: list[Parts] = [("self",), *plain, ("*",), *only]
        total = sum(length(piece) + 2 for piece in everything) + len(indent) + 16
        out: list[Part] = ["def __init__("]
        if total <= 100:
            for position, piece in enumerate(everything):
                out += [", " if position else "", *piece]
            return (*out, "):")
        newline = self.source.newline
        deep = body + self.source.indent_unit if len(self.source.indent_unit) < 4 else body
        out += [newline]
        for piece in everything:
            out += [deep, *piece, ",", newline]
        return (*out, indent, "):")

    def _remove_fields(self, model: object) -> None:
        for field in self.model.own_fields:
            self.put(self.source.line_span(field.node))

    def _constructor_place(self, model: object) -> int:
        """Where `__init__` goes: in place of the last field, else before the first method, after class attributes."""
        source, body = self.source, self.model.node.body
        fields = [f.node for f in self.model.own_fields]
        if fields:
            return source.line_span(fields[-1]).end
        for statement in body:
            if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
                return source.line_span(statement).start
        return source.line_span(body[-1]).end

    def _blank_follows(self, at: int) -> bool:
        line = self.source.text[at : self.source.text.find("\n", at) + 1]
        return not line.strip()

    def _laid_out(self, parts: Parts, indent: str) -> Parts:
        """BREAK and CLOSE marks as line ends, for a statement at `indent`."""
        out: list[Part] = []
        depth = 0
        for part in parts:
            if part == BREAK:
                out.append(self.source.newline + indent + self.source.indent_unit * 2)
            elif part == CLOSE:
                out.append(self.source.newline + indent)
            else:
                out.append(part)
        del depth
        return tuple(out)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _locals(block: object) -> Iterator[Local]:
    for step in block.steps:  # type: ignore[attr-defined]
        if isinstance(step, Local):
            yield step
        for name in ("body", "then", "orelse"):
            inner = getattr(step, name, None)
            if inner is not None:
                yield from _locals(inner)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def _only_statement(source: SourceFile, statement: ast.stmt) -> bool:
    parent = source.parents.get(statement)
    return next((len(block) == 1 for block in _blocks(parent) if statement in block), True) if parent else True


def _statement_of(source: SourceFile, node: ast.AST) -> ast.stmt:
    for parent in source.ancestors(node):
        if isinstance(parent, ast.stmt):
            return parent
    raise AssertionError("a call stands in a statement")


def _is_super_call(node: ast.Call, name: str) -> bool:
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == name
        and isinstance(node.func.value, ast.Call)
        and isinstance(node.func.value.func, ast.Name)
        and node.func.value.func.id == "super"
    )


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range" and len(node.args) == 1


def _signature_end(source: SourceFile, node: ast.FunctionDef) -> int:
    return source.text.find(")", source.span(node).start)


__all__ = ["ClassWriter", "Const"]
