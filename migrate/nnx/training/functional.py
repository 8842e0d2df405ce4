"""The functional form: params stay a tree that the program passes around, an nnx.State.

    params = model.init(key, x)         →   graphdef, params = nnx.split(model(..., rngs=nnx.Rngs(key)), nnx.Param)
    TrainState.create(apply_fn=model.apply, params=params, tx=tx)
                                        →   nnx.TrainState.create(graphdef, params=params, tx=tx)
    model.apply(params, x)              →   nnx.merge(graphdef, params)(x)

Old states may be read, states kept, and both be carried through `jax.lax.scan` in tuples: nothing is updated in place.
Where the models have params alone, all that `init` returns and its params are the same tree; where they have statistics
too, it stays the dictionary of both that it was. Random streams are no state: see `functional_calls`.
"""

from __future__ import annotations

import ast

from ...context import FileContext
from ...linen.flow.flow import Flow
from ...linen.flow.flow_values import (
    ANY,
    Bound,
    Collection,
    Deltas,
    Function,
    Gradients,
    Items,
    Method,
    Model,
    Nothing,
    OptState,
    State,
    Symbol,
    Tracked,
    Updated,
    Value,
    Variables,
)
from ...trees import subtree
from . import (
    advice,
    bound_models,
    changes,
    class_fields,
    copies,
    deep_copies,
    followed_results,
    functional_arrays,
    functional_calls,
    functional_fields,
    functional_gradients,
    functional_jitted,
    functional_kinds,
    functional_loaded,
    functional_masks,
    functional_saved,
    functional_state_classes,
    handed_apply,
    handed_models,
    init_functions,
    init_reach,
    leaf_order,
    linen_items,
    linen_trees,
    lost_trees,
    methods,
    optimizer_slots,
    removals,
    shared_structures,
    spec_trees,
    states_around,
    uncalled,
    updated_by_choice,
    wrapped_init,
)
from .components import Component
from .functional_kinds import Kind
from .functional_state_classes import STATE_FIELDS
from .init_functions import InitFunction
from .made_names import MadeNames
from .passed_trees import PassedTrees
from .rewrite import Unsupported, obstacle
from .wrapped_init import Wrapped


def write(components: list[Component], flow: Flow, contexts: dict[str, FileContext]) -> list[Component]:
    """The components that take the form."""
    forms: list[_Functional] = []
    made = MadeNames()
    for component in components:
        form = _Functional(component, flow, contexts, made)
        component.split_obstacle = obstacle(form)
        if not component.split_obstacle:
            forms.append(form)
            made.structures.update(form.names_given)
    given: dict[Symbol, _Functional] = {}
    for form in forms:
        for symbol in form.names_given:
            if given.setdefault(symbol, form) is not form:
                form.clashes = True
    forms = [form for form in forms if not form.clashes]
    while True:  # a class of states has one base: all whose states are of it take the form, or none
        kept = [form for form in forms if not functional_state_classes.is_kept(form, forms, components)]
        if len(kept) == len(forms):
            break
        forms = kept
    if not forms or not removals.commit(forms, "NNX602"):
        alone = [form for form in forms if not form.state_classes and removals.commit([form], "NNX602")]
        forms = alone
    for form in forms:
        for site, (plan, *_) in zip(form.component.sites, form.component.plans, strict=True):
            form.context(site).report(
                site,
                "NNX602",
                f"{plan.qualname.rpartition('.')[2]} keeps its functional program: its params are a tree of its own, "
                "and the model is merged where it is called",
                help=_kept_by(form.component.obstacle),
            )
    return [form.component for form in forms]


def _kept_by(obstacle: str) -> str:
    return f"What keeps nnx.Optimizer from it: {obstacle}{advice.to(obstacle)}." if obstacle else ""


