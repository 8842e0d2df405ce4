"""What the forms share: edits that are made all or not at all, sizes and keys at a call, and how values are used."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence

from ...context import FileContext
from ...diagnostics import defect
from ...edits import Part, Span
from ...linen.flow import flow_changes
from ...linen.flow.flow import Flow
from ...linen.flow.flow_values import Collection, Function, Items, State, Symbol, Tracked, Value, Variables
from ...linen.project.own_boxes import own_boxes
from ...plan import ClassPlan
from ...source import SourceFile
from ...trees import subtree
from ..text.text_parts import first_on_its_line
from . import computed_inputs, drawn_inputs, formatted, origins
from .components import Component


class Unsupported(Exception):
    """A use that the form has no place for."""

    def __init__(self, node: ast.AST, reason: str) -> None:
        super().__init__(reason)
        self.node = node


JIT = {"jax.jit", "flax.nnx.jit"}
_FILLED = {"jax.numpy.ones", "jax.numpy.zeros", "jax.numpy.empty", "jax.ShapeDtypeStruct", "numpy.ones", "numpy.zeros"}
# Calls that pass their arguments on to a function of the project.
_PASSING = {"functools.partial", "jax.eval_shape"}


class Rewrite:
    """The edits of one component; `commit` carries them out unless one of them is in another's way."""

    masks: set[Symbol] | None = None  # names of trees by which an optimizer goes, where they may be made of dictionaries
    keeps_keys = True  # do the files that a program saves keep the keys and names of Linen?

    def __init__(self, component: Component, flow: Flow, contexts: dict[str, FileContext]) -> None:
        self.component = component
        self.flow = flow
        self.contexts = contexts
        self.mask_calls: set[ast.expr] = set()  # such trees that are made where the optimizer is
        self.other_masks: list[ast.expr] = []  # by which an optimizer goes, and that are none of these nor functions
        self.plan: ClassPlan = component.plans[0][0]
        self.edits: list[tuple[FileContext, Span, tuple[Part, ...]]] = []
        self.removed: dict[ast.Tuple, list[ast.AST]] = {}  # elements that go out of tuples: see `removals`
        self.dropped: set[ast.AST] = set()  # nodes in text that goes away
        self.computed: dict[ast.expr, str] = {}  # inputs that a model computes, and their names

    def run(self) -> None:
        """Understand every use and plan its edit, or raise Unsupported."""
        raise NotImplementedError

    def one_class_each(self) -> None:
        """Unsupported where the class that is constructed cannot be told."""
        for site, plans in zip(self.component.sites, self.component.plans):
            if len(plans) != 1 or site in self.component.mixed:
                raise Unsupported(site, "a class chosen at run time")

    def check_boxes(self) -> None:
        """Unsupported where trees of variables hold boxes of the program's own, which a `Functional` gives them."""
        reach = own_boxes(self.flow.project).reach
        if any(self.source(site).module in reach for site in self.component.sites):
            raise Unsupported(self.component.sites[0], "boxes of the program's own")

    def check_records(self) -> None:
        """Unsupported where a record of the project has values of the component."""
        for node, record in self.flow.uses.records:
            if self.within(record):
                raise Unsupported(node, f"a state in a {record.cls.qualname.rpartition('.')[2]}")

    def program_nodes(self) -> Iterator[tuple[ast.AST, SourceFile]]:
        """All that stands in files which may run together with the component's; other programs see none of its objects."""
        files = self.program_files()
        for name, nodes in self.flow.nodes_by_file.items():
            if name in files:
                source = self.flow.project.files[name]
                for node in nodes:
                    yield node, source

    def program_files(self) -> frozenset[str]:
        """The modules of the files which may run together with the component's."""
        site = self.component.sites[0]
        project = self.context(site).project or self.flow.project
        return project.running_with({self.source(call).module for call in self.component.sites})

    def linen_says(self, *words: str) -> bool:
        """Does a file of these with Linen classes have one of the words in its text?"""
        project = self.flow.project
        if not project.linen_says(*words):
            return False
        linen = project.linen_modules & self.program_files()
        return any(word in project.files[name].text for name in linen for word in words)

    def within(self, value: Value) -> bool:
        """Is a value of the component, or has a tuple one?"""
        return any(map(self.within, value.items)) if isinstance(value, Items) else self.component.holds(value)

    # edits -----------------------------------------------------------------------------------------------------
    def source(self, node: ast.AST) -> SourceFile:
        return self.flow.source_of[node]

    def context(self, node: ast.AST) -> FileContext:
        return self.contexts[self.source(node).module]

    def text(self, node: ast.AST) -> str:
        return self.source(node).text_of(node)

    def replace(self, node: ast.AST, *parts: Part | ast.AST) -> None:
        source = self.source(node)
        self.replace_span(node, source.span(node), *parts)

    def replace_span(self, near: ast.AST, span: Span, *parts: Part | ast.AST) -> None:
        source = self.source(near)
        if formatted.around(source, near) is not None:
            written = all(formatted.may_stand(part) for part in parts if isinstance(part, str))
            if not written or not formatted.is_placed(source, near):
                raise Unsupported(near, "a use within an f-string")
        spans = tuple(source.span(p) if isinstance(p, ast.AST) else p for p in parts)
        self.edits.append((self.context(near), span, spans))

    def insert_before(self, statement: ast.stmt, *parts: Part | ast.AST) -> None:
        """A new line before a statement; what it says of the old text is said with its edits."""
        source = self.source(statement)
        at = source.line_span(statement).start
        if source.text[at : source.full_span(statement).start].strip():
            raise Unsupported(statement, "a statement that shares its line")
        spans = [source.span(p) if isinstance(p, ast.AST) else p for p in parts]
        self.edits.append((self.context(statement), Span(at, at), (source.indent_of(statement), *spans, "\n")))

    def delete(self, statement: ast.stmt) -> None:
        """Take a statement out, with its line."""
        source = self.source(statement)
        body = self.block(statement)
        if len(body) == 1:
            self.replace(statement, "pass")
            return
        span = source.line_span(statement)
        line = source.text[span.start : span.end]
        if ";" in line or source.text[span.start : source.full_span(statement).start].strip():
            raise Unsupported(statement, "a statement that shares its line")
        self.edits.append((self.context(statement), span, ()))
        self.dropped.update(subtree(statement))

    def drop_annotation(self, function: ast.FunctionDef) -> None:
        """Take out what a function says that it returns."""
        assert function.returns is not None
        source = self.source(function)
        span = source.span(function.returns)
        arrow = source.text.rindex("->", 0, span.start)
        start = len(source.text[:arrow].rstrip())
        self.replace_span(function, Span(start, span.end), "")

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements among which `statement` stands."""
        parent = self.source(statement).parents[statement]
        for field in ("body", "orelse", "finalbody"):
            block = getattr(parent, field, None)
            if isinstance(block, list) and statement in block:
                return block
        return [statement]

    def remove(self, node: ast.Tuple, gone: Sequence[ast.AST]) -> None:
        """Elements of a tuple go; one that is left stands for it."""
        self.removed.setdefault(node, []).extend(gone)

    # uses ------------------------------------------------------------------------------------------------------
    def tracked(self) -> Iterator[tuple[ast.AST, Value]]:
        """Every expression of the component's values, outer before inner."""
        found = self.flow.uses.tracked(self.component.sites)
        return ((node, value) for node, value in found if not flow_changes.is_plain(self.flow, node))

    def parent(self, node: ast.AST) -> ast.AST:
        return self.source(node).parents[node]

    def over_keyword(self, node: ast.AST) -> ast.AST:
        """The call of a keyword argument; any other node itself: what an argument stands in, of its parent."""
        return self.parent(node) if isinstance(node, ast.keyword) else node

    def statement(self, node: ast.AST) -> ast.stmt:
        for parent in [node, *self.source(node).ancestors(node)]:
            if isinstance(parent, ast.stmt):
                return parent
        raise Unsupported(node, "an expression outside of a statement")

    def function(self, node: ast.AST) -> ast.AST | None:
        return self.flow.function_of(self.source(node), node)

    def by_whom(self, node: ast.AST) -> str:
        """The function that is given a value, as the end of a reason: " by `history.append`"."""
        call = self.over_keyword(self.parent(node))
        said = self.text(call.func) if isinstance(call, ast.Call) and call.func is not node else ""
        return f" by `{said}`" if said and len(said) < 48 and "\n" not in said else ""

    def leads_on(self, node: ast.AST) -> bool:
        """Is the parent an attribute, item or call of the value, and itself a value of the component?"""
        parent = self.parent(node)
        if isinstance(parent, ast.Attribute | ast.Subscript) or (isinstance(parent, ast.Call) and parent.func is node):
            return isinstance(self.flow.value(parent), Tracked)
        return False

    def passed_on(self, node: ast.AST) -> bool:
        """Is the value assigned, returned, or handed to a function of the project?"""
        parent = self.parent(node)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            return not isinstance(node.ctx, ast.Del)
        while isinstance(parent, ast.Tuple | ast.Starred):
            parent = self.parent(parent)
        if isinstance(parent, ast.Assign | ast.AnnAssign | ast.Return):
            return True
        if isinstance(parent, ast.keyword):
            parent = self.parent(parent)
        if isinstance(parent, ast.Call):
            return isinstance(self.flow.value(parent.func), Function) or self.flow.name(parent.func) in _PASSING
        return False

    def check_landing(self, node: ast.AST) -> None:
        """Unsupported where a value goes on to a name, result or parameter that the analysis lost sight of."""
        path: list[int] = []
        child, parent = node, self.parent(node)
        while isinstance(parent, ast.Tuple):
            if any(isinstance(e, ast.Starred) for e in parent.elts):
                raise Unsupported(node, "a starred tuple")
            path.insert(0, parent.elts.index(child))  # type: ignore[arg-type]
            child, parent = parent, self.parent(parent)
        if isinstance(parent, ast.Starred | ast.List | ast.Set | ast.comprehension | ast.NamedExpr):
            raise Unsupported(node, "a value in a container")
        if isinstance(parent, ast.Assign) and parent.value is child:
            for target in parent.targets:
                self._target_holds(target, path, node)
        elif isinstance(parent, ast.Return | ast.Lambda):
            owner = self.function(node)
            found = self.flow.returns.get(owner) if owner is not None else None
            for index in path:
                found = found.items[index] if isinstance(found, Items) and index < len(found.items) else None
            if found is None or not self.component.holds(found):
                raise Unsupported(node, "a result that is not followed")
        else:
            name = parent.arg if isinstance(parent, ast.keyword) else None
            call = self.over_keyword(parent)
            if isinstance(call, ast.Call) and call.func is not node and not path:
                self._parameter_holds(call, node, name)

    def _target_holds(self, target: ast.expr, path: list[int], node: ast.AST) -> None:
        for index in path:
            if not isinstance(target, ast.Tuple) or index >= len(target.elts):
                break
            target = target.elts[index]
        if not isinstance(target, ast.Name) or not self.component.holds(self.flow.value(target)):
            raise Unsupported(node, "a value under a name that also holds other things")

    def _parameter_holds(self, call: ast.Call, node: ast.AST, name: str | None) -> None:
        callee = self.flow.value(call.func)
        shift = 0
        if self.flow.name(call.func) in _PASSING and call.args:
            callee, shift = self.flow.value(call.args[0]), 1
        if not isinstance(callee, Function):
            return
        for target in callee.nodes:
            arguments = target.args  # type: ignore[attr-defined]
            names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
            if name is None:
                position = call.args.index(node) - shift + callee.bound  # type: ignore[arg-type]
                if position < 0:
                    return
                parameter = names[position] if position < len(names) else ""
            else:
                parameter = name
            held = self.flow.env.get((self.flow.source_of[target].module, target, parameter))
            if held is None or not self.component.holds(held):
                raise Unsupported(node, "a parameter that also holds other things")

    # at a call of init or apply --------------------------------------------------------------------------------
    def initialized(self, call: ast.Call) -> ast.expr:
        """The model of `model.init(key, x)` and of `jax.jit(model.init)(key, x)`."""
        method = call.func
        if isinstance(method, ast.Call) and self.flow.name(method.func) == "jax.jit":
            if len(method.args) == 1 and not method.keywords:
                method = method.args[0]
        if not (isinstance(method, ast.Attribute) and method.attr == "init"):
            raise Unsupported(call, "init under another name")
        return method.value

    def initializes(self, node: ast.AST) -> bool:
        """Is `node` the `model.init` of a call that `initialized` understands?"""
        call = self.parent(node)
        if isinstance(call, ast.Call) and call.func is not node and self.flow.name(call.func) == "jax.jit":
            node, call = call, self.parent(call)
        return isinstance(call, ast.Call) and call.func is node

    def created_with(self, init: ast.Call) -> ast.expr | None:
        """The `params=` of the TrainState.create in whose arguments `init` is called, where it is."""
        node: ast.AST = init
        parent = self.parent(node)
        while isinstance(parent, ast.Subscript) or (
            isinstance(parent, ast.Call) and (self.flow.name(parent.func) or "").startswith("flax.core.")
        ):
            node, parent = parent, self.parent(parent)
        call = self.parent(parent)
        if not (isinstance(parent, ast.keyword) and parent.arg == "params" and isinstance(call, ast.Call)):
            return None
        if not isinstance(self.flow.value(call), State) or not isinstance(self.flow.value(node), Collection | Variables):
            return None
        statement = self.statement(init)
        for between in self.source(init).ancestors(init):
            if between is statement:
                break
            if isinstance(between, ast.Lambda | ast.IfExp | ast.BoolOp | ast.comprehension | ast.ListComp | ast.DictComp):
                return None
        simple = isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return | ast.Expr)
        return parent.value if simple else None

    # sizes and keys --------------------------------------------------------------------------------------------
    def sizes(
        self,
        call: ast.Call,
        args: list[ast.expr],
        keywords: list[ast.keyword],
        plan: ClassPlan | None = None,
        *,
        again: bool = False,
    ) -> list[str]:
        """`["in_features=x.shape[-1]"]` from the inputs of a call. Unsupported where an input is not at hand.

        `again`: the inputs stay in the call, too.
        """
        plan = plan or self.plan
        args = self._spread(args)
        given: dict[str, ast.expr] = {n: ast.parse(d, mode="eval").body for n, d in plan.call_defaults.items() if d}
        given.update(zip(plan.call_arguments, args))
        given.update({k.arg: k.value for k in keywords if k.arg})
        given[plan.call_rest] = ast.Tuple(args[len(plan.call_arguments) :], ast.Load())
        if any(isinstance(a, ast.Starred) for a in args):
            raise Unsupported(call, "inputs in a starred argument")
        out: list[str] = []
        trees: list[ast.AST] = []
        for argument in plan.added_arguments:
            if argument.call:
                name = plan.qualname.rpartition(".")[2]
                raise Unsupported(call, f"{name} is handed modules, which are made when it is first called")
            tree = ast.parse(argument.origin, mode="eval")
            names = {n.id for n in subtree(tree) if isinstance(n, ast.Name)}
            if not names <= given.keys():
                raise Unsupported(call, f"{argument.name} comes from {argument.origin}, which this call does not give")
            inside = [n for name in names for n in subtree(given[name]) if isinstance(n, ast.expr)]
            said: ast.AST | None
            try:
                said = _Inputs(given, self.flow, self._one_tuple, self._is_number).visit(tree)
            except IndexError:
                raise Unsupported(call, f"{argument.name} is of an input that this call does not give") from None
            tracked = {ast.dump(n) for n in inside if isinstance(self.flow.value(n), Tracked)}
            if tracked and any(ast.dump(n) in tracked for n in ast.walk(said)):
                said = self._of_computed(call, given, names, argument.origin, plan)
            if said is None:
                raise Unsupported(call, f"{argument.name} comes from what a model gives")
            out.append(f"{argument.name}={ast.unparse(said)}")
            trees.append(said)
        inputs = [node for node in [*args, *[k.value for k in keywords]] if node not in self.computed]
        if not drawn_inputs.as_often(self, inputs, trees, again=again):
            raise Unsupported(call, "an input of init that is taken from something")
        return out

    def _of_computed(
        self, call: ast.Call, given: dict[str, ast.expr], names: set[str], origin: str, plan: ClassPlan
    ) -> ast.AST | None:
        """The size of an input that a model computes, by a name for that; None where it cannot have one."""
        stem = plan.qualname.rpartition(".")[2].lower()
        for name in sorted(names):
            if any(isinstance(self.flow.value(n), Tracked) for n in subtree(given[name])):
                computed = computed_inputs.name(self, call, given[name], stem) if len(names) == 1 else None
                if computed is None:
                    return None
                given[name] = computed
        return _Inputs(given, self.flow, self._one_tuple, self._is_number).visit(ast.parse(origin, mode="eval"))  # type: ignore[no-any-return]

    def _spread(self, args: list[ast.expr]) -> list[ast.expr]:
        """`*inputs` as `inputs[0], inputs[1]`, where the one thing that the name holds is a tuple of as many."""
        out: list[ast.expr] = []
        for argument in args:
            shown = self._one_tuple(argument.value) if isinstance(argument, ast.Starred) else None
            if isinstance(argument, ast.Starred) and shown is not None:
                items = range(len(shown.elts))
                out += [ast.Subscript(argument.value, ast.Constant(index), ast.Load()) for index in items]
            else:
                out.append(argument)
        return out

    def _one_tuple(self, node: ast.expr) -> ast.Tuple | ast.List | None:
        """The tuple that is all that a name is ever given, or the list which nobody changes."""
        value = self._one_value(node)
        if not isinstance(value, ast.Tuple | ast.List) or any(isinstance(element, ast.Starred) for element in value.elts):
            return None
        return value if isinstance(value, ast.Tuple) or self._is_only_taken_apart(node) else None  # type: ignore[arg-type]

    def _one_value(self, node: ast.expr) -> ast.expr | None:
        """What an assignment says that a name is given, where that is the only one."""
        source = self.flow.source_of.get(node)  # none of a default that another file says
        if not isinstance(node, ast.Name) or source is None or node.id in source.names.imports:
            return None
        scope = source.names.binding_scope(node.id, node)
        binders = [b for b in source.names.binders(node.id) if source.names.bound_by(b) is scope]
        statement = source.parents.get(binders[0]) if len(binders) == 1 else None
        return statement.value if isinstance(statement, ast.Assign) and binders[0] in statement.targets else None

    def _is_number(self, node: ast.expr) -> bool:
        """Is an input a number of Python's, which has no shape of its own: `init(key, 0.0)`, `t = -1.0; init(key, t)`?"""
        value = self._one_value(node) or node
        if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub | ast.UAdd):
            value = value.operand
        return isinstance(value, ast.Constant) and isinstance(value.value, int | float | complex)

    def _is_only_taken_apart(self, node: ast.Name) -> bool:
        """Is what a name holds nowhere handed on as a whole, nor given other items?"""
        for name in self.flow.occurrences(self.flow.symbol(self.source(node), node)):
            parent = self.parent(name)
            read = isinstance(parent, ast.Subscript) and parent.value is name and isinstance(parent.ctx, ast.Load)
            if isinstance(name.ctx, ast.Load) and not (read or isinstance(parent, ast.Starred)):
                return False
        return True

    def rngs(self, node: ast.expr, streams: tuple[str, ...] = (), plan: ClassPlan | None = None) -> str:
        """`nnx.Rngs(key)` from the first argument of `init`."""
        name = self.context(node).name("flax.nnx.Rngs")
        if isinstance(node, ast.Dict) and all(isinstance(k, ast.Constant) for k in node.keys):
            keys = {str(k.value): v for k, v in zip(node.keys, node.values) if isinstance(k, ast.Constant)}
            items = [f"{k}={self.text(v)}" for k, v in keys.items()]
            # Linen asks for a stream when it draws from it, NNX when it makes the layer.
            wanted = sorted({*streams, *(plan or self.plan).rng_streams} - keys.keys())
            return f"{name}({', '.join([*items, *[f'{s}=0' for s in wanted]])})"
        return f"{name}({', '.join([self.text(node), *[f'{s}=0' for s in streams]])})"

    def to_partial(self, site: ast.Call) -> None:
        """`MLP(4, 8)` → `functools.partial(MLP, 4, 8)`, and `MLP()` → `MLP`."""
        if not site.args and not site.keywords:
            self.replace(site, site.func)
            return
        source = self.source(site)
        function, last = source.span(site.func), max(source.span(node).end for node in (*site.args, *site.keywords))
        tail = Span(last, source.span(site).end - 1)
        if "\n" not in source.text[last : tail.end] and source.text[last : tail.end].strip(" ,"):  # see `module_names`
            self.replace_span(site, tail, "")
        opening = source.text.index("(", function.end)
        partial = self.context(site).name("functools.partial")
        lead = first_on_its_line(source.text, opening + 1, source.span(site).end)
        self.replace_span(site, Span(function.start, opening + 1), f"{partial}({lead}", site.func, "," if lead else ", ")


