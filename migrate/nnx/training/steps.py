"""The pieces of the NNX idiom: functions that take or return a state, and their callers."""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING

from ...edits import Span
from ...linen.flow import flow_changes
from ...linen.flow.flow_values import GRADIENTS, Function, Items, OptState, State, Symbol, Value
from ...source import SourceFile
from ...trees import subtree
from . import by_hand, gradients, loaded, saving, scans
from .loops import is_last, same_state
from .places import called_first
from .rewrite import JIT, Unsupported

if TYPE_CHECKING:
    from .native import _Native

_POSITIONS = ("static_argnums", "donate_argnums")


def argument(form: _Native, call: ast.Call, node: ast.AST) -> bool:
    """A state or params handed to functions of the project: the model, and the optimizer where they need it."""
    callee = form.flow.value(call.func)
    if not isinstance(callee, Function):
        return False
    if callee.transform == "derivative":
        raise Unsupported(node, "a derivative by the inputs of a function that takes params")
    shift = callee.bound
    taken: set[tuple[str, str]] = set()
    for target in callee.nodes:
        step = form.functions.get(target)
        if step is None:
            return False
        if node in call.args:
            position = call.args.index(node) + shift  # type: ignore[arg-type]
            arguments = step.node.args
            names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
            parameter = names[position] if position < len(names) else ""
        else:
            parameter = next((str(k.arg) for k in call.keywords if k.value is node), "")
        found = step.renamed.get(parameter)
        if found is None:
            return False
        taken.add(found)
    if len(taken) != 1:
        raise Unsupported(node, "functions that take the state in unlike ways")
    model, optimizer = taken.pop()
    if isinstance(form.flow.value(node), OptState):
        _optimizer(form, call, node, optimizer)
        return True
    if not model:
        _beside_params(form, call, node, optimizer)
        return True
    mine = form.model_of(node)
    value = form.flow.value(node)
    second = ""
    if optimizer:
        if not isinstance(value, State) or not isinstance(node, ast.Name):
            return False
        symbol = form.flow.symbol(form.source(node), node)
        second = form.optimizers[symbol]
        form.visible(node, symbol, second)
    if node in call.args:
        source = form.source(node)
        before = source.text[: source.span(node).start]
        line = before.rpartition("\n")[2]
        alone = not line.strip() and source.text[source.span(node).end :].partition("\n")[0].strip() == ","
        form.replace(node, f"{mine},{source.newline + line if alone else ' '}{second}" if second else mine)
    else:
        keyword = next(k for k in call.keywords if k.value is node)
        form.replace(keyword, f"{model}={mine}, {optimizer}={second}" if second else f"{model}={mine}")
    return True


def _optimizer(form: _Native, call: ast.Call, node: ast.AST, parameter: str) -> None:
    """The state of a transformation: the optimizer has it."""
    if not isinstance(node, ast.Name):
        raise Unsupported(node, "an optimizer's state that is not under a name")
    symbol = form.flow.symbol(form.source(node), node)
    given = form.optimizers[symbol]
    form.visible(node, symbol, given)
    if node in call.args:
        form.replace(node, given)
    else:
        form.replace(next(k for k in call.keywords if k.value is node), f"{parameter}={given}")


def _beside_params(form: _Native, call: ast.Call, node: ast.AST, optimizer: str) -> None:
    """The state that a loss takes beside its params: the model has it, but for what the optimizer knows."""
    leads = call.args[:1] == [node]
    params = call.args[1:2] if leads else call.args[:1]
    # The state is not written, and may be under a name that means its params here: `lambda params: loss_fn(params, state)`.
    named = isinstance(node, ast.Name) and form.new_names.get(form.flow.symbol(form.source(node), node))
    if not (isinstance(node, ast.Name) and params and form.model_of(params[0]) == named):
        raise Unsupported(node, "params and a state of unlike models")
    if leads:  # `loss_fn(state, state.params, batch)`
        source = form.source(node)
        form.replace_span(node, Span(source.span(node).start, source.span(params[0]).start), "")
        return
    symbol = form.flow.symbol(form.source(node), node)
    given = form.optimizers[symbol] if optimizer else ""
    if given:
        form.visible(node, symbol, given)
    if node in call.args:
        index = call.args.index(node)
        if given:
            form.replace(node, given)
        else:
            source = form.source(node)
            form.replace_span(node, Span(source.span(call.args[index - 1]).end, source.span(node).end), "")
    elif given:
        form.replace(next(k for k in call.keywords if k.value is node), f"{optimizer}={given}")
    else:
        raise Unsupported(node, "a state that a loss takes by keyword")


