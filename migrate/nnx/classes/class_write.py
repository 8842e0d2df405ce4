"""The edits that turn a planned class into NNX: header, constructor, methods."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence

from ... import shared_lines
from ...catalog import layers
from ...edits import Part, Parts, Span
from ...linen.execution.execute import Execution
from ...linen.lists.list_items import Passes
from ...linen.modules.applied import DENSE_OPTIONS, Applied
from ...linen.modules.made_later import LATER
from ...linen.modules.passed import held_modules
from ...linen.modules.put_variables import PUT
from ...linen.modules.self_calls import SetupParam
from ...linen.project.classes import Method
from ...linen.project.layer_fields import WHOLE
from ...linen.values.merging import ArrayOrModule, members
from ...linen.values.sites import Module, SelfModule, Site, Unmigratable, Variable
from ...source import SourceFile
from ..calls import cached_properties, call_dtypes, cells, drawn, mapped_draws, uncalled_flags, variable_values
from ..factories import choices, factories, helper_functions, wider_nothings
from ..fields import call_fields, class_scope, kept_fields, post_init
from ..generated import late_fields
from ..lifted import lifted, lifted_functions
from ..refused import class_decorators, protocols, reflection
from ..setup import carried as carried_lists
from ..setup import (
    computed_text,
    hidden_methods,
    setup_comments,
    setup_conditions,
    setup_containers,
    setup_dicts,
    setup_helpers,
    setup_methods,
    setup_names,
    setup_params,
)
from ..setup.frozen_lists import around
from ..text import elsewhere, handed_iterators, variable_places
from ..text.made_where import home_of
from ..text.text_parts import BREAK, CLOSE, MethodEdit, Namer, is_name, joined, with_comments
from . import (
    asked_presence,
    call_write,
    constructions,
    constructor_write,
    gin_lists,
    inheritance,
    inherited_reads,
    late_arguments,
    later_sizes,
    lent_fields,
    names_in_messages,
    shared_scopes,
    unused_locals,
)
from .class_text import VARIABLE_TYPES, ClassText

_REWRITTEN = (ast.Attribute, ast.Assign, ast.Call)  # what `_rewrite_body` looks at


class ClassWriter:
    """Writes one class. `edits` come out; the caller checks that no two classes want different ones."""

    def __init__(self, text: ClassText, namer: Namer, loaded: frozenset[str]) -> None:
        self.text = text
        self.run: Execution = text.run
        self.model = text.model
        self.source: SourceFile = text.source
        self.namer = namer
        self.loaded = loaded  # attribute names that are read on anything but self, anywhere in the project
        self.edits: list[MethodEdit] = []
        self.read_there: list[tuple[SourceFile, Span]] = []  # attributes of this class that methods of its bases read
        self.moved: list[tuple[SourceFile, Span]] = []
        self.collection_classes: set[str] = set()
        self.other_names: dict[str, str] = {}  # of fields, see kept_fields
        self.asked: set[str] = set()  # fields that text which is put into the methods reads
        self.named_loops: set[ast.AST] = set()  # targets `_` of loops that take the name of another loop
        self.own_names: set[str] = set()  # what lists and sizes of setup are called that had no name
        self.listed: set[ast.ListComp] = set()  # comprehensions of setup that have become loops
        self.inner_loops: dict[ast.ListComp, list[list[Part]]] = {}  # comprehensions → loops of lists within their items
        self.carried: set[tuple[ast.For, str]] = set()  # loops of setup that keep a size, see `carried`

    def write(self) -> list[MethodEdit]:
        """All edits of the class; raises Unmigratable."""
        self.text.rebuild(self.namer)
        self.by_base = inheritance.delegated(self.text)
        self.other_names = kept_fields.under_other_names(self)
        self._header()
        self._methods()
        constructor_write.write(self)
        for left in self.inner_loops:
            raise Unmigratable("NNX114", "input sizes that change along lists of lists cannot be followed", left)
        setup_comments.keep(self)
        elsewhere.check(self)
        return self.edits

    def fresh(self, stem: str) -> str:
        """A name for what had none in the user's text."""
        taken = set(self.run.fields) | self.run.trackers | self.run.all_names | self.own_names
        names = itertools.chain([stem], (f"{stem}_{i}" for i in itertools.count(2)))
        name = next(name for name in names if name not in taken)
        self.own_names.add(name)
        return name

    def put(
        self,
        node: ast.AST | Span,
        *parts: Part,
        source: SourceFile | None = None,
        in_place: bool = False,
        parity: tuple[str, ...] = (),
        imports: tuple[str, ...] = (),
    ) -> None:
        where = source or (self.source if isinstance(node, Span) else home_of(self.run, node))
        span = node if isinstance(node, Span) else where.span(node)
        if BREAK in parts or CLOSE in parts:
            indent = where.indent_before(span.start) if isinstance(node, Span) else where.indent_at(node)
            parts = self.laid_out(parts, indent)
        edit = MethodEdit(where, span, tuple(parts), in_place=in_place, parity=parity, imports=imports)
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

    # header ----------------------------------------------------------------------------------------------------
    def _header(self) -> None:
        for base, name in zip(self.model.node.bases, self.model.info.bases):
            if name == "flax.linen.Module" or (self.model.layer_fields and name in WHOLE):
                self.put(base, self.namer.name("flax.nnx.Module"))
            elif name == cells.BASE:
                self.put(base, self.namer.name("flax.nnx.RNNCellBase"))
        protocols.write(self)
        ahead: ast.AST = self.model.node.bases[-1]
        for keyword in self.model.node.keywords:
            constant = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if keyword.arg == "kw_only" and isinstance(constant, bool):  # the constructor says it
                self.edits.append(
                    MethodEdit(self.source, Span(self.source.span(ahead).end, self.source.span(keyword).end), ())
                )
            elif keyword.arg in ("kw_only", "eq", "frozen", "repr", "order"):
                raise Unmigratable("NNX171", f"the class has the dataclass option {keyword.arg}", self.model.node)
            ahead = keyword
        class_decorators.refuse(self)
        gin_lists.write(self)
        reflection.refuse(self)

    # methods ---------------------------------------------------------------------------------------------------
    def _methods(self) -> None:
        own = list(self.model.own_methods.values())
        inherited = {m for m in self.run.inlined if m.owner is not self.model}
        for method in [*own, *inherited]:
            self._decorators(method)
        for site in self.run.sites:
            if site in self.by_base and site.choice and site.kind in ("layer", "class"):
                choices.write(self, site, by_base=True)
            elif site in self.by_base:
                call_write.write(self, site)
            else:
                self._site_edit(site)
            if mapped_draws.NAME in site.renders:
                mapped_draws.write(self, site)
        for span, parts in [*setup_names.edits(self.run, self.text.renamed), *hidden_methods.edits(self.run)]:
            self.put(span, *parts)
        setup_names.write_properties(self)
        for _, module in held_modules(self.run):
            call_write.write(self, module.site)
        for site in self.run.reached.values():
            call_write.write(self, site)
        for method in own:
            self._rewrite_body(method)
        inherited_reads.write(self, inherited)
        setup_dicts.write(self)
        setup_helpers.write(self)
        setup_methods.write(self)
        if self.text.computed is not None:
            computed_text.write(self, self.text.computed)
        factories.rewrite(self)
        helper_functions.write(self)
        handed_iterators.write(self)
        wider_nothings.write(self)
        for label, (statement, name) in self.text.names.iterators.items():
            if self.text.of_wrappers(label):
                continue
            source = home_of(self.run, statement)
            handed_out = f"iter({label})"
            for place in self.text.names.lists:
                if place.iterator == name and place.maker is not None:
                    handed_out = place.handed_out(self.namer)
            line = f"{source.indent_of(statement)}{name} = {handed_out}{source.newline}"
            self.insert(with_comments(source, statement), line, source=source)
        for loop, counter in self.text.names.counters.items():
            self._count_loop(loop, counter)
        for call, value in self.run.constants.items():
            self._constant(call, value)
        setup = self.model.own_methods.get("setup")
        for node, stream in self.run.first_draws.items():  # in a compact method they go with the variable
            if setup is not None and node in setup.nodes:
                self.put(node, f"rngs.{stream}()")
        for read in self.run.variable_reads.values():
            self.put(read.node, *variable_places.said(self.text, read), source=read.source)
        for where, span, parts in lifted_functions.edits(self.text):
            parity, imports = elsewhere.named_in(self.source, where, parts)
            self.put(span, *parts, source=where, parity=parity, imports=imports)
        for applied in self.run.applied.values():
            self._applied(applied)
        for node in self.run.normalized:
            self._normalized(node)
        for sow in self.run.sows:
            self._sow(sow)
        shared_scopes.edits(self)
        cells.initial_carries(self)
        names_in_messages.edits(self)
        post_init.edits(self)
        class_scope.edits(self)
        call_write.parameters(self)
        call_fields.edits(self)
        unused_locals.drop(self)
        self._uncalled()
        for span, parts in cells.method_edits(self):
            self.put(span, *parts)
        for span, parts in cells.key_lines(self):
            self.insert(span.start, *parts)
        bodies = [(m.node, m.source) for m in own]
        choices.drop_factories(self, bodies)
        for left in choices.left_over(self, bodies):
            raise Unmigratable("NNX130", f"`{ast.unparse(left)}` is used in a way that cannot be followed", left)

    def _uncalled(self) -> None:
        """Lines of setup that make what nothing calls."""
        setup = self.model.own_methods.get("setup")
        own = setup.nodes if setup is not None else []
        for statement in (s for s in self.run.uncalled if s in own):  # the others are inherited
            parent = self.source.parents[statement]
            block = next(b for b in (parent.body, getattr(parent, "orelse", [])) if statement in b)  # type: ignore[attr-defined]
            beside = [
                s
                for s in block
                if s is not statement and {s.lineno, s.end_lineno} & {statement.lineno, statement.end_lineno}
            ]
            span = self.source.line_span(statement)
            others = [s for s in block if s not in self.run.uncalled]
            before = [s for s in others if s.lineno < statement.lineno]
            if beside or (not others and block[0] is statement):
                self.put(statement, "pass")
            elif others and all(isinstance(s, ast.Expr) for s in before):  # the constructor's head ends where it stands
                rest = self.source.text[span.end :]
                follows = span.end + len(rest) - len(rest.lstrip())
                self.put(Span(self.source.span(statement).start, follows))
            else:
                self.put(span)

    def _decorators(self, method: Method) -> None:
        for decorator, name in zip(method.node.decorator_list, method.decorators):
            if name in ("flax.linen.compact", "flax.linen.nowrap"):
                span = method.source.line_span(decorator)
                self.put(span, source=method.source)
        cached_properties.write(self, method)

    def _site_edit(self, site: Site) -> None:
        if site.choice and site.kind in ("layer", "class"):
            choices.write(self, site)
            return
        if site.through and not site.in_setup:
            helper_functions.site_edit(self, site)
            return
        if site.in_setup and site.kind != "rng":
            self._setup_site(site)
            call_write.write(self, site)
            return
        if site.lazy:
            self._lazy_variable(site)
            return
        if site.node in self.run.normalized:
            return
        if site.kind == "rng":
            once = site.in_setup and setup_params.is_for_first_values(self.run, site)
            drawn_from = f"rngs{drawn.item(site.target)}" if once else f"{site.holder}.{self.stream(site.target)}"
            self.put(site.node, f"{drawn_from}()", source=site.source)
            return
        if self.text.is_wrapper(site):
            self.put(site.node, *self.text.built[site][0].expression, source=site.source)
            call_write.write(self, site)
            return
        held = late_arguments.said(self.text, site, asked_presence.written(self, site, self.text.reference(site)))
        said = uncalled_flags.written(self, site, lent_fields.written(self, site, held))
        said = late_fields.written(self.text, site, call_dtypes.written(self, site, said))
        if LATER in site.renders:
            said = later_sizes.found(self.text, site)
        if site.kind == "param":
            said = (*said, site.opened)
        if "dtype" in site.renders:
            argument, node, _ = site.renders["dtype"]
            said = (f"{self.namer.parity('in_dtype')}(", *said, ", ", site.source.span(node), f", {argument!r})")
        self.put(site.node, *said, source=site.source)
        if not late_fields.is_remade(site):
            self.moved.append((site.source, site.source.span(site.node)))
        call_write.write(self, site)

    def _lazy_variable(self, site: Site) -> None:
        """A variable whose first value needs the call is made where it is first asked for, as Linen did."""
        assert site.name is not None
        source, name = site.source, site.name.constant
        if PUT in site.renders:
            kind, value = self.text.variable_type(site.target), source.span(site.renders[PUT])
            self.put(site.node, f"{self.namer.parity('put_variable')}(self, {kind}, {name!r}, ", value, ")", source=source)
            return
        statement = source.statement_of(site.node)
        newline = source.newline
        rest = [*site.node.args[2:], *[k.value for k in site.node.keywords if k.arg == "init_fn"]]
        if not rest or any(isinstance(a, ast.Starred) for a in rest):
            raise Unmigratable("NNX166", "a variable has no plain initial value", site.node)
        function: Parts = (source.span(rest[0]),)
        if isinstance(rest[0], ast.Lambda):
            function = ("(", *function, ")")
        named = [k for k in site.node.keywords if k.arg not in ("col", "name", "init_fn", "unbox")]
        given: list[Parts] = [(source.span(a),) for a in (*rest[1:], *named)]
        first = joined(function, given)
        if isinstance(rest[0], ast.Lambda) and not given and not ast.unparse(rest[0].args):
            first = (source.span(rest[0].body),)  # `lambda: jnp.zeros(n)`
        made = constructions.as_array(self.text, site, first)
        kind = self.text.variable_type(site.target)
        inner = source.indent_of(statement) + source.indent_unit
        test: Parts = (f"if not hasattr(self, {name!r}):{newline}{inner}self.{name} = {kind}(",)
        self.put_before(source, statement, [(*test, *self.laid_out(made, inner), ")")])
        self.put(site.node, f"self.{name}", source=source)

    def stream(self, stream: str) -> str:
        """The attribute that holds a stream, `self.field` being one that a field names."""
        name = "rngs" if stream == "rngs" else f"{stream.removeprefix('self.')}_rngs"
        while name in self.run.fields:
            name += "_"
        self.text.streams[stream] = name
        return name

    def _setup_site(self, site: Site) -> None:
        expression = self.text.built[site][0].expression
        self.put_functions(site)
        self.name_pass(site)
        for name, option in lifted.kept_options(self.text, site).values():
            statement = site.source.statement_of(site.node)
            after = f"{site.source.newline}{site.source.indent_of(statement)}"
            at = site.source.span(statement).start
            self.insert(at, f"self.{name} = ", site.source.span(option), after, source=site.source)
        carried = self.run.carried.get(site)
        when = setup_conditions.made_when(self.text, site)
        source, call = site.anchor()
        passes = site.renders.get("passes")
        tests: list[Parts] = [when] if when else []
        if isinstance(passes, Passes):
            below = passes.below
            asked: Part = source.span(passes.test) if below is None else f"{passes.counter} < {self.text.dim(below)}"
            tests.append((asked,))
        if when == ():
            expression = ("None",)
        elif len(tests) == 1:
            expression = (*expression, " if ", *tests[0], " else None")
        elif when and tests:
            alone = when if is_name(when, source.text) else ("(", *when, ")")
            expression = (*expression, " if ", *alone, " and (", *tests[1], ") else None")
        if tests and isinstance(source.parents.get(call), ast.IfExp):
            expression = ("(", *expression, ")")
        if carried:
            carried_lists.write(self, site, carried, expression)
            return
        self.put(call, *expression, source=source)

    def name_pass(self, site: Site) -> None:
        """The name that a size, or a condition of the call, has for the pass of setup's loop that makes an item."""
        passes, name = site.renders.get("passes"), site.renders.get("pass_name")
        loop = site.loops[-1].node if site.loops else None
        if loop is None or loop.target in self.named_loops or not (name or isinstance(passes, Passes)):
            return
        self.named_loops.add(loop.target)
        said = site.renders.get("pass_over")
        over: Parts = (said,) if said else site.source.enclosed(loop.iter)
        counts = isinstance(loop.iter, ast.Call) and ast.unparse(loop.iter.func) == "range" and len(loop.iter.args) == 1
        own = ast.unparse(loop.target)
        if isinstance(passes, Passes) and own != passes.counter:
            if counts and own == "_" and name is None:
                self.put(loop.target, passes.counter, source=site.source)
                return
            self.put(loop.target, f"{passes.counter}, {name or own}", source=site.source)
            self.put(loop.iter, "enumerate(", *over, ")", source=site.source)
        elif name:
            self.put(loop.target, name, source=site.source)
            if "pass_over" in site.renders:  # `range(len(self.widths))`
                self.put(loop.iter, *over, source=site.source)

    def put_functions(self, site: Site) -> None:
        """The functions that make a stack of modules, ahead of the statement of `setup` that makes it."""
        statement = site.source.statement_of(site.node)
        indent, unit, newline = site.source.indent_of(statement), site.source.indent_unit, site.source.newline
        lines: list[Part] = []
        for depth, line in self.text.built[site][0].before:
            lines += [unit * depth, *self.laid_out(line, indent + unit * depth), newline, indent]
        if lines:
            self.insert(site.source.span(statement).start, *lines, source=site.source)

    def put_before(self, source: SourceFile, statement: ast.stmt, lines: Sequence[Parts], order: int = 0) -> None:
        """Lines of their own before a statement; one that stands behind its `def` moves to the next line."""
        indent, newline, own = source.indent_of(statement), source.newline, source.shares_line(statement)
        first = shared_lines.beside(source, statement)[0]
        before = source.text[source.line_span(first).start : source.full_span(first).start]
        if lines and before.strip() and first is not statement:
            raise Unmigratable("NNX170", "what needs lines of its own stands behind a condition on its line", statement)
        if lines and before.strip() and not own:  # `if long: return f(x)`
            indent += source.indent_unit
        own = own or first is not statement or bool(lines and before.strip())
        setup = self.model.own_methods.get("setup")
        if setup is not None and statement in setup.node.body[:2] and not own:  # what is above it may become the head
            said = [part for line in lines for part in (*line, newline, indent)]
            self.insert(source.span(statement).start, *said, source=source, order=order)
            return
        parts: list[Part] = [newline] if own and lines else []
        for line in lines:
            parts += [indent, *line, newline]
        if lines:
            at = source.span(statement).start if own else source.line_span(statement).start
            self.insert(at, *parts, *([indent] if own else []), source=source, order=order)

    def _rewrite_body(self, method: Method) -> None:
        """Variables, setup's parameters and containers, factories."""
        source = method.source
        for node in method.nodes:
            if not isinstance(node, _REWRITTEN):
                continue
            if isinstance(node, ast.Attribute):
                self.rewrite_attribute(node, method)
            elif isinstance(node, ast.Assign) and method.name == "setup":
                setup_containers.write(self, node, source)
            if isinstance(node, ast.Call) and _is_super_call(node, "setup"):
                owner = inheritance.setup_owner(self.text)
                said = inheritance.call_of_base(self.text) if owner is not None else ("super().__init__()",)
                self.put(node, *said, source=source)

    def rewrite_attribute(self, node: ast.Attribute, method: Method) -> None:
        run, source = self.run, method.source
        base = run.evaluated.get(node.value)
        if node.attr == "value" and base is not None and isinstance(base.value, Variable):
            variable_values.write(self, node, base.value.site, source)
        elif base is not None and isinstance(node.ctx, ast.Load) and members(base.value):
            self._module_attribute(node, members(base.value), source)
        elif _is_self(node.value) and node.attr in self.other_names:
            opened, closed = around(self, node, source) if method.name != "setup" else ("", "")
            self.put(node, opened, source.span(node.value), f".{self.other_names[node.attr]}{closed}", source=source)
        elif _is_self(node.value) or (base is not None and isinstance(base.value, SelfModule)):
            held = run.attributes.get(node.attr)
            opened, closed = around(self, node, source) if method.name != "setup" else ("", "")
            if opened:
                self.put(node, opened, source.span(node), closed, source=source)
            if held is not None and isinstance(held.value, ArrayOrModule):
                held = run.evaluated.get(node)
            if self.text.computed is not None and node.attr in self.text.computed.attributes:
                return
            key = self.text.setup_params.get(node.attr)
            read = isinstance(node.ctx, ast.Load) and method.name != "setup"
            if isinstance(node.ctx, ast.Load) and held is not None and isinstance(held.value, SetupParam):
                read = read or setup_params.starts_another(run, source, node)
            read = read and held is not None and isinstance(held.value, SetupParam)
            if (read or key is not None) and node.attr not in self.text.renamed:
                span: Span = source.span(node)
                shown: Parts = (span,)
                if key is not None:
                    span, shown = setup_names.renaming(source, node, key)
                site = held.value.site if held is not None and isinstance(held.value, SetupParam) else None
                end = site.opened if site is not None else "[...]"
                self.put(span, *shown, *((end,) if read else ()), source=source)

    def _module_attribute(self, node: ast.Attribute, modules: tuple[Module, ...], source: SourceFile) -> None:
        """`self.dense.features`: layers of NNX keep some arguments and parameters under other names."""
        found = {m.site.target: layers.lookup(m.site.target) for m in modules if m.site.kind == "layer"}
        names = {layer.attributes.get(node.attr, node.attr) for layer in found.values() if layer is not None}
        if not names or names == {node.attr}:
            return
        if len(names) > 1 or len(found) < len({m.site.target for m in modules}):
            raise Unmigratable("NNX127", f"`{ast.unparse(node)}` is kept under different names", node)
        self.put(node, source.span(node.value), f".{names.pop()}", source=source)

    def _count_loop(self, loop: ast.For, counter: str) -> None:
        if isinstance(loop.target, ast.Name) and loop.target.id == "_" and _is_range(loop.iter):
            self.put(loop.target, counter, in_place=True)
            return
        source = home_of(self.run, loop)
        self.put(loop.target, f"{counter}, ", *source.enclosed(loop.target), in_place=True)
        self.put(loop.iter, "enumerate(", *source.enclosed(loop.iter), ")", in_place=True)

    def _constant(self, call: ast.Call, value: str) -> None:
        for method in self.model.methods().values():
            if any(n is call for n in method.nodes):
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

    def _normalized(self, node: ast.Call) -> None:
        """`_normalize(self, x, ...)` of Linen without what its parameters start from."""
        one = self.run.normalized[node]
        said: list[Parts] = [(one.source.span(n),) for n in list(one.kept.values())[:9]]
        said += [(f"{key}=", one.source.span(n)) for key, n in list(one.kept.items())[9:]]
        self.put(node, *joined((self.namer.parity("normalize"),), said), source=one.source)

    def _sow(self, node: ast.Call) -> None:
        for method in self.model.own_methods.values():
            if any(n is node for n in method.nodes):
                if not node.args or not isinstance(node.args[0], ast.Constant):
                    raise Unmigratable("NNX143", "the collection of a sown value is not a constant", node)
                collection = str(node.args[0].value)
                if collection not in VARIABLE_TYPES:
                    self.collection_classes.add(collection)
                self.put(node.args[0], self.text.variable_type(collection), source=method.source)

    # unused assignments ----------------------------------------------------------------------------------------

    # constructor -----------------------------------------------------------------------------------------------

    def laid_out(self, parts: Parts, indent: str) -> Parts:
        """BREAK and CLOSE marks as line ends, for a statement at `indent`."""
        out: list[Part] = []
        unit = self.source.indent_unit
        deeper = indent + (unit if unit == "\t" else " " * max(4, len(unit)))
        for part in parts:
            if part == BREAK:
                out.append(self.source.newline + deeper)
            elif part == CLOSE:
                out.append(self.source.newline + indent)
            else:
                out.append(part)
        return tuple(out)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


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