class _Functional(PassedTrees):
    def __init__(
        self, component: Component, flow: Flow, contexts: dict[str, FileContext], made_names: MadeNames | None = None
    ) -> None:
        super().__init__(component, flow, contexts)
        self.names_given: list[Symbol] = []
        self.state_classes: set[str] = set()  # of the project
        self.kinds: list[Kind] = []  # the models, by class
        self.clashes = False
        self.init_calls: list[ast.Call] = []
        self.streams: tuple[str, ...] = ()  # that they draw from when they are called
        self.fixed = False  # do they hold arrays that are no variables, which are a part of their structure?
        self.annotated = False  # have their variables axes?
        self.functions: dict[ast.Call, InitFunction] = {}  # calls that initialize by a function
        self.wrapped: dict[ast.Call, Wrapped] = {}  # calls of functions that only initialize
        self.read_only: set[Symbol] = set()  # parameters that are given dictionaries as Linen has them, and read them
        self.by_name = False  # have they an optimizer that goes by the names of params?
        self.for_savers: set[ast.AST] = set()  # dictionaries and the like with trees, put together for what saves them
        self.masked: set[ast.AST] = set()  # what is made of dictionaries for such an optimizer
        self.structures: set[Symbol] = set()  # names that were given a model, and now its structure
        self.made_names = made_names or MadeNames()  # for variables that the program had no names for
        self.returned: set[tuple[ast.AST, tuple[int, ...]]] = set()  # results of functions that are structures now
        self.jitted: functional_jitted.Jitted | None = None
        self.given_to_fields: dict[str, set[str | None]] | None = None  # see `functional_fields`
        self.renamed: dict[Symbol, str] = {}  # parameters that are handed `apply`, and what they are now

    def run(self) -> None:
        self.one_class_each()
        site = self.component.sites[0]
        functional_calls.check_state(self)
        self.check_boxes()
        bound_models.check(self)
        self.fixed = functional_arrays.fixed(self)
        self.annotated = bool(self.flow.project.annotated_classes)
        if self.linen_says("_with_axes"):
            raise Unsupported(site, "axes in a collection of their own")
        methods.check(self)
        methods.check_attributes(self)
        self.by_name = functional_masks.find(self)
        changes.check(self)
        leaf_order.check(self)
        spec_trees.check(self)
        self._leaves()
        lost_trees.check(self, split=True)
        self.uses = list(self.tracked())
        if len(self.parts) > 1:
            functional_gradients.check(self)
        uncalled.check_states(self)
        followed_results.check(self)
        calls = [n for n, v in self.uses if isinstance(n, ast.Call) and isinstance(v, Variables)]
        wrapped = [found for call in calls if self._is_init(call) and (found := wrapped_init.find(self, call)) is not None]
        self.wrapped = {found.call: found for found in wrapped}
        functions = {call: init_functions.find(self, call) for call in calls if call not in self.wrapped}
        self.functions = {call: function for call, function in functions.items() if function is not None}
        within = {function.init for function in self.functions.values()} | {found.inner for found in wrapped}
        known = {*self.functions, *self.wrapped}
        self.init_calls = inits = [c for c in calls if c in known or (self._is_init(c) and c not in within)]
        if not inits:
            raise init_reach.nowhere(self)
        for call in inits:
            init_reach.check_wanted(self, call)
        self.kinds = functional_kinds.find(self, inits)
        self.fields = functional_fields.of_trees(self) | set(self.parts)
        for kind in self.kinds:
            kind.graphdefs = {scope: self._graphdef(kind, call) for scope, call in kind.homes.items()}
        self.read_only = linen_trees.readers(self)
        self.structures = handed_models.find(self)
        shared_structures.widen(self)
        self.masked = functional_masks.write(self)
        self.for_savers = functional_saved.find(self)
        for call in inits:
            self._init(call)
        for found in wrapped:
            wrapped_init.drop(self, found)
        self.jitted = functional_jitted.Jitted(self)
        for node, value in self.uses:
            self._use(node, value)
        for node, value in self.bundles():
            self.bundle(node, value)
        self.jitted.write()
        deep_copies.write(self)
        for name in sorted(self.state_classes):
            functional_state_classes.write(self, name)

    def saved(self, node: ast.AST, value: Value) -> bool:
        made = updated_by_choice.is_made(self, node)
        return made or node in self.for_savers or functional_loaded.record(self, node, value)

    # names -----------------------------------------------------------------------------------------------------
    def _is_init(self, node: ast.Call) -> bool:
        return isinstance(self.flow.value(node.func), Method)

    def initialized(self, call: ast.Call) -> ast.expr:
        function = self.functions.get(call)
        inner = self.wrapped[call].inner if call in self.wrapped else call
        return super().initialized(inner) if function is None else function.model

    def given_to_init(self, call: ast.Call) -> tuple[list[ast.expr], list[ast.keyword]]:
        """The key and the inputs, as the call of init itself or a function of it says them."""
        function = self.functions.get(call)
        inside = [k for k in self.wrapped[call].inner.keywords if k.arg is not None] if call in self.wrapped else []
        return (call.args, [*call.keywords, *inside]) if function is None else (function.given, function.keywords)

    def _graphdef(self, kind: Kind, call: ast.Call) -> str:
        """A name for the model's structure that no scope of the file has."""
        source = self.source(call)
        taken = {n.id for n in source.by_kind.get(ast.Name, ()) if isinstance(n, ast.Name)}
        taken |= {n.arg for n in source.by_kind.get(ast.arg, ()) if isinstance(n, ast.arg)}
        base = self.initialized(call)
        cls = kind.plan.qualname.rpartition(".")[2].lower()
        alone = self.flow.native_sites_by_file[source.module] == 1
        stems = (base.id.removeprefix("self.") if isinstance(base, ast.Name) else cls, cls)
        wanted = [*(["graphdef"] if alone else []), *(f"{stem}_graphdef" for stem in stems)]
        others = {name for other in self.kinds if other is not kind for name in other.graphdefs.values()}
        others |= {name for module, _, name in self.made_names.structures if module == source.module}
        free = (name for name in wanted if name not in taken and name not in others)
        scope = self.function(call)
        name = next((name for name in free if self.made_names.reserve(self, (source.module, scope, name))), "")
        if not name:
            raise Unsupported(call, f"the name {wanted[-1]} is taken")
        self.names_given.append((source.module, None, name))
        return name

    def _seen_from(self, kind: Kind, node: ast.AST) -> str:
        """The structure's name, where it is bound around a call."""
        scope = self.function(node)
        module = self.source(node).module
        while True:
            home = kind.homes.get(scope)
            if home is not None and self.source(home).module == module:
                init_reach.check(self, home, node, scope)
                return kind.graphdefs[scope]
            if scope is None:
                return ""
            scope = self.function(scope)

    def structure_beside(self, node: ast.AST) -> str:
        """The name of the structure of the model of a tree, where the function that initializes it, or one around, is."""
        value = self.flow.value(node)
        kind = functional_kinds.of(self, node, value) if isinstance(value, Tracked) else self.kinds[0]
        return "" if kind.several else self._seen_from(kind, node)

    def holder(self, node: ast.AST, function: ast.Attribute | ast.Name) -> str:
        if isinstance(function, ast.Name):
            name = handed_apply.name_of(self, function)
            if not name:
                raise Unsupported(node, "apply under a name of its own")
            return name
        base = function.value
        if isinstance(self.flow.value(base), State):
            return f"{self.text(base)}.graphdef"
        found = handed_models.name_of(self, base) or self.structure(node, base)
        if not found:
            raise Unsupported(node, "apply where the model's structure is not in sight")
        return found

    def is_in_sight(self, node: ast.AST, base: ast.expr) -> bool:
        """Is the structure of a model known where it is used?"""
        try:
            return bool(self.structure(node, base))
        except Unsupported:
            return False

    def structure(self, node: ast.AST, base: ast.expr) -> str:
        """The structure of a model where it is used; "" where it is not in sight."""
        value = self.flow.value(base)
        kind = functional_kinds.of(self, node, value)
        same = shared_structures.name_of(self, kind, base) or functional_kinds.initialized_here(self, kind, base)
        if same or kind.several:  # a state of several classes has its own structure, whichever of them it is of
            return same or (states_around.name_of(self, kind, node, None) if kind.joined else "")
        if not isinstance(value, Model) or not value.sites <= set(kind.trained):
            return self._structure(kind, node, base, value)
        scope = self.flow.symbol(self.source(base), base)[1] if isinstance(base, ast.Name) else None
        found = self._seen_from(kind, node)
        if kind.at_home and isinstance(base, ast.Name):
            constructed = any(self.function(made) is scope for made in kind.trained)
            home = kind.homes.get(scope)
            beside = home is not None and self.source(home) is self.source(node)  # of two files' own code, the same one's
            found = kind.graphdefs[scope] if beside else found if constructed else ""
            if not found and constructed:
                found = states_around.name_of(self, kind, node, scope)
        if found and found == kind.graphdefs.get(None) and self.function(node) is not None and kind.apart:
            # A function may be called before the file comes to its own call of init, with what another has initialized.
            found = linen_trees.structure_of_variables(self, node)
            if not found:
                raise Unsupported(node, "init is called in several places, of which a function sees one")
        if found or not kind.alike:
            return found
        return states_around.name_of(self, kind, node, None) or linen_trees.structure_of_variables(self, node)

    def _structure(self, kind: Kind, call: ast.AST, base: ast.expr, value: Value) -> str:
        """The structure of a model that is never initialized: `nnx.graphdef(nnx.eval_shape(lambda: model(...)))`."""
        inputs = call.args[1:] if isinstance(call, ast.Call) and not self.flow.creates_state(call) else []
        if not isinstance(value, Model) or len(value.sites) != 1 or not inputs or self.fixed:
            raise Unsupported(call, "several models of one kind")
        assert isinstance(call, ast.Call)
        context = self.context(call)
        given = [k for k in call.keywords if k.arg not in ("method", "mutable", "rngs")]
        arguments = self.sizes(call, inputs, given, kind.plan, again=True)
        streams = "".join(f", {name}=0" for name in self.streams)
        arguments += [f"rngs={context.name('flax.nnx.Rngs')}(0{streams})"] if kind.plan.needs_rngs else []
        name = self.text(base)
        if isinstance(base, ast.Call):  # constructed on the spot
            if base not in self.component.sites:
                raise Unsupported(call, "several models of one kind")
            name = self.text(base.func)
            arguments = [self.text(own) for own in [*base.args, *base.keywords]] + arguments
        elif not isinstance(base, ast.Name):
            raise Unsupported(call, "several models of one kind")
        graphdef, abstract = context.name("flax.nnx.graphdef"), context.name("flax.nnx.eval_shape")
        keyless, end = (f"{context.parity('keyless')}(", ")") if self.streams else ("", "")
        return f"{graphdef}({abstract}(lambda: {keyless}{name}({', '.join(arguments)}){end}))"

    # init and create -------------------------------------------------------------------------------------------
    def _init(self, call: ast.Call) -> None:
        given, keywords = self.given_to_init(call)
        if not given or any(k.arg in (None, "method", "mutable", "rngs") for k in keywords):
            raise Unsupported(call, "init of another method")
        functional_arrays.check_init(self, call)
        base = self.initialized(call)
        context = self.context(call)
        kind = functional_kinds.of(self, call, self.flow.value(call))
        arguments = self.sizes(call, given[1:], keywords, kind.plan)
        if kind.plan.needs_rngs:
            arguments.append(f"rngs={self.rngs(given[0], self.streams, kind.plan)}")
        split, kinds = context.name("flax.nnx.split"), [context.name(functional_calls.KINDS[part]) for part in self.parts]
        keyless, end = functional_arrays.stateless(self, context)
        called = f"({', '.join(arguments)}){end}, {', '.join(kinds)})"
        made = (f"{split}({keyless}", base, called)
        moved: tuple[str | ast.expr, ...] = made
        if isinstance(base, ast.Call) and base in self.component.sites:  # what is moved is not rewritten where it stood
            own = "".join(f"{self.text(node)}, " for node in [*base.args, *base.keywords])
            moved = (f"{split}({keyless}{self.text(base.func)}", f"({own}{called[1:]}")
        name = kind.graphdefs[self.function(call)]
        statement = self.statement(call)
        opening = self._opening(statement)
        if call in self.functions:
            init_functions.write(self, call, self.functions[call], made, f"{opening}{name}, ")
            return
        nested = self._created_with(call)
        if len(self.parts) > 1:
            functional_calls.dictionary(self, call, f"{opening}{name}", made)
            return
        if nested is not None:
            assert nested.arg is not None
            held = self.made_names.passed_on(self, call, [nested.arg, name.replace("graphdef", nested.arg)])
            if not held:
                raise Unsupported(call, f"the name {nested.arg} is taken")
            self.insert_before(statement, f"{opening}{name}, {held} = ", *moved)
            self.replace(nested.value, held)
            self.dropped.update(subtree(nested.value))
            return
        value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        outer = self.parent(call)
        if isinstance(outer, ast.Subscript) and self._says_params(outer):
            call, outer = outer, self.parent(outer)  # type: ignore[assignment]
        if value is not call or not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            if not self.goes_on(call):
                raise Unsupported(call, "variables that go where they are not followed")
            variables = init_functions.made_before(self, call, statement)
            self.insert_before(statement, f"{opening}{name}, {variables} = ", *moved)
            self.replace(call, variables)
            self.dropped.update(subtree(call))
            return
        self.insert_at(statement.targets[0], f"{opening}{name}, ")
        self.replace(call, *made)

    def is_logical(self, context: FileContext) -> bool:
        """May the layout of a variable be another than that of the state? Linen changed it where it read."""
        return self.annotated and context.project is not None and context.project.uses_logical_names

    def _opening(self, statement: ast.stmt) -> str:
        """Linen only notes the axes when it initializes: what lays variables out is the program's own."""
        if not self.annotated:
            return ""
        source = self.source(statement)
        start = source.span(statement).start
        if source.text[source.text.rfind("\n", 0, start) + 1 : start].strip():
            raise Unsupported(statement, "init on a line with other statements")
        indent = f"{source.newline}{source.indent_of(statement)}{source.indent_unit}"
        return f"with {self.context(statement).name('flax.nnx.use_eager_sharding')}(False):{indent}"

    def _created_with(self, call: ast.Call) -> ast.keyword | None:
        """The keyword of a TrainState.create whose value is what init returns, in a statement that makes that state."""
        node: ast.AST = call
        parent = self.parent(node)
        if isinstance(parent, ast.Subscript) and self._says_params(parent):
            node, parent = parent, self.parent(parent)
        create = self.parent(parent)
        if not isinstance(parent, ast.keyword) or not isinstance(create, ast.Call) or not self.flow.creates_state(create):
            return None
        made = isinstance(self.parent(create), ast.Assign | ast.AnnAssign | ast.Return)
        return parent if made and parent.arg is not None else None

    def insert_at(self, node: ast.AST, text: str) -> None:
        span = self.source(node).span(node)
        self.edits.append((self.context(node), type(span)(span.start, span.start), (text,)))

    def _says_params(self, node: ast.Subscript) -> bool:
        return isinstance(node.slice, ast.Constant) and node.slice.value == "params"

    def _create(self, call: ast.Call, value: State) -> None:
        keywords = {k.arg: k for k in call.keywords}
        if call.args or not {"apply_fn", "params", "tx"} <= keywords.keys() or None in keywords:
            raise Unsupported(call, "a TrainState that is made in another way")
        own = self.flow.state_classes.own.get(value.cls)
        extra = keywords.keys() - {"apply_fn", "params", "tx", "step"}
        if own is None:
            if extra or not isinstance(call.func, ast.Attribute):
                raise Unsupported(call, "other fields of the TrainState")
            self.replace(call.func, f"{self.context(call).name('flax.nnx.TrainState')}.create")
        else:
            if not isinstance(call.func, ast.Attribute):
                raise Unsupported(call, "a TrainState that is constructed as it is")
            self.state_classes.add(value.cls)
        given = keywords["apply_fn"]
        method = self.flow.value(given.value)
        if isinstance(given.value, ast.Constant) and given.value.value is None:
            kind = functional_kinds.of(self, call, value)
            holder = self._seen_from(kind, call)
            if not holder or kind.several:
                raise Unsupported(call, "a TrainState of which no function says the model")
        elif isinstance(method, Method) and method.name == "apply" and isinstance(given.value, ast.Attribute | ast.Name):
            holder = self.holder(call, given.value)
        else:
            raise Unsupported(call, "a TrainState with another function than apply")
        self.replace(given, holder if given is call.keywords[0] else f"graphdef={holder}")
        functional_masks.given(self, call, keywords["tx"], value, holder)

    def _check_given(self, call: ast.Call) -> None:
        """Unsupported where a state is given params that something else has made: they would be Linen's dictionaries."""
        made = self.flow.creates_state(call) or (isinstance(call.func, ast.Attribute) and call.func.attr == "replace")
        for keyword in call.keywords if made else ():
            value = self.flow.value(keyword.value)
            if keyword.arg in (*self.parts, "opt_state") and not isinstance(value, Tracked | Nothing):
                if value == ANY and functional_loaded.replaced(self, keyword):
                    continue
                raise Unsupported(keyword.value, f"{keyword.arg} from elsewhere")

    # uses ------------------------------------------------------------------------------------------------------
    def _use(self, node: ast.AST, value: Value) -> None:
        if (
            node in self.dropped
            or node in self.masked
            or self._is_read_only(node)
            or functional_loaded.changed(self, node, value)
        ):
            return
        parent = self.parent(node)
        if isinstance(node, ast.Call):
            if node in self.component.sites:
                self._site(node)
            elif isinstance(value, State) and self.flow.creates_state(node):
                self._create(node, value)
            if isinstance(value, State):
                self._check_given(node)
            functional_loaded.read_back(self, node)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            if isinstance(node.ctx, ast.Del):
                raise Unsupported(node, "a value that is deleted")
            functional_loaded.assigned(self, node)
            return
        if isinstance(value, Bound):
            return  # seen to by its calls: see `bound_models`
        if isinstance(value, Model):
            if handed_models.hand_on(self, node):
                return
            if isinstance(parent, ast.Attribute) and isinstance(self.flow.value(parent), Method):
                return
            if not self.goes_on(node):
                raise Unsupported(node, "a module that is used otherwise than by init and apply")
        elif isinstance(value, Method):
            self._method(node, value, parent)
        elif isinstance(value, Variables | State | Collection | Gradients | OptState | Deltas | Updated):
            self._tree(node, value, parent)
        else:
            raise Unsupported(node, "a value of another kind")

    def _is_read_only(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and self.flow.symbol(self.source(node), node) in self.read_only

    def _site(self, node: ast.Call) -> None:
        parent = self.parent(node)
        if isinstance(parent, ast.Attribute):  # `MLP(8).init(key, x)`: constructed here once more, with sizes
            call = self.parent(parent)
            made = isinstance(call, ast.Call) and call.func is parent and parent.attr in ("init", "apply")
            if not made:
                raise Unsupported(node, "a module that is used where it is constructed")
            if parent.attr == "apply":
                return  # the text goes with the call
        self.to_partial(node)

    def _method(self, node: ast.AST, value: Method, parent: ast.AST) -> None:
        called = isinstance(parent, ast.Call) and parent.func is node
        if self.jitted is not None and self.jitted.is_named(node) and not called:
            raise Unsupported(node, "a jitted apply that is handed on")
        if value.name == "apply" and isinstance(node, ast.Attribute) and functional_jitted.mapped(self, parent, node):
            functional_jitted.write_mapped(self, node)
            return
        if value.name == "apply" and isinstance(parent, ast.keyword) and parent.arg == "apply_fn":
            if self.flow.creates_state(self.parent(parent)):  # type: ignore[arg-type]
                return
        if (
            isinstance(parent, ast.keyword)
            and parent.arg == "method"
            and functional_calls.applies(self, self.parent(parent))
        ):
            return  # `method=model.encode`: with the call
        if called and value.name == "apply" and isinstance(parent, ast.Call):
            functional_calls.apply(self, parent, node)
        elif called and value.name == "bind" and isinstance(parent, ast.Call):
            functional_calls.bind(self, parent)
        elif (value.name == "apply" and handed_apply.hand_on(self, node)) or class_fields.write(self, node):
            return
        elif value.name != "init" or not (self.initializes(node) or node in {f.init for f in self.functions.values()}):
            raise Unsupported(node, f"the method {value.name}")

    # trees -----------------------------------------------------------------------------------------------------
    def _tree(self, node: ast.AST, value: Value, parent: ast.AST) -> None:
        if self.is_counter(value):
            return
        if isinstance(node, ast.Subscript) and isinstance(parent, ast.Attribute) and parent.attr in ("value", "unbox"):
            spec_trees.write_opened(self, parent)
            return
        if isinstance(node, ast.Dict):
            functional_calls.check_dictionary(self, node)
        if isinstance(node, ast.Subscript) and linen_items.write(self, node, value):
            return
        if isinstance(node, ast.Subscript):
            whole = isinstance(self.flow.value(node.value), Variables | Updated)
            if whole and len(self.parts) > 1 and isinstance(value, Collection) and value.name in self.parts:
                pass  # an item of a dictionary as before
            elif whole and self._says_params(node) and isinstance(value, Collection):
                if not (isinstance(node.value, ast.Call) and self._is_init(node.value)):  # else it is written
                    self.replace(node, node.value)
            elif not isinstance(self.flow.value(node.value), Items) and not spec_trees.is_boxed(self, node):
                raise Unsupported(node, "an item of params")
        if isinstance(parent, ast.Subscript) and parent.value is node:
            linen_items.computed(self, node, value, parent)
            if isinstance(value, OptState) and isinstance(node, ast.expr):
                optimizer_slots.check(self, node)
            return  # the item is looked at by itself
        if isinstance(parent, ast.Attribute):
            if not (isinstance(value, Variables | Updated) and functional_calls.takes_item(self, parent)):
                self._attribute(parent, value)
            return
        if functional_saved.write(self, node, value):
            return
        if linen_trees.shown(self, node) or functional_loaded.shown(self, node) or copies.asks_for_none(node, parent):
            return
        if isinstance(value, State) and copies.asks_for_truth(node, parent):
            return
        if self.read_only.intersection(self.receivers(node)) and linen_trees.hand_over(self, node):
            return
        if not self.goes_on(node) and not (linen_trees.hand_over(self, node) or functional_loaded.saved(self, node)):
            raise Unsupported(node, f"a state that is used as something else than a tree{self.by_whom(node)}")

    def _attribute(self, parent: ast.Attribute, value: Value) -> None:
        if isinstance(value, State):
            if parent.attr in STATE_FIELDS or parent.attr in self.flow.state_classes.fields(value.cls):
                if parent.attr == "opt_state":
                    optimizer_slots.check(self, parent)
                    functional_saved.slots(self, parent)
                return
            if isinstance(self.flow.value(parent), Function):
                return  # a method of its class: see `functional_state_classes`
        raise Unsupported(parent, f"the attribute {parent.attr}")

    def _leaves(self) -> None:
        """Leaves of params by their places, which an nnx.State may have in another order."""
        for node in self.flow.uses.calls(leaf_order.LEAVES):
            if node.args and self.has(self.flow.value(node.args[0])) and not leaf_order.orderless(self, node):
                raise Unsupported(node, "leaves of which the order may matter")