@dataclasses.dataclass
class Step:
    """A function that takes a state or params, or returns a state that it made."""

    form: _Native
    node: ast.FunctionDef | ast.Lambda
    source: SourceFile
    parameters: dict[str, Value]  # those that change
    renamed: dict[str, tuple[str, str]] = dataclasses.field(default_factory=dict)  # → (model, optimizer or "")

    beside: str = ""  # the state that a loss takes beside its params

    @property
    def updates(self) -> bool:
        return any(isinstance(v, State | OptState) for name, v in self.parameters.items() if name != self.beside)

    @property
    def leads(self) -> bool:
        """Is the first argument of a loss the state that it takes beside its params?"""
        return self.names()[:1] == [self.beside]

    def merge_state(self) -> None:
        """`def loss_fn(params, state, batch)`: the model is both, where the state is not asked for its own params.

        `def loss_fn(state, params, batch)`, which is derived by its second argument, likewise, where nothing is asked of the
        state but what the model has.
        """
        form = self.form
        states = [name for name, value in self.parameters.items() if isinstance(value, State)]
        others = [name for name in self.parameters if name not in states]
        if len(states) != 1 or len(others) != 1:
            return
        leads = self.names()[:2] == states + others and not self.renamed[states[0]][1]
        if not leads and self.names()[:1] != others:
            return
        symbol, first = self.symbol(states[0]), self.symbol(others[0])
        for node, _ in form.uses:
            if isinstance(node, ast.Name) and form.flow.symbol(form.source(node), node) == symbol:
                parent = form.parent(node)
                known = {"apply_fn", "batch_stats", "step", *form.fields}
                if not (isinstance(parent, ast.Attribute) and parent.attr in known):
                    return
        self.beside = states[0]
        form.new_names[symbol] = form.new_names[first]
        self.renamed[states[0]] = ("", self.renamed[states[0]][1])

    def symbol(self, parameter: str) -> Symbol:
        return self.source.module, self.node, parameter

    def rewrite(self) -> None:
        returned = self.form.flow.returns.get(self.node)
        states = _states(self.form, returned)
        if len(states) > 1 and self.form.by_hand is None:
            raise Unsupported(self.node, "several states returned")
        if states and self.form.by_hand is not None and (not self.updates or None in states):
            raise Unsupported(self.node, "params out of a function")
        self._signature()
        self._references()
        if isinstance(self.node, ast.FunctionDef):
            for statement in subtree(self.node):
                if isinstance(statement, ast.Return) and self.form.function(statement) is self.node:
                    self._return(statement)
            if states and self.node.returns is not None:
                self.form.drop_annotation(self.node)
        if states:
            for call, source in self.form.flow.callers.get(self.node, {}).items():
                if self.form.by_hand is not None:
                    self._caller_by_hand(source, call, [i for i in states if i is not None])
                else:
                    self._caller(source, call, states[0])

    def _signature(self) -> None:
        arguments = self.node.args
        plain = [*arguments.posonlyargs, *arguments.args]
        free_of_defaults = plain[: len(plain) - len(arguments.defaults)]
        free_of_defaults += [
            a for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None
        ]
        for argument_node in [*plain, *arguments.kwonlyargs]:
            if argument_node.arg not in self.renamed:
                continue
            if argument_node not in free_of_defaults:
                raise Unsupported(self.node, "a state with a default")
            model, optimizer = self.renamed[argument_node.arg]
            context = self.form.contexts[self.source.module]
            typed = argument_node.annotation is not None
            names = [f"{model}: {context.name('flax.nnx.Module')}" if typed else model] if model else []
            if optimizer:
                kind = context.name("flax.nnx.Optimizer")
                annotation = argument_node.annotation
                if annotation is not None and self.form.fields:
                    if self.form.flow.name(annotation) in self.form.flow.state_classes.own:
                        kind = self.source.text_of(annotation)
                names.append(f"{optimizer}: {kind}" if typed else optimizer)
            span = self.source.span(argument_node)
            if not names and argument_node is plain[0]:  # the params are the second
                span = Span(span.start, self.source.span(plain[1]).start)
            elif not names:
                span = Span(self.source.span(plain[plain.index(argument_node) - 1]).end, span.end)
            self.form.replace_span(self.node, span, ", ".join(names))
        if set(self.renamed) - {a.arg for a in [*plain, *arguments.kwonlyargs]}:
            raise Unsupported(self.node, "a state in a starred argument")

    # where it is used ------------------------------------------------------------------------------------------
    def _references(self) -> None:
        if isinstance(self.node, ast.FunctionDef):
            for decorator in self.node.decorator_list:
                self._decorator(decorator)
        for node, value in self.form.flow.uses.references(self.node):
            self._reference(node, value)
        if isinstance(self.node, ast.Lambda):
            self._reference(self.node, Function(frozenset([self.node])))

    def _reference(self, node: ast.AST, value: Function) -> None:
        parent = self.form.parent(node)
        if isinstance(parent, ast.Assign) or (isinstance(parent, ast.Call) and parent.func is node):
            return
        if isinstance(parent, ast.Call) and parent.args and parent.args[0] is node:
            if scans.is_scan(self.form, parent) and parent in self.form.flow.callers.get(self.node, {}):
                return  # with the callers
            name = self.form.flow.name(parent.func)
            if name in JIT and self.parameters:
                self.jit(parent, parent.func, parent.keywords, value.bound)
                return
            if name == "functools.partial":
                self._partial(parent)
                return
            own = [name for name in self.names()[value.bound :] if name != self.beside]
            first = [name for name in self.renamed if name != self.beside] == own[:1]
            if name in JIT or (name in GRADIENTS and not self.updates and first):
                gradients.write(self, parent, str(name))
                return
        if not self._handed_on(node, parent):
            raise Unsupported(node, "a step that is handed to something unknown")

    def _handed_on(self, node: ast.AST, parent: ast.AST) -> bool:
        """`train_epoch(step_fn, state, batches)`: a function of the project calls it under a name for it alone."""
        form = self.form
        call = form.over_keyword(parent)
        callee = form.flow.value(call.func) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(callee, Function) or call.func is node:
            return False
        if callee.transform or any(isinstance(given, ast.Starred) for given in call.args):
            return False
        for target in callee.nodes:
            arguments = target.args  # type: ignore[attr-defined]
            names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]][callee.bound :]
            if isinstance(parent, ast.keyword):
                name = str(parent.arg)
            else:
                position = call.args.index(node)  # type: ignore[arg-type]
                name = names[position] if position < len(names) else ""
            held = form.flow.env.get((form.source(target).module, target, name))
            if not isinstance(held, Function) or held.nodes != {self.node} or held.transform:
                return False
        return True

    def _partial(self, bound: ast.Call) -> None:
        """`functools.partial(train_step, lr_fn=lr_fn)`: the step with other arguments given. States cannot be among them."""
        form = self.form
        function = form.flow.value(bound)
        if not isinstance(function, Function):
            raise Unsupported(bound, "a step that is bound in another way")
        if any(keyword.arg in (None, *self.renamed) for keyword in bound.keywords):
            raise Unsupported(bound, "a step that is bound to a state")
        if any(isinstance(given, ast.Starred) for given in bound.args):
            raise Unsupported(bound, "a step that is bound to starred arguments")
        self._reference(bound, function)

    def names(self) -> list[str]:
        return [a.arg for a in [*self.node.args.posonlyargs, *self.node.args.args]]

    def _decorator(self, decorator: ast.expr) -> None:
        flow = self.form.flow
        if flow.name(decorator) == "staticmethod" or getattr(decorator, "id", "") == "staticmethod":
            return
        if not self.parameters:
            raise Unsupported(decorator, "a decorated function that makes the state")
        if flow.name(decorator) in JIT:
            self.form.replace(decorator, self.form.context(decorator).name("flax.nnx.jit"))
            return
        if isinstance(decorator, ast.Call):
            if flow.name(decorator.func) in JIT and not decorator.args:
                self.jit(decorator, decorator.func, decorator.keywords)
                return
            partial = flow.name(decorator.func) == "functools.partial" and len(decorator.args) == 1
            if partial and flow.name(decorator.args[0]) in JIT:
                self.jit(decorator, decorator.args[0], decorator.keywords)
                return
        raise Unsupported(decorator, "a decorator other than jit")

    def jit(self, call: ast.Call, function: ast.expr, keywords: list[ast.keyword], bound: int = 0) -> None:
        names = self.names()[bound:]
        self.form.replace(function, self.form.context(call).name("flax.nnx.jit"))
        for keyword in keywords:
            if keyword.arg == "static_argnames":
                continue
            if keyword.arg == "donate_argnames":
                self._donated_names(call, keyword)
                continue
            if keyword.arg not in _POSITIONS or self.beside:
                raise Unsupported(call, f"jit with {keyword.arg}")
            try:
                given = ast.literal_eval(keyword.value)
            except ValueError:
                raise Unsupported(call, f"{keyword.arg} that is computed") from None
            positions = [given] if isinstance(given, int) else list(given)
            moved: list[int] = []
            for position in positions:
                if position < 0:
                    raise Unsupported(call, "positions from the end")
                before = [n for n in names[:position] if all(self.renamed.get(n, ("", "")))]
                moved.append(position + len(before))
                name = names[position] if position < len(names) else ""
                if all(self.renamed.get(name, ("", ""))):
                    moved.append(position + len(before) + 1)
            text = str(moved[0]) if isinstance(given, int) and len(moved) == 1 else f"({', '.join(map(str, moved))}"
            text = text if not text.startswith("(") else text + (",)" if len(moved) == 1 else ")")
            if moved != positions:
                self.form.replace(keyword.value, text)

    def _donated_names(self, call: ast.Call, keyword: ast.keyword) -> None:
        """`donate_argnames='state'` → `donate_argnames=('model', 'optimizer')`."""
        try:
            given = ast.literal_eval(keyword.value)
        except ValueError:
            raise Unsupported(call, "donate_argnames that is computed") from None
        names = [given] if isinstance(given, str) else list(given)
        moved = [new for name in names for new in self.renamed.get(name, (name, "")) if new]
        if moved != names:
            self.form.replace(keyword.value, repr(moved[0]) if len(moved) == 1 else repr(tuple(moved)))

    # what it returns -------------------------------------------------------------------------------------------
    def _return(self, statement: ast.Return) -> None:
        form, value = self.form, statement.value
        if value is None:
            return
        if isinstance(value, ast.Call) and not self.updates and scans.updates_what_it_returns(form, value):
            raise Unsupported(value, "a state that is made and returned by the call that updates it")
        if isinstance(form.flow.value(value), State):
            if isinstance(value, ast.Name) and self._mine(value):
                symbol = form.flow.symbol(form.source(value), value)
                self._no_copy(value, symbol)
                if not self.updates:
                    form.replace(value, self._pair(symbol))
                elif is_last(form, statement) and len(form.block(statement)) > 1:
                    form.delete(statement)
                else:
                    form.replace(statement, "return")
            return  # calls see to themselves
        if not isinstance(value, ast.Tuple):
            return
        gone: list[ast.AST] = []
        for element in value.elts:
            if form.by_hand is not None and _half(form, form.flow.value(element)):
                written = element in form.by_hand.updates or loaded.target(form, element) is not None
                if not (isinstance(element, ast.Name) or written):
                    raise Unsupported(element, "params within an expression")
                gone.append(element)
            if not self._mine(element):
                continue
            if not isinstance(element, ast.Name):
                if (
                    self.updates
                    and isinstance(element, ast.Call)
                    and not isinstance(form.flow.value(element.func), Function)
                ):
                    gone.append(element)
                    continue
                if isinstance(element, ast.Call) and self.updates and called_first(value, element):
                    form.insert_before(statement, element)  # a step of its own: see `_caller`
                    gone.append(element)
                    continue
                if self.updates or form.flow.name(getattr(element, "func", element)) is None:
                    raise Unsupported(element, "a state within an expression")
                continue
            symbol = form.flow.symbol(form.source(element), element)
            self._no_copy(element, symbol)
            if self.updates:
                gone.append(element)
            else:
                form.replace(element, self._pair(symbol))
        if gone:
            form.remove(value, gone)

    def _pair(self, symbol: Symbol) -> str:
        """What stands for a state that is made: a function that is given the module returns the optimizer alone."""
        given = self.node in self.form.state_makers
        return self.form.optimizers[symbol] if given else f"{self.form.new_names[symbol]}, {self.form.optimizers[symbol]}"

    def _mine(self, node: ast.AST) -> bool:
        value = self.form.flow.value(node)
        return isinstance(value, State) and self.form.component.holds(value)

    def _no_copy(self, node: ast.AST, symbol: Symbol) -> None:
        if self.updates and symbol in self.form.copies:
            raise Unsupported(node, "a copy of a state that an update returns")

    def _caller_by_hand(self, source: SourceFile, call: ast.Call, positions: list[int]) -> None:
        """A call of a function that returned params and the optimizer's state: both go out of the result."""
        form = self.form
        statement = form.statement(call)
        if isinstance(statement, ast.Expr) and statement.value is call:
            return
        if isinstance(statement, ast.Return) and statement.value is call:
            return
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        assert isinstance(statement, ast.stmt)
        if not isinstance(form.flow.value(call.func), Function) or getattr(statement, "value", None) is not call:
            raise Unsupported(call, "params out of a call within an expression")
        if not isinstance(target, ast.Tuple) or max(positions) >= len(target.elts):
            raise Unsupported(call, "params in a result that is not unpacked")
        gone: list[ast.AST] = [target.elts[i] for i in positions]
        for element in gone:
            if not isinstance(element, ast.Name):
                raise Unsupported(call, "params that are not assigned to a name")
            kind = isinstance(form.flow.value(element), OptState)
            given = [
                node
                for node in [*call.args, *[k.value for k in call.keywords]]
                if _half(form, form.flow.value(node)) and isinstance(form.flow.value(node), OptState) == kind
            ]
            if len(given) != 1 or not isinstance(given[0], ast.Name):
                raise Unsupported(call, "a step over several params")
            same_state(form, element, form.flow.symbol(source, given[0]))
        form.remove(target, gone)

    def _caller(self, source: SourceFile, call: ast.Call, index: int | None) -> None:
        """A call of a function that returned a state."""
        form = self.form
        if scans.is_scan(form, call):
            if index != 0 or not self.updates:
                raise Unsupported(call, "a scan of another function than a step")
            scans.write(form, self, source, call)
            return
        if not isinstance(form.flow.value(call.func), Function):
            raise Unsupported(call, "a step that is bound or evaluated abstractly")
        statement = form.statement(call)
        if isinstance(statement, ast.Expr) and statement.value is call:
            return
        if isinstance(statement, ast.Return) and statement.value is call:
            return
        place = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        value = getattr(statement, "value", None)
        around = form.functions.get(form.function(call)) if isinstance(statement, ast.Return) else None  # type: ignore[arg-type]
        if around is not None and around.updates and self.updates and index is None and called_first(value, call):
            if len([a for a in [*call.args, *[k.value for k in call.keywords]] if self._mine(a)]) != 1:
                raise Unsupported(call, "a step over several states")
            return
        paired = isinstance(place, ast.Tuple) and isinstance(value, ast.Tuple) and call in value.elts
        if paired and not self.updates and index is None and len(place.elts) == len(value.elts):  # type: ignore[union-attr]
            place = place.elts[value.elts.index(call)]  # type: ignore[union-attr]
        elif place is None or value is not call:
            raise Unsupported(call, "a state out of a call within an expression")
        target = element = place
        if index is not None:
            if not isinstance(target, ast.Tuple) or index >= len(target.elts):
                raise Unsupported(call, "a state in a result that is not unpacked")
            element = target.elts[index]
        if not isinstance(element, ast.Name):
            raise Unsupported(call, "a state that is not assigned to a name")
        symbol = form.flow.symbol(source, element)
        if not self.updates and element is place and element.id == "_":
            return
        if not self.updates:
            pair = self._pair(symbol)
            form.replace(element, f"({pair})" if paired else pair)
            return
        given = [a for a in [*call.args, *[k.value for k in call.keywords]] if isinstance(a, ast.Name) and self._mine(a)]
        if len(given) != 1:
            raise Unsupported(call, "a step over several states")
        same_state(form, element, form.flow.symbol(source, given[0]))
        if index is None:
            span = Span(source.span(target).start, source.span(call).start)
            form.replace_span(statement, span, "")
        else:
            assert isinstance(target, ast.Tuple)
            form.remove(target, [element])


