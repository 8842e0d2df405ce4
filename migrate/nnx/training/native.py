"""The NNX idiom: the module holds its variables, `nnx.Optimizer` updates them, `nnx.jit` compiles the steps.

A state becomes a model and an optimizer. Functions that took a state take both (or the model alone where that is all
they need), functions that returned the state they were given return it no more, since both are updated in place. That
is the same program only if nobody looks at an old state after its update: every use is checked, and one that does not
fit leaves the component to the other forms.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ...context import FileContext
from ...edits import Part
from ...linen.flow import flow_changes
from ...linen.flow.flow import Flow
from ...linen.flow.flow_values import (
    Bound,
    Collection,
    Deltas,
    Function,
    Gradients,
    Method,
    Model,
    OptState,
    State,
    Symbol,
    Tracked,
    Updated,
    Value,
    Variables,
    is_params,
)
from ...linen.flow.flow_versions import is_later
from ...source import SourceFile
from ...trees import subtree
from ..text.text_parts import with_arguments
from . import (
    attributes,
    aux_results,
    bound_models,
    by_hand,
    caught_updates,
    changes,
    collections,
    copies,
    device_copies,
    field_trees,
    formatted,
    given_arrays,
    handed_methods,
    init_reach,
    jitted_apply,
    leaf_order,
    lifted_apply,
    loaded,
    loops,
    lost_trees,
    makers,
    masks,
    methods,
    model_names,
    namesakes,
    old_values,
    one_model,
    removals,
    saving,
    scans,
    state_fields,
    state_makers,
    state_updates,
    statistics,
    step_reads,
    steps,
    trees,
    tx_updates,
    unused_models,
    wrapped_init,
)
from .components import Component
from .places import changed_between, loops_around, nested
from .rewrite import Rewrite, Unsupported, obstacle


def write(components: list[Component], flow: Flow, contexts: dict[str, FileContext]) -> list[Component]:
    """The components that take the idiom: those of which every use was understood; nothing of the others is edited."""
    if any(context.options.jit == "functional" for context in contexts.values()):
        return []
    forms: list[_Native] = []
    taken: list[Symbol] = []
    for component in components:
        form = _Native(component, flow, contexts, taken)
        component.obstacle = obstacle(form)
        if component.obstacle:
            continue
        forms.append(form)
        taken += form.names_given()
    groups = state_fields.together(forms, components)
    done = [form for group in groups for form in group]
    if not removals.commit(done, "NNX601"):  # models in one function whose edits meet: as many as fit together
        done = [form for group in groups if removals.commit(group, "NNX601") for form in group]
    for form in done:
        form.report()
    return [form.component for form in done]


class _Native(Rewrite):
    def __init__(
        self, component: Component, flow: Flow, contexts: dict[str, FileContext], taken: Sequence[Symbol] = ()
    ) -> None:
        super().__init__(component, flow, contexts)
        self._taken_by_others = list(taken)  # names that the writers of other models give, by scope
        self.later: list[Callable[[], None]] = []  # what to report once the edits are made
        self.lost: lost_trees.Lost | None = None  # names of gradients that the flow of values does not know

    def names_given(self) -> list[Symbol]:
        """The names that this writer puts into scopes."""
        given = [*self.new_names.items(), *self.optimizers.items(), *by_hand.names_given(self)]
        return [(module, scope, name) for (module, scope, _), name in given] + self.jitted.names_given()

    def report(self) -> None:
        for report in self.later:
            report()
        for site in self.component.sites:
            name = self.plan.qualname.rpartition(".")[2]
            self.context(site).report(site, "NNX601", f"{name} holds its variables now and is updated in place")

    def run(self) -> None:
        self.plan = one_model.merged(self)
        self.check_boxes()
        bound_models.check(self)
        collections.check(self, self.plan)
        self.check_records()
        methods.check(self)
        one_model.check_sites(self, followed=True)
        self.masks = set()
        self.by_name = masks.by_name(self)
        if collections.whole(self):
            collections.check_whole(self)
            if self.by_name:
                raise Unsupported(self.component.sites[0], "an optimizer that goes by the names of all variables")
        changes.check(self)
        device_copies.check(self)
        leaf_order.check(self)
        self.site = self.component.sites[0]
        self.uses = list(self.tracked())
        self.keeps_keys = saving.keeps_keys(self)
        if not all(formatted.is_placed(self.source(node), node) for node, _ in self.uses):
            raise Unsupported(self.site, "a use within an f-string")
        collections.check_names(self)
        self.lost = lost_trees.check(self)
        self.fields: frozenset[str] = frozenset()  # that the project's class of states adds, besides batch_stats
        symbols = self.flow.uses.symbols(self.component.sites)
        if any(is_later(s) and not isinstance(v, Gradients | Deltas) for s, v in symbols):
            raise Unsupported(self.site, "a name that holds one thing and then another")
        self.roles = {s: v for s, v in symbols if isinstance(v, Tracked) and s[1] not in flow_changes.plain(self.flow)}
        self.state_class = state_fields.find(self)
        if self.state_class is not None:
            self.fields = frozenset(field.name for field in self.state_class.fields)
        self.tree_fields, self.whole_fields = field_trees.find(self)
        statistics.check(self)
        self.streams = self._streams()
        self.trees = trees.find(self)
        for symbol in self.trees:
            del self.roles[symbol]
        self.tracked_names = {node for node, _ in self.uses}
        self.new_names: dict[Symbol, str] = model_names.Names(self.site)  # of models, variables, params and a state's model
        self.optimizers: dict[Symbol, str] = model_names.Names(self.site)
        model_names.check_declared(self)
        self.tx_updates = tx_updates.find(self)
        self.by_hand = by_hand.find(self)
        attributes.check(self)
        self._home()
        given_arrays.check(self, self.init)
        self.makers = makers.find(self)
        self.state_makers = state_makers.find(self)
        self.handed = handed_methods.find(self)
        one_model.check_calls(self, makers.fresh(self), by_states=makers.applied_by_states(self), followed=True)
        self.jitted = jitted_apply.Jitted(self)
        self.kept_steps: dict[ast.AST, str] = {}  # `state.step` read after an update → the name that keeps it
        self.copies = copies.find(self)
        hoisted = old_values.check(self)
        caught_updates.check(self)
        self.functions = steps.functions(self)
        unused_models.drop(self)
        self.namesakes = namesakes.Namesakes(self)
        model_names.name_all(self)
        for function in self.functions.values():
            for parameter, value in function.parameters.items():
                symbol = function.symbol(parameter)
                if isinstance(value, OptState):
                    function.renamed[parameter] = ("", self.optimizers[symbol])
                    continue
                optimizer = isinstance(value, State) and steps.needs_optimizer(self, symbol, set())
                function.renamed[parameter] = (self.new_names[symbol], self.optimizers[symbol] if optimizer else "")
        if self.wrapped is not None:
            self.functions.pop(self.wrapped.function, None)
        for function in self.functions.values():
            function.merge_state()
        for call, name, state in hoisted:
            reads = [read for read, given in self.kept_steps.items() if given == name]
            self.insert_before(self.statement(call), f"{name} = {step_reads.text(self, reads, self._optimizer_of(state))}")
        if self.by_hand is not None:
            by_hand.write(self, self.by_hand)
        tx_updates.write(self, self.tx_updates)
        loaded.write_assigned(self)
        changes.write(self)
        makers.write(self)
        state_makers.drop_arguments(self)
        handed_methods.write(self)
        self.jitted.drop()
        aux_results.write(self)
        lifted_apply.write(self)
        for node, value in self.uses:
            self._use(node, value)
        for function in self.functions.values():
            function.rewrite()
        self.jitted.write()
        if self.state_class is not None and self.state_class.fields:
            state_fields.write_class(self, self.state_class)

    def _streams(self) -> tuple[str, ...]:
        """The streams whose keys the program gives to `apply`."""
        found: set[str] = set()
        for node, _ in self.uses:
            parent = self.parent(node)
            if isinstance(parent, ast.Call) and parent.func is node:
                for keyword in parent.keywords:
                    if keyword.arg == "rngs" and isinstance(keyword.value, ast.Dict):
                        found |= {str(k.value) for k in keyword.value.keys if isinstance(k, ast.Constant)}
                    elif keyword.arg == "rngs" and not isinstance(keyword.value, ast.Constant):
                        found |= self.plan.rng_streams
        return tuple(sorted(found - {"params"}))

    # the place where the model is made -------------------------------------------------------------------------
    def _home(self) -> None:
        """Find the one call of `init`, and whether the module can be made there under its own name."""
        inits = [n for n, v in self.uses if isinstance(n, ast.Call) and isinstance(v, Variables) and self._is_init(n)]
        self.twins = trees.twins(self, inits)
        inits = [node for node in inits if node not in self.twins]
        if not inits:
            raise init_reach.nowhere(self)
        if len(inits) > 1:
            raise Unsupported(inits[1], "init is called in several places")
        init_reach.check_wanted(self, inits[0])
        self.wrapped = wrapped_init.find(self, inits[0])
        self.init = self.wrapped.call if self.wrapped is not None else inits[0]
        made = self.flow.value(inits[0].func)
        several = isinstance(made, Tracked) and len(made.sites) > 1
        if not isinstance(made, Tracked) or (several and not one_model.alternatives(self)):
            raise Unsupported(self.init, "one of several models is initialized")
        self.made_of = made.sites
        self.site = next(site for site in self.component.sites if site in made.sites)
        base = self.initialized(inits[0])
        keywords = [*self.init.keywords, *(inits[0].keywords if self.wrapped is not None else [])]
        self.init_keywords = [k for k in keywords if k.arg is not None or self.wrapped is None]
        self.init_model = base
        if any(k.arg in (None, "method", "mutable", "rngs") for k in self.init_keywords) or not self.init.args:
            raise Unsupported(self.init, "init of another method")
        inputs = [*self.init.args[1:], *[k.value for k in self.init_keywords]]
        self.dropped.update(n for given in inputs for n in subtree(given))  # `jnp.ones(shape, model.dtype)`: sizes are left
        self.home = self.function(self.init)
        statement = self.statement(self.init)
        self.init_statement = statement
        self.nested = self.created_with(self.init) is not None or self._returned_at_once(statement)
        if not self.nested:
            self._assigned(statement)
        site_statement = self.statement(self.site)
        self.direct = False
        if isinstance(base, ast.Name):
            self._under_name(base, site_statement, statement)
        elif isinstance(base, ast.Call):  # the construction itself, or a function that returns it
            self.home_name = self.free(self.source(self.init), self.home, model_names.of_home(self))
        else:
            raise Unsupported(base, "init of something else than a name")

    def _returned_at_once(self, statement: ast.stmt) -> bool:
        """`return model.init(key, x)['params']`"""
        value = statement.value if isinstance(statement, ast.Return) else None
        while isinstance(value, ast.Subscript):
            value = value.value
        return value is self.init

    def _assigned(self, statement: ast.stmt) -> None:
        """Are the variables that init returns, or their params, given one name?"""
        if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
            raise Unsupported(self.init, "variables that are not assigned")
        target = statement.targets[0]
        value = self.flow.value(statement.value)
        if not (isinstance(target, ast.Name) and isinstance(value, Variables | Collection)):
            raise Unsupported(self.init, "variables that are not assigned to one name")
        if not (statement.value is self.init or isinstance(statement.value, ast.Subscript)):
            raise Unsupported(self.init, "variables that are changed at once")

    def _under_name(self, base: ast.Name, site_statement: ast.stmt, statement: ast.stmt) -> None:
        """The model has a name where it is initialized: can the module be made there, and keep it?"""
        symbol = self.flow.symbol(self.source(base), base)
        stores = [
            n
            for n, v in self.uses
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and self.flow.symbol(self.source(n), n) == symbol
        ]
        own = isinstance(site_statement, ast.Assign) and site_statement.targets == stores  # and no second name of the model
        plain = own and site_statement.value is self.site  # type: ignore[attr-defined]
        same_place = (
            plain
            and len(self.made_of) == 1
            and self.function(self.site) is self.home
            and self.source(self.site) is self.source(self.init)
            and self.block(site_statement) is self.block(statement)
            and not changed_between(self, self.site, site_statement, statement)
        )
        self.direct = same_place and len(stores) == 1 and isinstance(stores[0].ctx, ast.Store)
        around = loops_around(self, self.init, self.home)
        again = any(around - loops_around(self, store, self.home) for store in stores)
        again |= bool(around) and not stores
        if self.direct or (symbol[1] is self.home and symbol[1] is not None and not again):
            self.home_name = base.id
        else:
            self.home_name = self.free(self.source(self.init), self.home, model_names.of_home(self), base.id)

    def _is_init(self, call: ast.Call) -> bool:
        method = self.flow.value(call.func)
        return isinstance(method, Method) and method.name == "init"

    def _write_home(self) -> None:
        call = self.init
        base = self.init_model
        sizes = self.sizes(call, call.args[1:], self.init_keywords)
        arguments = [*sizes, f"rngs={self.rngs(call.args[0], self.streams)}"]
        if self.wrapped is not None:
            wrapped_init.drop(self, self.wrapped)
        if not self.direct and base is not self.site:
            for site in sorted(self.made_of, key=lambda node: node.lineno):
                self.to_partial(site)
            self._put(f"{self.home_name} = ", base, f"({', '.join(arguments)})")
            return
        source = self.source(self.site)
        if self.direct:
            self.delete(self.statement(self.site))
        self._put(f"{self.home_name} = ", *with_arguments(source, self.site, arguments))

    def _put(self, *parts: Part | ast.AST) -> None:
        """The construction, in the place of the statement that called init or before the one that called it within."""
        if self.nested:
            self.insert_before(self.init_statement, *parts)
        else:
            self.replace(self.init_statement, *parts)

    # names -----------------------------------------------------------------------------------------------------
    def free(self, source: SourceFile, scope: ast.AST | None, candidates: list[str], avoid: str = "") -> str:
        """The first of the names that nothing else has in a scope (None: at module level)."""
        if isinstance(scope, ast.ClassDef):
            return attributes.free(self, source, scope, candidates, avoid)
        for candidate in candidates:
            if candidate != avoid and not self._taken(source, scope, candidate):
                return candidate
        raise Unsupported(self.site, f"the names {', '.join(candidates)} are taken")

    def _taken(self, source: SourceFile, scope: ast.AST | None, name: str) -> bool:
        for node in subtree(scope if scope is not None else source.tree):
            if isinstance(node, ast.Name) and node.id == name and node not in self.tracked_names:
                if scope is not None or source.names.binding_scope(name, node) is None:
                    return True
            if scope is not None and isinstance(node, ast.arg) and node.arg == name:
                owner = next((p for p in source.ancestors(node) if isinstance(p, ast.FunctionDef | ast.Lambda)), None)
                if (source.module, owner, name) not in self.roles:
                    return True
        for module, other, given in self._taken_by_others:
            if given == name and module == source.module and nested(source, scope, other):
                return True
        return scope is None and name in source.names.imports

    def model_of(self, node: ast.AST) -> str:
        """The name of the module that an expression of variables, params or a state stands for."""
        base: ast.AST = node
        while isinstance(base, ast.Attribute | ast.Subscript):
            base = base.value
        if not isinstance(base, ast.Name):
            raise Unsupported(node, "variables that are not under a name")
        symbol = self.flow.symbol(self.source(base), base)
        name = self.new_names.get(symbol)
        if name is None:
            raise Unsupported(node, "variables of unknown origin")
        self.visible(node, symbol, name)
        return name

    def visible(self, node: ast.AST, symbol: Symbol, name: str) -> None:
        """Does the new name at `node` mean what it means in the scope of `symbol`?"""
        source = self.source(node)
        for scope in source.ancestors(node):
            if scope is symbol[1]:
                return
            if isinstance(scope, ast.FunctionDef | ast.Lambda):
                mine = {s for s, n in [*self.new_names.items(), *self.optimizers.items()] if n == name}
                if any(s[1] is scope and s[0] == source.module for s in mine) or name in source.names.bound_in(scope):
                    raise Unsupported(node, f"the name {name} means something else here")

    # uses ------------------------------------------------------------------------------------------------------
    def _use(self, node: ast.AST, value: Value) -> None:
        if node in self.dropped:
            return
        if node is self.init:
            self._write_home()
        if node in self.twins:
            trees.write_twin(self, self.twins[node])
            return
        parent = self.parent(node)
        if state_fields.of(self, value):
            if not field_trees.use(self, node, value):
                state_fields.read(self, node)
            return
        if changes.seen_to(self, node, value) or trees.of_name(self, node, parent) or trees.by_keys(self, node, parent):
            return
        if isinstance(node, ast.Call):
            self._call(node, value)
        if self.leads_on(node):
            return
        params = is_params(value)
        if not (params and isinstance(parent, ast.List)):  # what a list has is no variable of a model: see `trees.kept`
            self.check_landing(node)
        if by_hand.seen_to(self, node, value):
            return
        if isinstance(value, Model):
            if node not in self.made_of and (node in self.component.sites or not self.passed_on(node)):
                raise Unsupported(node, "a module that is used otherwise than by init and apply")
        elif isinstance(value, Method):
            called = isinstance(parent, ast.Call) and parent.func is node
            if called and isinstance(parent, ast.Call) and value.name in ("apply", "tabulate"):
                (loops.apply if value.name == "apply" else loops.tabulate)(self, parent)
            elif (
                not (value.name == "init" and self.initializes(node))
                and not (isinstance(parent, ast.keyword) and parent.arg == "apply_fn" and self._makes_state(parent))
                and not model_names.reads_field(self, node)
            ):
                raise Unsupported(node, f"the method {value.name}")
        elif isinstance(value, State):
            self._state(node, parent)
        elif is_params(value):
            self._params(node, parent)
        elif isinstance(value, Collection | Updated):
            self._other(node, parent)
        elif isinstance(value, Gradients):
            self._gradients(node, parent)
        elif isinstance(value, Bound):
            return  # see `bound_models`
        elif not (isinstance(parent, ast.Call | ast.keyword) and self._to_step(node, parent)):
            raise Unsupported(node, "an optimizer's state that is used by itself")

    def _to_step(self, node: ast.AST, parent: ast.AST) -> bool:
        holder = self.over_keyword(parent)
        return isinstance(holder, ast.Call) and steps.argument(self, holder, node)

    def _call(self, call: ast.Call, value: Value) -> None:
        if isinstance(value, State) and self.flow.creates_state(call):
            loops.create(self, call)
        elif isinstance(value, Bound):
            bound_models.write(self, call)
        elif isinstance(value, Variables | Collection) and any(r.call is call for r in self.makers.received):
            return
        elif isinstance(call.func, ast.Attribute) and isinstance(self.flow.value(call.func.value), State):
            if call.func.attr in state_updates.METHODS:
                state_updates.write(self, call)
            else:
                raise Unsupported(call, f"state.{call.func.attr}")
        elif loaded.write(self, call) or (isinstance(value, State) and saving.restore(self, call)):
            return
        elif isinstance(value, State) and not isinstance(self.flow.value(call.func), Function):
            raise Unsupported(call, "a state out of a call that is not followed")
        elif isinstance(value, Variables | Collection) and call is not self.init and not trees.makes(self, call):
            raise Unsupported(call, "params out of a call")

    def _state(self, node: ast.AST, parent: ast.AST) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            copies.write_none(self, node)
            return  # with its assignment
        if isinstance(node, ast.Call):
            return  # seen to as a call
        if not isinstance(node, ast.Name):
            raise Unsupported(node, "a state that is not under a name")
        if isinstance(parent, ast.Attribute):
            if parent.attr == "step":
                kept = self.kept_steps.get(parent)
                self.replace(parent, kept or step_reads.text(self, [parent], self._optimizer_of(node)))
                return
            if loaded.shown(self, parent):
                return
            if parent.attr in ("apply_fn", "params", "batch_stats", *state_updates.METHODS) or parent.attr in self.fields:
                return
            raise Unsupported(node, f"state.{parent.attr}")
        holder = self.parent(parent) if isinstance(parent, ast.keyword | ast.Tuple) else parent
        if isinstance(holder, ast.Return):
            return  # with the function
        if copies.write(self, node):
            return
        if scans.carried(self, holder, node):
            return
        if isinstance(holder, ast.Call) and (steps.argument(self, holder, node) or saving.use(self, holder, node)):
            return
        if loaded.shown(self, node):
            return
        raise Unsupported(node, "a state that is kept or handed to something unknown")

    def _optimizer_of(self, node: ast.Name) -> str:
        symbol = self.flow.symbol(self.source(node), node)
        self.visible(node, symbol, self.optimizers[symbol])
        return self.optimizers[symbol]

    def _params(self, node: ast.AST, parent: ast.AST) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if self.parent(node) is self.init_statement or loops.drop_assignment(self, node):
                return
            if self.statement(node) in self.dropped or steps.of_result(self, node) or loaded.stores(self, node):
                return
            raise Unsupported(node, "params under another name")
        if isinstance(parent, ast.Delete) and parent.targets == [node]:
            self.delete(parent)  # the module stays
            return
        if isinstance(node, ast.Call):
            return
        if trees.is_part(self, node) and self.statement(node) is not self.init_statement:
            if trees.part(self, node, parent):
                return
            raise Unsupported(node, "a part of params that goes where it is not only looked at")
        if self.in_apply(parent) or self.statement(node) is self.init_statement or self._dropped(node):
            return
        if loaded.target(self, parent) is node:
            return  # with the call
        if isinstance(parent, ast.keyword) and parent.arg == "params" and self._makes_state(parent):
            return
        if trees.for_field(self, node, parent) or steps.returned(self, node):
            return
        if isinstance(parent, ast.Call) and parent.args and parent.args[0] is node:
            method = self.flow.value(parent.func)
            if isinstance(method, Method) and method.name in ("apply", "bind"):
                return
        holder = self.over_keyword(parent)
        if isinstance(holder, ast.Call):
            if steps.argument(self, holder, node):
                return
            name = self.flow.name(holder.func)
            if name in trees.REDUCTIONS and (name not in leaf_order.LEAVES or leaf_order.orderless(self, holder)):
                self.replace(node, trees.params(self, node))
                return
            if trees.use(self, holder, node) or trees.read(self, holder, node):
                return
        if trees.kept(self, node, parent):
            return
        raise Unsupported(node, "params that are used as a tree")

    def _makes_state(self, keyword: ast.keyword) -> bool:
        """Does a keyword belong to `create` or `apply_gradients` of the component's state?"""
        call = self.parent(keyword)
        if not isinstance(call, ast.Call) or isinstance(self.flow.value(call.func), Function):
            return False
        return self.component.holds(self.flow.value(call))

    def in_apply(self, parent: ast.AST) -> bool:
        """Is `parent` the dictionary of variables of an apply of this component, or one that went?"""
        if not isinstance(parent, ast.Dict):
            return False
        if self.statement(parent) in self.dropped:
            return True
        call = self.parent(parent)
        method = self.flow.value(call.func) if isinstance(call, ast.Call) and call.args[:1] == [parent] else None
        return isinstance(method, Method) and method.name in ("apply", "bind") and self.component.holds(method)

    def _dropped(self, node: ast.AST) -> bool:
        """Is the value assigned to names that go away?"""
        statement = self.statement(node)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        target = statement.targets[0]
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        return all(isinstance(n, ast.Name) and loops.drop_assignment(self, n) for n in names)

    def _other(self, node: ast.AST, parent: ast.AST) -> None:
        """batch_stats and updates: the module keeps them itself."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if loops.drop_assignment(self, node) or aux_results.kept_name(self, node) or self._of_apply(node):
                return
            raise Unsupported(node, "a collection under another name")
        if self.in_apply(parent) or self._dropped(node) or isinstance(node, ast.Call):
            return
        if isinstance(parent, ast.keyword) and parent.arg == "batch_stats" and self._makes_state(parent):
            return
        raise Unsupported(node, "a collection that is used by itself")

    def _of_apply(self, name: ast.Name) -> bool:
        """Is `name` the second target of `logits, updates = model.apply(...)`? `loops` sees to it with the call."""
        statement = self.statement(name)
        call = statement.value if isinstance(statement, ast.Assign) else None
        return isinstance(call, ast.Call) and isinstance(self.flow.value(call.func), Method)

    def _gradients(self, node: ast.AST, parent: ast.AST) -> None:
        holder = self.over_keyword(parent)
        if self.passed_on(node) or (isinstance(holder, ast.Call) and trees.use(self, holder, node)):
            return
        lost_trees.check_use(self, node)
