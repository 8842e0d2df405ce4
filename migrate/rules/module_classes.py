"""What the module writer says of a Linen class: why it stays Linen, and what to do about it.

The writer reports these with the place and the particular reason; `linen/` and `nnx/` raise `Unmigratable` with the code.
"""

from __future__ import annotations

from ..rule import Rule

_SURE = "Diagnostic only: the class keeps its code, and gets a TODO comment above it."


def _stays(code: str, name: str, summary: str, found: str, why: str, remedy: str) -> Rule:
    """A reason for which a class stays Linen: what was found, why it cannot be carried over, what a person can do."""
    return Rule(code, name, summary, what=f"{found} What to do: {remedy}", why=why, how_sure=_SURE)


_AT_CALL = "Linen creates variables at the first call, NNX in the constructor, where the inputs are not there yet."
_STRUCTURE = "The constructor has to create the same submodules, under the same names, as the first call did."
_NO_COUNTERPART = "NNX has no counterpart that does the same, and an approximation would change results silently."
_UNFOLLOWED = "What cannot be followed for certain is not guessed: a wrong guess would change keys or numbers silently."

RULES = (
    Rule(
        "NNX100",
        "linen-module",
        "a class of flax.linen becomes an nnx.Module with a constructor",
        what="Submodules, parameters and variables of `@nn.compact` and `setup` are created in `__init__`, under the names "
        "they had as keys. Sizes that Linen took from the first input come from the code where they are written, and are "
        "else keyword-only arguments that the callers are given. A class for which this cannot be done stays Linen, with "
        "one of the codes below.",
        why="NNX modules hold their variables, and create them when they are constructed.",
        how_sure="By construction; `nnx-migrate verify` and `compat.check_equivalence` prove it for the model at hand.",
    ),
    _stays(
        "NNX110",
        "input-size-unknown",
        "the size of an input that a layer's weights depend on is not known",
        "A `Dense`, `Conv` or norm takes its input size from an array whose shape does not follow from the code.",
        _AT_CALL,
        "reshape or annotate so that the last dimension is written, make the size a field, or let one abstract run tell: "
        "`--trace MODULE:CALLABLE`.",
    ),
    _stays(
        "NNX111",
        "parameter-shape-from-call",
        "a parameter's shape or initializer needs a value known only in the call",
        "An argument of `self.param` depends on the inputs in a way that the constructor cannot say.",
        _AT_CALL,
        "make that value a field of the class.",
    ),
    _stays(
        "NNX112",
        "variable-from-call",
        "a variable starts from a value known only in the call",
        "`self.variable` is given an initial value that depends on the inputs, in a loop or in `setup`.",
        _AT_CALL,
        "give it an initial value that follows from the fields.",
    ),
    _stays(
        "NNX113",
        "layer-argument-from-call",
        "a layer's argument is known only when the module is called",
        "`nn.Dense(n)` where `n` depends on the inputs or on an argument of `__call__`.",
        _AT_CALL,
        "make the value a field, or pass it to the layer's call where the layer takes it there.",
    ),
    _stays(
        "NNX114",
        "sizes-change-along-a-list",
        "input sizes change along a list of modules in setup",
        "The modules of one comprehension need different input sizes that no expression gives.",
        _AT_CALL,
        "write the list as a loop whose variable carries the size.",
    ),
    Rule(
        "NNX115",
        "rank-taken",
        "the number of dimensions of an input is an assumption",
        what="The class could only be migrated with a rank for this input, and neither the code nor a trace shows it. With "
        "another rank the constructor fails. What to do: look whether the "
        "rank is right, or settle it with `--trace MODULE:CALLABLE`.",
        why="`x.shape[1]` of an array of unknown rank is the size of no particular axis.",
        how_sure="An assumption, stated. Proved for the model at hand by `nnx-migrate verify`.",
    ),
    _stays(
        "NNX120",
        "modules-in-match",
        "submodules are made in a match or try statement",
        "A `match`, or what a `try` catches, decides which submodules there are.",
        _STRUCTURE,
        "write `if` and `elif`.",
    ),
    _stays(
        "NNX121",
        "modules-in-computed-container",
        "a container of submodules is built in a way that cannot be followed",
        "A submodule is stored under a computed key, or lists of submodules are joined or grown by `+` in a loop.",
        _UNFOLLOWED,
        "build the list with a comprehension or `append`; use literal keys.",
    ),
    _stays(
        "NNX122",
        "modules-in-while",
        "submodules are made in a while loop, or in a loop that is left early",
        "How many there are is decided by the loop's condition, or by a `break` or `return` in it.",
        _STRUCTURE,
        "loop over `range(n)` with `n` a field.",
    ),
    _stays(
        "NNX123",
        "modules-in-unknown-loop",
        "submodules are made in a loop over something that is not known",
        "The loop runs over a value that is not a field, a literal, a range or something computed from these.",
        _STRUCTURE,
        "loop over a field or a range of a field.",
    ),
    _stays(
        "NNX124",
        "contains-itself",
        "a module contains itself",
        "The class makes instances of itself, so that its structure has no end that the code shows.",
        _UNFOLLOWED,
        "unroll the recursion into a loop over a field.",
    ),
    _stays(
        "NNX125",
        "unknown-class",
        "a module class that is used is not known",
        "The class is not in the files that were given.",
        _UNFOLLOWED,
        "run nnx-migrate over the whole project.",
    ),
    _stays(
        "NNX126",
        "nested-too-deep",
        "the code of the class is nested too deeply to follow",
        "The analysis ran into Python's recursion limit.",
        _UNFOLLOWED,
        "split the expression or the method.",
    ),
    _stays(
        "NNX127",
        "module-passed-on",
        "a module instance is passed to another module in a way that has no native form",
        "A shared module, `Decoder(embed=self.shared)`, becomes the same object in NNX; a module handed over outside of "
        "modules, `AutoEncoder(Encoder(8))`, becomes a factory, `AutoEncoder(functools.partial(Encoder, 8))`, which the "
        "constructor calls. What stays: an instance passed to a "
        "class under `nn.scan` or `nn.vmap`, one that is assigned to an attribute (or passed again) only after it was "
        "passed, one with a `name=` that is no attribute, one of a list that a loop of a compact method makes; outside of "
        "modules, lists of them, what a function returns, one that is used by itself too.",
        "Linen names a module after the first place that it is attached to, and copies it under a transform; in NNX its key "
        "is where the attribute is.",
        "assign the module to an attribute first, then pass the attribute; outside of modules, pass its call.",
    ),
    _stays(
        "NNX128",
        "coroutine-method",
        "a method of a module is a coroutine",
        "An `async def` in a module class.",
        _NO_COUNTERPART,
        "make it an ordinary method.",
    ),
    _stays(
        "NNX130",
        "lifted-form",
        "a lifted transform is used in a form that has no native writing here",
        "`nn.fold_rngs`, `nn.add_metadata_axis`, `nn.intercept_methods`, `partitioning.variable_with_axes`; derivatives by "
        "other variables than the parameters or of several modules at once; `nn.map_variables` of other "
        "collections, or of a function whose first values it changes; `nn.remat_scan` of a function, or around or within a "
        "scan or vmap; a lifted transform outside of a module's methods (`Batched = nn.vmap(Model, ...)` at module level is "
        "a class where the members share their variables), in a comprehension, or of a function that stacks only some of "
        "its module's variables. "
        "What becomes native is `nn.scan`, `nn.vmap`, `nn.remat` and `nn.jit` of classes, functions, methods, "
        "`nn.remat_scan` and `nn.map_variables` of classes, `nn.vjp`, `nn.grad`, `nn.value_and_grad`, `nn.jvp` and "
        "`nn.custom_vjp` of one module's functions; `nn.cond`, `nn.switch` and `nn.while_loop` over what exists already.",
        "A lifted function says which variables are carried, split or broadcast; only these forms are rewritten.",
        "make the modules before the function and lift one of these ways, or write the NNX transform by hand.",
    ),
    _stays(
        "NNX131",
        "share-scope",
        "nn.share_scope is used",
        "Two modules put their variables into one scope.",
        _NO_COUNTERPART,
        "make the shared layers in one class and call them from there.",
    ),
    _stays(
        "NNX132",
        "one-of-several-modules",
        "what is called may be one of several modules",
        "A variable holds one module or another, or what makes modules of one kind or another, depending on something that "
        "is not known or cannot be asked again where the module is used.",
        _UNFOLLOWED,
        "call them in the branches of the `if` that chooses.",
    ),
    _stays(
        "NNX133",
        "computed-attribute",
        "getattr(self, ...) or setattr(self, ...) with a computed name",
        "Submodules or fields are looked up or made under names that are not in the code.",
        _UNFOLLOWED,
        "keep them in a list or a dict with literal keys.",
    ),
    _stays(
        "NNX134",
        "modules-in-transformed-function",
        "modules are made in a function that is given to a transform",
        "A function with layers inside goes to `jax.vmap`, `jax.lax.scan`, `jax.checkpoint` or the like; "
        "or code that sizes may depend on is not followed, as with `nonlocal` and `global`.",
        "In NNX a module that is made inside a transformed function does not outlive it.",
        "make the layers before, and use them in the function.",
    ),
    _stays(
        "NNX135",
        "modules-made-for-the-caller",
        "a helper function makes submodules in its caller's scope, in a way in which they cannot be handed to it",
        "A function outside of classes makes layers, which Linen names in the scope of the module that is running. As a "
        "rule the function gets a keyword-only parameter for each, and the caller's constructor makes them: "
        "`block(x, 8, conv=self.Conv_0)`; parameters are read off the module that it is given. Not so where it makes them "
        "in a loop of its own, for `setup`, through lifted transforms or under computed names, makes variables, asks Linen "
        "something (`is_initializing`), or is decorated.",
        _UNFOLLOWED,
        "make the layers in the method, or turn the helper into a method.",
    ),
    _stays(
        "NNX136",
        "super-outside-the-project",
        "super() leads outside the project",
        "The method of a base class that was not given is called.",
        _UNFOLLOWED,
        "give the base class's file to nnx-migrate too, or copy the method.",
    ),
    _stays(
        "NNX137",
        "unpacked-arguments",
        "a module is made with *args or **kwargs",
        "What the layer is given is not in the code.",
        _UNFOLLOWED,
        "write the arguments out.",
    ),
    _stays(
        "NNX138",
        "unknown-module",
        "what is made is not known",
        "The class that is called comes from a value that is not known before the call, from outside the project, or from a "
        "partial of a partial.",
        _UNFOLLOWED,
        "give the field a default or a literal at its call sites; give all files of the project.",
    ),
    _stays(
        "NNX139",
        "explicit-parent",
        "a submodule is made with parent=",
        "`parent=` puts the submodule into another module's scope.",
        _NO_COUNTERPART,
        "make the submodule in the module that it should belong to. `parent=None` is understood.",
    ),
    _stays(
        "NNX140",
        "too-many-arguments",
        "a module is given more arguments than it has fields",
        "A positional argument too many: as a rule the Linen code fails here as well.",
        "There is nothing to carry over.",
        "correct the call.",
    ),
    _stays(
        "NNX141",
        "lifted-axes-unknown",
        "the axes of a lifted transform, or how it is called, are not known",
        "`in_axes` or `out_axes` is not a constant or does not fit the arguments, a scanned module is called without a "
        "carry, or a vmapped one with keywords.",
        _UNFOLLOWED,
        "write the axes as literals and the arguments by position.",
    ),
    _stays(
        "NNX142",
        "parameter-without-name",
        "a parameter or variable has no name or no plain initializer",
        "`self.param(*args)` or the like.",
        _UNFOLLOWED,
        "write the name and the initializer out.",
    ),
    _stays(
        "NNX143",
        "computed-collection",
        "the collection of a variable or of a sown value is not a constant",
        "`self.variable(collection, ...)` or `self.sow(collection, ...)` with a computed name.",
        "The collection becomes the type of the nnx.Variable.",
        "write the collection as a literal.",
    ),
    _stays(
        "NNX144",
        "computed-rng-stream",
        "the rng stream is not a constant",
        "`self.make_rng(name)` with a computed name.",
        _UNFOLLOWED,
        "write the name as a literal, or in a field annotated as `str`.",
    ),
    _stays(
        "NNX145",
        "perturb",
        "self.perturb is used",
        "Gradients of intermediate values, by a collection of zeros that is added.",
        "`nnx.Module.perturb` exists, but its variable is made at the call and the gradient is taken in another way.",
        "rewrite with nnx's own `perturb` and its gradient by hand.",
    ),
    _stays(
        "NNX146",
        "asks-for-collections",
        "the module asks which variables were given, or which are mutable",
        "`self.has_variable(...)`, other than the usual is-it-initialized question, or `self.is_mutable_collection(...)`.",
        "In NNX variables are there and can be written; there is nothing to ask.",
        "turn the question into a field or an argument of `__call__`.",
    ),
    _stays(
        "NNX147",
        "variables-by-name",
        "get_variable or put_variable is used",
        "Variables are read or written by collection and name.",
        _NO_COUNTERPART,
        "make the variable with `self.variable` and use what it returns.",
    ),
    _stays(
        "NNX148",
        "has-rng",
        "self.has_rng is used",
        "The module behaves by whether a call of `apply` was given a key for a stream.",
        "An NNX module holds its streams from its construction on, so that the answer would be yes in evaluation, too.",
        "ask an argument of `__call__` such as `deterministic` instead, and pass it where `rngs` is passed now.",
    ),
    _stays(
        "NNX149",
        "functional-api-inside",
        "bind, unbind, clone, copy, init, apply or lazy_init is used in a module",
        "Linen's functional interface inside a module's own methods.",
        "An NNX module holds its variables, so that such code means something else.",
        "move the call out of the class, or construct and call a submodule.",
    ),
    _stays(
        "NNX150",
        "contains-a-linen-class",
        "the class contains another that is not native and cannot be wrapped",
        "The reason of the inner class is named, and why it cannot be wrapped. Where the shapes of its inputs can be said "
        "in the constructor, `Odd(3)` becomes `linen_parity.Bridged(Odd(3), jax.ShapeDtypeStruct(...), rngs=rngs)`: an "
        "`nnx.bridge.ToNNX` that is initialized when it is constructed, under Linen's keys, and whose statistics may "
        "change. Not wrapped is what could tell the difference (`self.path`, `sow`, caches, `has_rng`, logical axes), what "
        "is lifted, given modules, or called by other methods, and what `--no-bridge` forbids.",
        "A Linen module inside an NNX one would be initialized lazily, and what it is given then is not known.",
        "settle the inner class; this one follows by itself.",
    ),
    _stays(
        "NNX151",
        "reserved-field",
        "a field has a name that NNX needs for itself",
        "A field is called `rngs` or `cls`.",
        "The constructor takes `rngs: nnx.Rngs`, and the metaclass of NNX modules has a parameter `cls` of its own, so that "
        "no keyword of this name reaches the constructor.",
        "rename the field.",
    ),
    _stays(
        "NNX152",
        "name-twice",
        "two modules of a class have the same name",
        "Both would be one attribute.",
        "Only in branches that exclude each other can two modules share one attribute.",
        "give them different names; keep old checkpoints with `rename=`.",
    ),
    _stays(
        "NNX153",
        "numbered-across-methods",
        "modules of one kind are made in loops and in several methods, or several times in a helper method",
        "Linen numbers the modules of a kind in the order of creation, which runs through the methods.",
        "The list that holds them has to give each the number that its key has.",
        "make them in one method, or name them: `name=f'block_{i}'`.",
    ),
    _stays(
        "NNX154",
        "constant-name-in-loop",
        "a constant name is used in a loop",
        "Every round would make the same name.",
        _UNFOLLOWED,
        "number the names: `name=f'layer_{i}'`.",
    ),
    _stays(
        "NNX155",
        "name-from-call",
        "a module's name is known only in the call",
        "`name=` depends on the inputs, or is bound by `functools.partial`.",
        "Names are attributes, and are decided in the constructor.",
        "let the name follow from fields and loop variables, and give it where the module is made.",
    ),
    _stays(
        "NNX156",
        "name-taken",
        "a submodule has the name of a field, a list of modules or a method",
        "One attribute cannot be both.",
        "In NNX all of them are attributes of one object.",
        "rename one of them; keep old checkpoints with `rename=`.",
    ),
    _stays(
        "NNX157",
        "conditional-in-loop",
        "a module in a loop is made or not depending on the call",
        "Which number the modules get would depend on an argument of `__call__`.",
        _STRUCTURE,
        "make the condition a field.",
    ),
    _stays(
        "NNX158",
        "loop-numbering",
        "modules are made in loops that cannot be numbered",
        "Linen counts through several loops, or through a loop and a nested function.",
        "The list that holds them has to give each the number that its key has.",
        "make one loop, or name the modules: `name=f'block_{i}'`.",
    ),
    _stays(
        "NNX159",
        "one-place-several-modules",
        "one place in the code makes several modules outside of a loop",
        "A helper that makes a layer is called more than once.",
        "Each call makes another module, and the place in the code names one attribute.",
        "write the calls out, or name them.",
    ),
    _stays(
        "NNX160",
        "linen-base",
        "the class inherits from a layer of flax.linen",
        "`class MyDense(nn.Dense)` and the like, a recurrent cell whose inputs have more than one axis of features, or a "
        "class that is a `typing.Protocol` or has a metaclass.",
        "The NNX layer has another constructor and other attributes, and NNX's modules a metaclass of their own.",
        "hold the layer as a submodule (the keys get one level more; see `rename=`), or subclass the NNX layer by hand.",
    ),
    _stays(
        "NNX161",
        "inherited-submodules",
        "a class and its base class both make submodules or fields",
        "`super().setup()`, fields beside a base that makes the submodules, or both making some.",
        "Two constructors would have to be written into one another.",
        "copy the base's code into the class, or hold the base as a submodule.",
    ),
    _stays(
        "NNX162",
        "compact-name-scope",
        "nn.compact_name_scope is used",
        "Several compact methods with name scopes of their own.",
        _NO_COUNTERPART,
        "turn the methods into submodules.",
    ),
    _stays(
        "NNX163",
        "field-of-several-kinds",
        "a field is given different kinds of modules",
        "One use passes `nn.Conv`, another `nn.ConvLocal`: NNX makes or calls them with different arguments, or Linen "
        "counts them under names that cannot be told apart. Where only a script or an alias passes the kind "
        "that does not fit, the class becomes native for the others, that place is reported, and there the constructor "
        "raises a TypeError.",
        "The constructor would have to give them different arguments.",
        "write one class for each kind.",
    ),
    _stays(
        "NNX164",
        "scope-attribute",
        "self.scope, self.path, self.parent, self.variables or self.name is used",
        "The class looks at its own place in Linen's tree.",
        "An NNX module does not know where it stands.",
        "pass what is needed as a field.",
    ),
    _stays(
        "NNX165",
        "wrong-layer-call",
        "a layer is called with arguments that it does not have",
        "The Linen code fails here as well, or was written for another version of flax.",
        "There is nothing to carry over.",
        "correct the call.",
    ),
    _stays(
        "NNX166",
        "variable-without-value",
        "a variable has no plain initial value",
        "`self.variable(collection, name)` without an initial value, or with one that cannot be moved.",
        "An nnx.Variable has a value from the start.",
        "give an initializer that follows from the fields.",
    ),
    _stays(
        "NNX167",
        "collection-no-identifier",
        "a collection's name is no identifier",
        "A collection becomes a class, a subclass of nnx.Variable, and needs a name that Python accepts.",
        "The class could not be written.",
        "rename the collection; keep old checkpoints with `rename=`.",
    ),
    _stays(
        "NNX168",
        "lifted-collections",
        "how a lifted transform treats the collections cannot be written in NNX",
        "`variable_axes`, `split_rngs` or metadata that are not literals, `variable_carry` beside stacked variables, "
        "collections along different axes, mapped collections beside parameters that are not mapped, or random numbers that "
        "are the same for every step or member.",
        _UNFOLLOWED,
        "write literals; map all collections along the axis of the parameters.",
    ),
    _stays(
        "NNX169",
        "lifted-count-unknown",
        "how many modules a lifted transform stacks is not known to the constructor",
        "`length` or `axis_size` is missing, or depends on the call.",
        _AT_CALL,
        "write `length=` or `axis_size=` from a field.",
    ),
    _stays(
        "NNX170",
        "shared-code-differs",
        "code that several classes share would have to become different things",
        "A method of a base class, or a shared expression, would be rewritten in one way for one class and in another for "
        "the next.",
        "There is one text.",
        "copy the method into the classes.",
    ),
    _stays(
        "NNX171",
        "dataclass-options",
        "the class has dataclass options or a dataclass decorator",
        "`kw_only=True`, `frozen=...`, `@dataclass` and the like.",
        "The class gets a written constructor in place of the dataclass's.",
        "drop the option.",
    ),
    _stays(
        "NNX172",
        "factory-out-of-reach",
        "a factory of modules would need a change that cannot be made where it stands",
        "A partial or a field holds an argument that NNX wants elsewhere (at the call, say), and the class or its "
        "`__call__` cannot be given it.",
        _UNFOLLOWED,
        "give the argument at the call of the layer, in the same file.",
    ),
    _stays(
        "NNX173",
        "post-init",
        "the class has a __post_init__ that does more than to check fields, or a field that begins with two underscores",
        "Both are the dataclass's business. A `__post_init__` of questions, errors and warnings stays, and the constructor "
        "calls it.",
        "The class gets a written constructor in place of the dataclass's.",
        "move the code into `setup`; rename the field.",
    ),
    _stays(
        "NNX174",
        "field-order",
        "a field without a default follows one with a default",
        "Together with inherited fields no signature can be written.",
        "Python does not accept such a constructor.",
        "give the field a default.",
    ),
    _stays(
        "NNX175",
        "local-class",
        "the class is defined inside another class, inside a function that hands it on or whose variables it cannot read, "
        "or under a name that is bound more than once",
        "It is made anew at each call of the function. Where that only constructs it, and what it reads of the function is "
        "bound once and makes no modules, the class becomes native where it stands.",
        _UNFOLLOWED,
        "move it to the top level of the file.",
    ),
    _stays(
        "NNX176",
        "family-not-native",
        "a base class is not native, or a subclass of which no Linen copy of this base can be kept",
        "The reason of the other class is named. A base whose subclasses stay Linen becomes native all the same, where a "
        "Linen copy of it can be kept for them (NNX178).",
        "An NNX class cannot inherit from a Linen one, nor a Linen class from an NNX one.",
        "settle the other class; this one follows by itself.",
    ),
    _stays(
        "NNX177",
        "used-by-a-linen-class",
        "a class that stays Linen uses it, and no Linen copy of it can be kept",
        "The reason of the outer class is named, and why there is no copy (NNX178): the class is registered by a decorator "
        "or changed from outside, stands in a notebook or an `__init__.py`, or needs while it is imported what can exist "
        "only once. With `--no-bridge` no copies are made at all.",
        "A Linen class can only hold Linen modules.",
        "settle the outer class; this one follows by itself.",
    ),
    Rule(
        "NNX178",
        "linen-copy",
        "a Linen copy of a native class is kept for a class that stays Linen",
        what="A class that stays Linen can hold Linen modules only. The Linen text of each native class that it uses, or "
        "derives from, is kept in `<file>_linen.py`, with all that this needs, and the references are pointed to it: "
        "`Block(4)` becomes `layers_linen.Block(4)`. The same goes for arguments that code outside of modules gives to such "
        "a class. What to do: settle the class that stays Linen, point it back to the native classes, and delete the file "
        "when nothing imports it any more. Later runs leave it as it is.",
        why="`nnx.bridge.to_linen` would wrap the native class, but under other variable keys and other random streams: "
        "checkpoints would not load, and seeds would give other numbers. The copy is what the class was.",
        how_sure="By construction: the same code, under the same class names. Bitwise, keys included, in the tests.",
    ),
    _stays(
        "NNX180",
        "setup-computes",
        "setup computes with parameters, or holds one under no name",
        "A call of a submodule in setup, a list of parameters, a condition on what a parameter is, or values computed from "
        "parameters that other classes read, that methods change, or in a class that others of the project derive from. "
        "(`self.scale = jnp.exp(self.w)` by itself is computed anew for every call, by a method `_computed`.)",
        "`setup` runs with every call, a constructor once: the value would never follow the parameter, which would not "
        "be trained.",
        "hold the parameter in an attribute of its name, and compute with it in the methods.",
    ),
    _stays(
        "NNX199",
        "tool-failed-on-class",
        "this tool failed on the class",
        "An error inside nnx-migrate while it analysed the class; the message is in the report.",
        "One class that cannot be followed never stops the others.",
        "please report it with the class.",
    ),
)