def _half(form: _Native, value: Value | None) -> bool:
    """Params or the state of a transformation of optax, in a component that has them under names of their own."""
    return form.by_hand is not None and by_hand.is_half(value) and form.component.holds(value)  # type: ignore[arg-type]


def returned(form: _Native, node: ast.AST) -> bool:
    """Are params among the results of a step, from which they go?"""
    parent = form.parent(node)
    holder = form.parent(parent) if isinstance(parent, ast.Tuple) else parent
    return form.by_hand is not None and isinstance(node, ast.Name) and isinstance(holder, ast.Return)


def of_result(form: _Native, name: ast.Name) -> bool:
    """Is `name` assigned from the results of a step?"""
    statement = form.statement(name)
    if form.by_hand is None or not (isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)):
        return False
    function = form.flow.value(statement.value.func)
    if not isinstance(function, Function) or function.transform:
        return False
    return all(node in form.functions and form.functions[node].updates for node in function.nodes)


def _states(form: _Native, value: Value | None) -> list[int | None]:
    """Where a returned value holds a state: [None] for the whole, positions in a tuple."""
    if isinstance(value, State) or _half(form, value):
        return [None] if form.component.holds(value) else []  # type: ignore[arg-type]
    if isinstance(value, Items):
        held = [isinstance(item, State) or _half(form, item) for item in value.items]
        return [i for i, item in enumerate(value.items) if held[i] and form.component.holds(item)]
    return []


