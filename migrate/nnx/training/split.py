"""The functional form: the state stays a tree, made of nnx.State, and the model is merged where it is called.

For programs whose shardings, specs or transforms need the state as a tree (`out_shardings=state_spec`).
"""

from __future__ import annotations

import ast

from ...catalog.shardings import PLAIN
from ...context import FileContext
from ...linen.flow import Flow
from ...linen.flow_values import Collection, Gradients, Method, Model, State, Value, Variables
from . import collections, leaf_order, masks, methods, one_model, removals, spec_trees
from .components import Component
from .rewrite import Rewrite, Unsupported, obstacle

_ANNOTATIONS = ("with_partitioning", "with_logical_partitioning", "Partitioned", "param_with_axes")
# Functions of spec trees: what takes their place where the project has logical names.
_SPECS = {"flax.linen.get_partition_spec": "get_partition_spec", "flax.linen.get_sharding": "get_sharding"}
# Calls that take a tree of any kind.
_TREES = ("jax.", "optax.", "flax.nnx.", "flax.linen.spmd", "flax.linen.logical", "flax.linen.get_", "flax.linen.unbox")
_BUILTINS = {"print", "type", "len", "isinstance", "repr", "str", "id"}
_STATE_FIELDS = {"params", "opt_state", "step", "tx", "apply_gradients", "replace", "apply_fn"}


def write(component: Component, flow: Flow, contexts: dict[str, FileContext]) -> bool:
    """Whether every use was understood; only then is anything edited."""
    form = _Split(component, flow, contexts)
    if obstacle(form) or not removals.commit([form], "NNX602"):
        return False
    for site, (plan,) in zip(component.sites, component.plans):
        form.context(site).report(
            site,
            "NNX602",
            f"{plan.qualname.rpartition('.')[2]} keeps its functional program: the state is an nnx.TrainState, "
            "the model is merged where it is called",
        )
    return True