class _Inputs(ast.NodeTransformer):
    """Puts a call's inputs for the parameter names; the shape of an array of ones or zeros is read off its text."""

    def __init__(
        self,
        given: dict[str, ast.expr],
        flow: Flow,
        one_tuple: Callable[[ast.expr], ast.Tuple | ast.List | None],
        is_number: Callable[[ast.expr], bool],
    ) -> None:
        self.given = given
        self.flow = flow
        self.one_tuple = one_tuple  # of a name
        self.is_number = is_number

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`(1, 28, 28, 1)` for the whole shape of `jnp.ones((1, 28, 28, 1))`."""
        given = self._input(node.value) if node.attr == "shape" else None
        if given is not None and self.is_number(given):
            return ast.Tuple([], ast.Load())
        if self._shape(given) is None or not isinstance(given, ast.Call):
            return self.generic_visit(node)
        shape = given.args[0]
        return copy.deepcopy(ast.Tuple(shape.elts, ast.Load()) if isinstance(shape, ast.List) else shape)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        base = node.value
        index = _number(node.slice)
        whole = self._input(node)
        if whole is not None:
            return copy.deepcopy(whole)
        if isinstance(base, ast.Attribute) and base.attr == "shape":
            shape = self._shape(self._input(base.value))
            if shape is not None and index is not None and -len(shape) <= index < len(shape):
                return copy.deepcopy(shape[index])
        return self.generic_visit(node)

    def _input(self, node: ast.expr) -> ast.expr | None:
        """The input that `x` is, or `args[0]`."""
        if isinstance(node, ast.Name):
            return self.given.get(node.id)
        held = self._input(node.value) if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) else None
        index = _number(node.slice) if isinstance(node, ast.Subscript) else None
        return held.elts[index] if isinstance(held, ast.Tuple) and index is not None else None

    def _shape(self, node: ast.expr | None) -> list[ast.expr] | None:
        if isinstance(node, ast.Call) and node.args and self.flow.name(node.func) in _FILLED:
            shape = node.args[0]
            if isinstance(shape, ast.Tuple | ast.List) and not any(isinstance(e, ast.Starred) for e in shape.elts):
                return shape.elts
            named = self.one_tuple(shape)
            if named is not None:
                count = len(named.elts)
                return [ast.Subscript(shape, ast.Constant(index - count), ast.Load()) for index in range(count)]
        return None

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """`None if x is None else x.shape[-1]`, as origins say it of an optional input that is not given."""
        test = node.test
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and isinstance(test.ops[0], ast.Is):
            given = self.given.get(test.left.id)
            if isinstance(given, ast.Constant) and given.value is None:
                return node.body
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return copy.deepcopy(self.given.get(node.id, node))


def _number(node: ast.expr) -> int | None:
    try:
        index = ast.literal_eval(node)
    except ValueError:
        return None
    return index if type(index) is int else None


def obstacle(form: Rewrite) -> str:
    """Runs the form; returns why the component cannot take it, "" where it can.

    A defect of this tool costs one component its form and nothing else: edits are made when all was understood.
    """
    try:
        form.run()
    except Unsupported as found:
        line = f"line {getattr(found.node, 'lineno', 1)}"
        source = form.flow.source_of.get(found.node)
        elsewhere = source is not None and any(form.source(site) is not source for site in form.component.sites)
        place = f"{source.path.name}, {line}" if source is not None and elsewhere else line
        return f"{found} ({place}){origins.to(form, found.node, str(found))}"
    except Exception as error:
        return defect(error)
    return ""