def functions(form: _Native) -> dict[ast.AST, Step]:
    """The functions that change, each with what its parameters stand for."""
    found: dict[ast.AST, Step] = {}
    for (module, scope, name), value in form.roles.items():
        if not isinstance(scope, ast.FunctionDef | ast.Lambda):
            continue
        arguments = [a.arg for a in [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]]
        changes = isinstance(value, State) or by_hand.is_half(value)
        if name in arguments and changes and not _only_assigned(form, (module, scope, name)):
            source = form.flow.project.files[module]
            found.setdefault(scope, Step(form, scope, source, {})).parameters[name] = value
    for node, returned in form.flow.returns.items():
        if node in flow_changes.plain(form.flow):
            continue
        if node in form.makers.functions:
            if node in found:
                raise Unsupported(node, "a function that takes params and returns those of a new model")
            continue
        if node not in found and _states(form, returned) and isinstance(node, ast.FunctionDef):
            found[node] = Step(form, node, form.flow.source_of[node], {})
    return found


def _only_assigned(form: _Native, symbol: Symbol) -> bool:
    """`def main(_): _ = train()`: nobody gives the function a state, nor reads the one that it names so."""
    scope = symbol[1]
    if scope is None or form.flow.callers.get(scope) or form.flow.partials.get(scope):
        return False
    return not any(isinstance(name.ctx, ast.Load) for name in form.flow.occurrences(symbol))