class _Split(Rewrite):
    def run(self) -> None:
        self.one_class_each()
        self.check_records()
        methods.check(self)
        methods.check_attributes(self)
        plans = [plan for (plan,) in self.component.plans]
        same = all(p.added_arguments == self.plan.added_arguments for p in plans)
        if not same or any(p.rng_streams or p.collections - {"params"} for p in plans):
            raise Unsupported(self.component.sites[0], "more state than params")
        annotated = any(
            word in info.source.text for info in self.flow.project.linen_classes.values() for word in _ANNOTATIONS
        )
        if not annotated:
            raise Unsupported(self.component.sites[0], "no sharding in it: plain dictionaries are the better tree")
        masks.check(self)
        leaf_order.check(self)
        spec_trees.check(self, by_item=True)
        uses = list(self.tracked())
        if not any(isinstance(value, State) for _, value in uses) or collections.whole(self):
            raise Unsupported(self.component.sites[0], "no TrainState of params")
        one_model.check_sites(self, several=True)
        inits = [
            node for node, value in uses if isinstance(value, Method) and value.name == "init" and self.initializes(node)
        ]
        one_model.check_calls(self, set(map(self.function, inits)))
        for node, value in uses:
            self._use(node, value)

    def _use(self, node: ast.AST, value: Value) -> None:
        if isinstance(node, ast.Call):
            if node in self.component.sites:
                self.to_partial(node)
            elif isinstance(value, Variables) and isinstance(self.flow.value(node.func), Method):
                self._init(node)
            elif isinstance(value, State) and self.flow.creates_state(node):
                self._create(node, value)
        if self.leads_on(node):
            return
        parent = self.parent(node)
        self.check_landing(node)
        if isinstance(value, Model):
            if not self.passed_on(node):
                raise Unsupported(node, "a module that is used otherwise than by init and apply")
        elif isinstance(value, Method):
            called = isinstance(parent, ast.Call) and parent.func is node
            if called and value.name == "apply":
                self._apply(parent, node)  # type: ignore[arg-type]
            elif value.name == "init" and self.initializes(node):
                return
            elif not (isinstance(parent, ast.keyword) and parent.arg == "apply_fn" and value.name == "apply"):
                raise Unsupported(node, f"the method {value.name}")
        elif isinstance(value, Variables):
            return  # seen to where init is called
        elif isinstance(value, State | Collection | Gradients):
            self._tree(node, value, parent)
        else:
            raise Unsupported(node, "updates of other collections")

    # init and create -------------------------------------------------------------------------------------------
    def _init(self, call: ast.Call) -> None:
        """`variables = model.init(key, x)` → `graphdef, params = nnx.split(model(rngs=...), nnx.Param)`."""
        base = self.initialized(call)
        if not call.args or any(k.arg in (None, "method", "mutable") for k in call.keywords):
            raise Unsupported(call, "init of another method")
        statement = self.statement(call)
        context = self.context(call)
        scope = self.function(call)
        name = self._free("graphdef", call)
        nested = self.created_with(call)
        if nested is not None:
            params = self._free("params", call)
            self.replace(nested, params)
        else:
            params = self._named(call, statement, scope)
        arguments = [*self.sizes(call, call.args[1:], call.keywords), f"rngs={self.rngs(call.args[0])}"]
        split, param = context.name("flax.nnx.split"), context.name("flax.nnx.Param")
        eager = context.name("flax.nnx.use_eager_sharding")
        source = self.source(call)
        # Linen only notes the axes when it initializes: the layout is that of out_shardings.
        indent = f"{source.newline}{source.indent_of(statement)}{source.indent_unit}"
        made = (f"with {eager}(False):{indent}{name}, {params} = {split}(", base, f"({', '.join(arguments)}), {param})")
        if nested is not None:
            self.insert_before(statement, *made)
        else:
            self.replace(statement, *made)

    def _named(self, call: ast.Call, statement: ast.stmt, scope: ast.AST | None) -> str:
        """The name of the params that a statement assigns from init."""
        if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
            raise Unsupported(call, "variables that are not assigned")
        target = statement.targets[0]
        if not isinstance(target, ast.Name):
            raise Unsupported(call, "variables that are not assigned to a name")
        if statement.value is call:
            return self._variables(target, scope)
        if self._is_params(statement.value, call):
            return target.id
        raise Unsupported(call, "variables within an expression")

    def _is_params(self, node: ast.expr, call: ast.Call) -> bool:
        return (
            isinstance(node, ast.Subscript)
            and node.value is call
            and isinstance(node.slice, ast.Constant)
            and node.slice.value == "params"
        )

    def _variables(self, target: ast.Name, scope: ast.AST | None) -> str:
        """Rewrite `variables['params']` of one scope; the name that the params get."""
        symbol = self.flow.symbol(self.source(target), target)
        loads = [
            node
            for node, value in self.tracked()
            if isinstance(node, ast.Name) and isinstance(value, Variables) and self._symbol(node) == symbol
        ]
        stores = [node for node in loads if isinstance(node.ctx, ast.Store)]
        if len(stores) != 1:
            raise Unsupported(target, "variables that are assigned twice")
        alias: str | None = None
        uses: list[ast.Subscript] = []
        for node in loads:
            if isinstance(node.ctx, ast.Store):
                continue
            parent = self.parent(node)
            constant = parent.slice if isinstance(parent, ast.Subscript) else None
            if not (isinstance(constant, ast.Constant) and constant.value == "params"):
                raise Unsupported(node, "variables used as a whole")
            if self.function(node) is not scope:
                raise Unsupported(node, "variables used in another function")
            assert isinstance(parent, ast.Subscript)
            holder = self.parent(parent)
            if isinstance(holder, ast.Assign) and holder.value is parent and isinstance(holder.targets[0], ast.Name):
                if alias is not None or len(holder.targets) != 1:
                    raise Unsupported(node, "params under two names")
                alias = holder.targets[0].id
                self.delete(holder)
            else:
                uses.append(parent)
        params = alias or self._free("params", target)
        for use in uses:
            self.replace(use, params)
        return params

    def _symbol(self, node: ast.Name) -> object:
        return self.flow.symbol(self.source(node), node)

    def _free(self, name: str, node: ast.AST) -> str:
        source = self.source(node)
        scope = self.function(node)
        taken = source.names.bound_in(scope) if scope is not None else set(source.names.definitions)
        if name in taken:
            raise Unsupported(node, f"the name {name} is taken")
        return name

    def _create(self, call: ast.Call, value: State) -> None:
        """`TrainState.create(apply_fn=model.apply, params=..., tx=...)` → `nnx.TrainState.create(graphdef, ...)`."""
        if value.cls in self.flow.state_classes.own or call.args:
            raise Unsupported(call, "a TrainState of the project's own")
        keywords = {k.arg: k for k in call.keywords}
        if set(keywords) != {"apply_fn", "params", "tx"} or next(iter(keywords)) != "apply_fn":
            raise Unsupported(call, "other fields of the TrainState")
        scope = self.function(call)
        if not any(
            isinstance(node, ast.Call) and isinstance(value, Variables) and self.function(node) is scope
            for node, value in self.tracked()
        ):
            raise Unsupported(call, "a TrainState made in another function than its variables")
        self.replace(call.func, f"{self.context(call).name('flax.nnx.TrainState')}.create")
        self.replace(keywords["apply_fn"], "graphdef")

    # apply -----------------------------------------------------------------------------------------------------
    def _apply(self, call: ast.Call, function: ast.AST) -> None:
        """`state.apply_fn({'params': params}, x)` → `nnx.merge(state.graphdef, params)(x)`."""
        if not isinstance(function, ast.Attribute):
            raise Unsupported(call, "apply under a name of its own")
        variables = call.args[0] if call.args else None
        if not (
            isinstance(variables, ast.Dict)
            and len(variables.keys) == 1
            and isinstance(variables.keys[0], ast.Constant)
            and variables.keys[0].value == "params"
        ):
            raise Unsupported(call, "variables that are not spelled out")
        if any(k.arg in (None, "rngs", "mutable", "method", "capture_intermediates") for k in call.keywords):
            raise Unsupported(call, "apply with more than variables and inputs")
        if function.attr == "apply_fn":
            holder = self.text(function.value)
        else:
            holder = self._state_in_sight(call)
        merge = self.context(call).name("flax.nnx.merge")
        source = self.source(call)
        rest: list[ast.expr | ast.keyword] = [*call.args[1:], *call.keywords]
        end = source.span(rest[0]).start if rest else source.span(call).end - 1
        head = type(source.span(call))(source.span(call).start, end)
        # Under logical rules a parameter's layout may be another than that of the state: Linen changed it where it read.
        context = self.context(call)
        logical = context.project is not None and context.project.uses_logical_names
        opening, closing = (f"{context.parity('laid_out')}(", ")") if logical else ("", "")
        self.replace_span(call, head, f"{merge}({holder}.graphdef, {opening}", variables.values[0], f"{closing})(")

    def _state_in_sight(self, call: ast.Call) -> str:
        """A parameter of the functions around `call` that holds the state."""
        source = self.source(call)
        for scope in source.ancestors(call):
            if isinstance(scope, ast.FunctionDef | ast.Lambda):
                for argument in scope.args.args:
                    value = self.flow.env.get((source.module, scope, argument.arg))
                    if isinstance(value, State) and self.component.holds(value):
                        if not source.names.is_hidden(argument.arg, call):
                            continue
                        return argument.arg
        raise Unsupported(call, "apply where no state is in sight")

    # trees -----------------------------------------------------------------------------------------------------
    def _tree(self, node: ast.AST, value: Value, parent: ast.AST) -> None:
        """A state, its params or gradients in use: fine wherever any tree will do."""
        if self.passed_on(node):
            return
        if isinstance(parent, ast.Attribute):
            if isinstance(value, State) and parent.attr in _STATE_FIELDS:
                return
            if isinstance(node, ast.Subscript) and parent.attr in ("value", "unbox"):
                self._leaf(parent)
                return
            raise Unsupported(node, f"the attribute {parent.attr}")
        if isinstance(parent, ast.keyword):
            parent = self.parent(parent)
        if isinstance(parent, ast.Dict):
            call = self.parent(parent)
            method = self.flow.value(call.func) if isinstance(call, ast.Call) and call.args[:1] == [parent] else None
            if isinstance(method, Method) and self.component.holds(method):
                return  # the variables of apply
            raise Unsupported(node, "a state in a dictionary")
        if isinstance(parent, ast.Expr):
            return  # shown by a notebook
        if isinstance(parent, ast.Call):
            name = self.flow.name(parent.func) or (parent.func.id if isinstance(parent.func, ast.Name) else "")
            if name in _SPECS:
                self._specs(parent, name)
                return
            if isinstance(parent.func, ast.Attribute) and parent.func.attr in ("apply_gradients", "replace", "create"):
                return
            if name in _BUILTINS or (name.startswith(_TREES) and not name.endswith("with_path")):
                return
        raise Unsupported(node, "a state that is used as something else than a tree")

    def _specs(self, call: ast.Call, name: str) -> None:
        """Bare PartitionSpecs or shardings in the state's tree, as Linen gives them."""
        context = self.context(call)
        logical = context.project is not None and context.project.uses_logical_names
        function = context.parity(_SPECS[name]) if logical else context.name(PLAIN[name])
        parts: list[str | ast.AST] = []
        for given in [*call.args, *call.keywords]:
            parts += [", ", given] if parts else [given]
        self.replace(call, f"{context.name('flax.nnx.as_pure')}({function}(", *parts, "))")

    def _leaf(self, attribute: ast.Attribute) -> None:
        """`params['W'].value` and `params['W'].unbox()` → `params['W'][...]`."""
        tail: ast.AST = attribute
        if attribute.attr == "unbox":
            tail = self.parent(attribute)
        source = self.source(attribute)
        span = type(source.span(tail))(source.span(attribute.value).end, source.span(tail).end)
        self.replace_span(attribute, span, "[...]")