def needs_optimizer(form: _Native, symbol: Symbol, seen: set[Symbol]) -> bool:
    """Does the scope of a state do more with it than call the model?"""
    if symbol in seen:
        return False
    seen.add(symbol)
    for node, _ in form.uses:
        if not (isinstance(node, ast.Name) and form.flow.symbol(form.source(node), node) == symbol):
            continue
        parent = form.parent(node)
        if isinstance(parent, ast.Attribute):
            if parent.attr in ("apply_gradients", "step", "replace", "opt_state") or parent.attr in form.fields:
                return True
            continue
        if loaded.takes(form, node):
            return True
        holder = form.over_keyword(parent)
        if isinstance(holder, ast.Assign) and holder.value is node:
            return True  # a copy of both
        if isinstance(holder, ast.Call) and (saving.touches(form, holder) or scans.is_scan(form, holder)):
            return True
        callee = form.flow.value(holder.func) if isinstance(holder, ast.Call) else None
        if not isinstance(callee, Function) or not isinstance(holder, ast.Call):
            continue
        for target in callee.nodes:
            arguments = target.args  # type: ignore[attr-defined]
            names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]][callee.bound :]
            if node in holder.args and holder.args.index(node) < len(names):
                parameter = names[holder.args.index(node)]
            else:
                parameter = next((str(k.arg) for k in holder.keywords if k.value is node), "")
            module = form.flow.source_of[target].module
            if needs_optimizer(form, (module, target, parameter), seen):
                return True
    return False
