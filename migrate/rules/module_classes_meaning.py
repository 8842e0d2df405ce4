"""NNX140 to NNX199: why a class stays Linen whose structure is known: NNX has nothing that does the same."""

from __future__ import annotations

from ..rule import Rule
from ._module_reasons import AT_CALL, NO_COUNTERPART, STRUCTURE, UNFOLLOWED, stays

RULES = (
    stays(
        "NNX140",
        "too-many-arguments",
        "a module is given more arguments than it has fields",
        "A positional argument too many: as a rule the Linen code fails here as well.",
        "There is nothing to carry over.",
        "correct the call.",
    ),
    stays(
        "NNX141",
        "lifted-axes-unknown",
        "the axes of a lifted transform, or how it is called, are not known",
        "`in_axes` or `out_axes` is not a constant or does not fit the arguments, a scanned module is called without a "
        "carry, or a vmapped one with keywords.",
        UNFOLLOWED,
        "write the axes as literals and the arguments by position.",
    ),
    stays(
        "NNX142",
        "parameter-without-name",
        "a parameter or variable has no name or no plain initializer",
        "`self.param(*args)` or the like, a variable whose initializer is given `**mapping`, or one that is read in its "
        "sharding box (`unbox=False`).",
        UNFOLLOWED,
        "write the name and the initializer out.",
    ),
    stays(
        "NNX143",
        "computed-collection",
        "the collection of a variable or of a sown value is not a constant",
        "`self.variable(collection, ...)` or `self.sow(collection, ...)` with a computed name, or that of a field without "
        "a default.",
        "The collection becomes the type of the nnx.Variable.",
        "write the collection as a literal.",
    ),
    stays(
        "NNX144",
        "computed-rng-stream",
        "the rng stream is not a constant",
        "`self.make_rng(name)` with a computed name.",
        UNFOLLOWED,
        "write the name as a literal, or in a field annotated as `str`.",
    ),
    stays(
        "NNX145",
        "perturb",
        "self.perturb is used",
        "Gradients of intermediate values, by a collection of zeros that is added.",
        "`nnx.Module.perturb` exists, but its variable is made at the call and the gradient is taken in another way.",
        "rewrite with nnx's own `perturb` and its gradient by hand.",
    ),
    stays(
        "NNX146",
        "asks-for-collections",
        "the module asks which variables were given, or which are mutable",
        "`self.has_variable(...)`, other than the usual is-it-initialized question, or `self.is_mutable_collection(...)`.",
        "In NNX variables are there and can be written; there is nothing to ask.",
        "turn the question into a field or an argument of `__call__`.",
    ),
    stays(
        "NNX147",
        "variables-by-name",
        "get_variable or put_variable is used",
        "Variables are read or written by collection and name.",
        NO_COUNTERPART,
        "make the variable with `self.variable` and use what it returns.",
    ),
    stays(
        "NNX148",
        "has-rng",
        "self.has_rng is used",
        "The module behaves by whether a call of `apply` was given a key for a stream.",
        "An NNX module holds its streams from its construction on, so that the answer would be yes in evaluation, too.",
        "ask an argument of `__call__` such as `deterministic` instead, and pass it where `rngs` is passed now.",
    ),
    stays(
        "NNX149",
        "functional-api-inside",
        "bind, unbind, clone, copy, init, apply or lazy_init is used in a module",
        "Linen's functional interface inside a module's own methods, other than init and apply of a model that code outside "
        "of modules calls these methods on, or of a module that is nowhere called itself (`conv = nn.Conv(8, (3, 3), "
        "parent=None)`, or of setup, then `conv.init(key, x)` and `conv.apply({'params': {'kernel': normalized}}, x)`): "
        "that becomes a `linen_parity.Detached`, which has both and no variables of its own.",
        "An NNX module holds its variables, so that such code means something else.",
        "move the call out of the class, or construct and call a submodule.",
    ),
    stays(
        "NNX150",
        "contains-a-linen-class",
        "the class contains another that is not native and cannot be wrapped",
        "The reason of the inner class is named, and why it cannot be wrapped. Where the shapes of its inputs can be said "
        "in the constructor, `Odd(3)` becomes `linen_parity.Bridged(Odd(3), jax.ShapeDtypeStruct(...), rngs=rngs)`: an "
        "`nnx.bridge.ToNNX` that is initialized when it is constructed, under Linen's keys, and whose statistics may "
        "change; its owner asks it for the shape of what it gives (`self.Odd_0.out_shape`). It is initialized on zeros: "
        "what starts from other arrays otherwise (`1 / jnp.std(x)`) is NaN until a checkpoint is loaded, and a warning "
        "says so. "
        "With logical names it is a `linen_parity.BridgedByNames`. Not wrapped is what could tell the difference "
        "(`self.path`, `sow`, caches, `has_rng`, `variable_with_axes`), what is lifted, given modules, or called by other "
        "methods, and what `--no-bridge` forbids.",
        "A Linen module inside an NNX one would be initialized lazily, and what it is given then is not known.",
        "settle the inner class; this one follows by itself.",
    ),
    stays(
        "NNX151",
        "reserved-field",
        "a field has a name that NNX needs for itself, or that the constructor needs for something else",
        "A field is called `rngs` or `cls`, or as something of the file that the constructor would say (a constant `WIDTH` "
        "beside `self.WIDTH`, `max(...)` beside a field `max`). A variable of the constructor's own counts as a field.",
        "The constructor takes `rngs: nnx.Rngs`, and the metaclass of NNX modules has a parameter `cls` of its own, so that "
        "no keyword of this name reaches the constructor. Fields are its arguments: there `WIDTH` alone is the field.",
        "rename the field, or import what has its name under another one.",
    ),
    stays(
        "NNX152",
        "name-twice",
        "two modules of a class have the same name",
        "Both would be one attribute. Or the call decides which of two has the name (NNX187), and they are wrappers, stay "
        "Linen themselves, are made in a loop, or handed to other modules.",
        "Only in branches that exclude each other can two modules share one attribute. Linen makes the one or the other in "
        "each call, over the same parameters; an nnx.Module has the one that its constructor made.",
        "give them different names, and keep old checkpoints with `rename=`; or make one module that is told in the call.",
    ),
    stays(
        "NNX153",
        "numbered-across-methods",
        "modules of one kind are made in loops and in several methods, or several times in a helper method",
        "Linen numbers the modules of a kind in the order of creation, which runs through the methods. Or one of them is "
        "given to another module where it is made (`Residual(nn.Dense(4))(x)`), and the others are taken one by one.",
        "The list that holds them has to give each the number that its key has. A method that the class alone calls takes "
        "the iterator (`self.attend(x, attentions=attentions)`); one that others call, or that is handed on, cannot.",
        "make them in one method, or name them: `name=f'block_{i}'`.",
    ),
    stays(
        "NNX154",
        "constant-name-in-loop",
        "a constant name is used in a loop",
        "Every round would make the same name.",
        UNFOLLOWED,
        "number the names: `name=f'layer_{i}'`.",
    ),
    stays(
        "NNX155",
        "name-from-call",
        "a module's name is known only in the call",
        "`name=` depends on the inputs, or is bound by `functools.partial`; or one attribute of setup holds variables of "
        "several names, or a list or dict of them.",
        "Names are attributes, and are decided in the constructor.",
        "let the name follow from fields and loop variables, and give it where the module is made.",
    ),
    stays(
        "NNX156",
        "name-taken",
        "a submodule has the name of a field, a list of modules or a method, or a value is sown under that of an attribute",
        "One attribute cannot be both.",
        "In NNX all of them are attributes of one object.",
        "rename one of them; keep old checkpoints with `rename=`.",
    ),
    stays(
        "NNX157",
        "conditional-in-loop",
        "a module in a loop is made or not depending on the call, or is called in some passes, for some sizes, or never",
        "Which number the modules get would depend on an argument of `__call__`; Linen makes no variables for modules that "
        "nothing calls, and whether one is called is known after it is made.",
        STRUCTURE,
        "make the condition a field; make the module where it is called; leave out the items that nothing calls "
        "(`range(n - 1)`).",
    ),
    stays(
        "NNX158",
        "loop-numbering",
        "modules are made in loops that cannot be numbered",
        "Linen counts through several loops, or through a loop and a nested function.",
        "The list that holds them has to give each the number that its key has.",
        "make one loop, or name the modules: `name=f'block_{i}'`.",
    ),
    stays(
        "NNX159",
        "one-place-several-modules",
        "one place in the code makes several modules outside of a loop",
        "A helper that makes a layer is called more than once.",
        "Each call makes another module, and the place in the code names one attribute.",
        "write the calls out, or name them.",
    ),
    stays(
        "NNX160",
        "linen-base",
        "the class inherits from a layer of flax.linen",
        "`class MyDense(nn.Dense)` and the like, a recurrent cell whose inputs have more than one axis of features, or a "
        "class that is a `typing.Protocol` or has a metaclass; a class that is no module, before a module among the bases, "
        "with a method of the same name (`class M(Wide, Block)`).",
        "The NNX layer has another constructor and other attributes, and NNX's modules a metaclass of their own.",
        "hold the layer as a submodule (the keys get one level more; see `rename=`), or subclass the NNX layer by hand.",
    ),
    stays(
        "NNX161",
        "inherited-submodules",
        "a class and its base class both make submodules or fields",
        "`super().setup()`, fields beside a base that makes the submodules, or both making some.",
        "Two constructors would have to be written into one another.",
        "copy the base's code into the class, or hold the base as a submodule.",
    ),
    stays(
        "NNX162",
        "compact-name-scope",
        "nn.compact_name_scope is used",
        "Several compact methods with name scopes of their own.",
        NO_COUNTERPART,
        "turn the methods into submodules.",
    ),
    stays(
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
    stays(
        "NNX164",
        "scope-attribute",
        "self.scope, self.path, self.parent, self.variables or self.name is used",
        "The class looks at its own place in Linen's tree. A name that all who make the module tell is an argument of the "
        "constructor (`name`), of which it is not said.",
        "An NNX module does not know where it stands.",
        "pass what is needed as a field.",
    ),
    stays(
        "NNX165",
        "wrong-layer-call",
        "a layer is called with arguments that it does not have",
        "The Linen code fails here as well, or was written for another version of flax.",
        "There is nothing to carry over.",
        "correct the call.",
    ),
    stays(
        "NNX166",
        "variable-without-value",
        "a variable has no plain initial value",
        "`self.variable(collection, name)` without an initial value, or with one that cannot be moved.",
        "An nnx.Variable has a value from the start.",
        "give an initializer that follows from the fields.",
    ),
    stays(
        "NNX167",
        "collection-no-identifier",
        "a collection's name is no identifier",
        "A collection becomes a class, a subclass of nnx.Variable, and needs a name that Python accepts.",
        "The class could not be written.",
        "rename the collection; keep old checkpoints with `rename=`.",
    ),
    stays(
        "NNX168",
        "lifted-collections",
        "how a lifted transform treats the collections cannot be written in NNX",
        "`variable_axes`, `split_rngs` or metadata that are neither literals nor fields, `variable_carry` beside stacked "
        "variables, mapped collections beside parameters that are not mapped; under a lifted function also collections "
        "along different axes, and random numbers that are the same for every step or member.",
        UNFOLLOWED,
        "write literals; map all collections along the axis of the parameters.",
    ),
    stays(
        "NNX169",
        "lifted-count-unknown",
        "how many modules a lifted transform stacks is not known to the constructor",
        "`length` or `axis_size` is missing, or depends on the call.",
        AT_CALL,
        "write `length=` or `axis_size=` from a field.",
    ),
    stays(
        "NNX170",
        "shared-code-differs",
        "code that several classes share would have to become different things",
        "A method of a base class, or a shared expression, would be rewritten in one way for one class and in another for "
        "the next.",
        "There is one text.",
        "copy the method into the classes.",
    ),
    stays(
        "NNX171",
        "dataclass-options",
        "the class has dataclass options or a dataclass decorator",
        "`frozen=...`, `eq=...`, a `kw_only=` that is no constant, `@dataclass` and the like, and decorators that ask for "
        "dataclass fields or replace the constructor. Of a frozen dataclass (`@flax.struct.dataclass`) Linen makes no "
        "module either today: making one raises a FrozenInstanceError.",
        "The class gets a written constructor in place of the dataclass's.",
        "drop the option, or the decorator.",
    ),
    stays(
        "NNX172",
        "factory-out-of-reach",
        "a factory of modules would need a change that cannot be made where it stands",
        "A partial or a field holds an argument that NNX wants elsewhere (at the call, say), and the class or its "
        "`__call__` cannot be given it.",
        UNFOLLOWED,
        "give the argument at the call of the layer, in the same file.",
    ),
    stays(
        "NNX173",
        "post-init",
        "the class has a __post_init__ that cannot stand in a constructor, or a field that begins with two underscores",
        "Both are the dataclass's business. A `__post_init__` of questions, errors and warnings stays, and the constructor "
        "calls it; one that computes fields or attributes becomes a part of it. Linen runs it again for every clone of the "
        "module, so that it must give the same a second time: `self.width = self.width or 4`, not `self.width *= 2`.",
        "The class gets a written constructor in place of the dataclass's, which runs once.",
        "move the code into `setup`; rename the field.",
    ),
    stays(
        "NNX174",
        "field-order",
        "a field without a default follows one with a default",
        "Together with inherited fields no signature can be written.",
        "Python does not accept such a constructor.",
        "give the field a default.",
    ),
    stays(
        "NNX175",
        "local-class",
        "the class is defined inside another class, inside a function that hands it on or whose variables it cannot read, "
        "or under a name that is bound more than once, unless it is the last of several classes and nothing sees the "
        "others, or only the code that ran tells what it has: methods and fields under conditions of its body, attributes "
        "that are changed there or from outside (`Net.__call__ = fast`)",
        "A class of a function is made anew at each call of it. Where that only constructs it, and what it reads of the "
        "function has got its value before the class and makes no modules, the class becomes native where it stands.",
        UNFOLLOWED,
        "move it to the top level of the file, and say there what it has.",
    ),
    stays(
        "NNX176",
        "family-not-native",
        "a base class is not native, or a subclass of which no Linen copy of this base can be kept",
        "The reason of the other class is named; it may be of a package that is not migrated, where this one does what "
        "Linen modules do (`@nn.compact`, modules in `setup`). A base whose subclasses stay Linen becomes native all the "
        "same, where a Linen copy of it can be kept for them (NNX178).",
        "An NNX class cannot inherit from a Linen one, nor a Linen class from an NNX one.",
        "settle the other class; this one follows by itself.",
    ),
    stays(
        "NNX177",
        "used-by-a-linen-class",
        "a class that stays Linen uses it, and no Linen copy of it can be kept",
        "The reason of the outer class is named, and why there is no copy (NNX178): the class is registered by a decorator "
        "or changed from outside, stands in a notebook or the `__init__.py` of a package that no other holds, or needs "
        "while it is imported what can exist only once. With `--no-bridge` no copies are made at all.",
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
    stays(
        "NNX179",
        "rules-in-a-method",
        "a method puts logical axis rules in force where modules make their parameters",
        "`with nn.logical_axis_rules(RULES): x = nn.Dense(8, kernel_init=...)(x)` within a method, in a project whose "
        "parameters have logical names.",
        "Linen makes and lays out the parameters inside of it; a constructor makes them outside, where other rules are in "
        "force: they would be replicated, and say nothing.",
        "put the rules in force where the model is made and called.",
    ),
    stays(
        "NNX180",
        "setup-computes",
        "setup computes with parameters, or holds one under no name",
        "A call of a submodule in setup, or of a method of one, random numbers drawn there, a list of parameters, a "
        "condition on what a parameter is, a `return` of setup ahead of what a compact method makes, or values computed "
        "from parameters (also `self.embed.embedding`) that other "
        "classes read, that methods change, or in a class that others of the project derive from. "
        "(`self.scale = jnp.exp(self.w)` by itself is computed anew for every call, by a method `_computed`.)",
        "`setup` runs with every call, a constructor once: the value would never follow the parameter, which would not "
        "be trained.",
        "hold the parameter in an attribute of its name, and compute with it in the methods.",
    ),
    stays(
        "NNX181",
        "boxes-of-its-own",
        "parameters may stand in boxes of the program's own",
        "A subclass of `AxisMetadata` that derives from `nn.Partitioned`, is no `flax.struct` dataclass with one array, "
        "whose `unbox` returns something else than that array, whose axes follow a scan or vmap, or that is made elsewhere "
        "than in what an initializer returns. (Others are carried: see NNX403.) Or a function of a file makes "
        "`nn.Partitioned` or `nn.LogicallyPartitioned` itself; an initializer within the class is followed.",
        "Linen opens such a box wherever it reads the parameter and tells it of stacked axes; an nnx.Variable does neither.",
        "keep what the box says as metadata of the variable: `nnx.Param(value, lr_scale=0.5)`, or "
        "`nnx.with_metadata(init, lr_scale=0.5)` for an initializer.",
    ),
    stays(
        "NNX182",
        "made-by-configuration",
        "a configuration file constructs the class, and not all that reads the file is followed",
        "`_target_: package.networks.MLPTorso` in a YAML file below the paths given, or in a dict of the code, in a "
        "project that uses hydra, where `hydra.utils.instantiate` is handed on, called in a module or not called at all, "
        "where the class asks for more than the arguments of its call tell, or where a class that stays Linen is handed "
        "what a configuration makes. Else the class becomes native and says what it needs "
        "(`@linen_parity.by_configuration(sizes=...)`), and `linen_parity.configured(hydra.utils.instantiate, config)` "
        "makes a `Functional` of it.",
        "Hydra calls the class with the fields that the file says; an nnx.Module needs the sizes of its inputs and rngs.",
        "call `hydra.utils.instantiate(config, ...)` where it is used, outside of modules; or write `_partial_: true` "
        "beside `_target_`, have what is given the partial call it with sizes and `rngs=rngs`, and migrate these by hand.",
    ),
    stays(
        "NNX183",
        "statistics-updated-and-read",
        "one module's batch statistics are updated and then read in one pass",
        "`self.norm(x, use_running_average=False) + self.norm(y, use_running_average=True)`, or a module with a BatchNorm "
        "that is called with `train=True` and again with `train=False`.",
        "Linen takes the derivative through the averages that the first call made, nnx.BatchNorm stops it there: outputs "
        "are equal, gradients are not.",
        "use a BatchNorm of its own for the second call, or, where the gradients through the averages do not matter, "
        "migrate the class by hand.",
    ),
    stays(
        "NNX184",
        "keeps-methods-of-modules",
        "a function that reads the module's variables is kept in an attribute or in another module",
        "`self.f = self.helper`, `nn.Sequential([nn.Dense(8), self.head])`, `Block(attention_fn=self.attend)`, "
        "`self.f = jax.vmap(self.dense)`, or a lambda that reads a module or a parameter; a `functools.cached_property` "
        "that makes or calls modules, changes variables or draws, or that a base has which is no module (others become "
        "properties).",
        "Linen binds such a function anew at every `apply`. In NNX it closes over the module that was constructed, and "
        "`nnx.jit`, `nnx.grad` and `nnx.merge` make another one: it would go on reading the old variables, and their "
        "gradients would be zero.",
        "call the method by its name, hand the module itself over, or pass the function at the call.",
    ),
    Rule(
        "NNX185",
        "sizes-found-by-a-call",
        "the constructor calls the class once, on shapes, to find the sizes of some modules, parameters or variables",
        what="A layer's input comes from code that shows no width: a library's function, a tree of arrays, a loop that "
        "keeps lists of its own. It is made as "
        "`linen_parity.Later(lambda rngs, x: nnx.Linear(x.shape[-1], 8, rngs=rngs))`, and the constructor's last line, "
        "`linen_parity.settle(self, jax.ShapeDtypeStruct(in_shape, jnp.float32), rngs=rngs)`, runs the call under "
        "`jax.eval_shape` with its default flags and makes the real modules in their place: afterwards there is no `Later` "
        "left, but for what that call does not reach, which has no variables in Linen either. A parameter whose shape only "
        "the call knows (`self.param('cls', init, (1, 1, h.shape[-1]))`) is a `linen_parity.LaterVariable` until then; the "
        "call reads it by `linen_parity.late_parameter(self.cls, init, shape)`, which raises for another shape, as Linen "
        "does. So is a variable whose first value follows from such shapes (`self.variable('stats', 'mean', jnp.zeros, "
        "h.shape[-1:])`), read by `linen_parity.late_variable`. The call is traced, and what their first values "
        "follow from is computed, also where that is no shape (`self.param('a', lambda key: jnp.log(steps))` of "
        "`steps = jnp.arange(h.shape[-1]) + 1`); arrays that the call is given may not be among it. Parameters whose "
        "names, too, only the call knows (of a loop over the leaves of a tree, or asked for by a function that is handed "
        "on) are made by `linen_parity.settle_named(self, in_example, rngs=rngs)` under the names that the call on shapes "
        "asks for, and read by `linen_parity.named_parameter(self, f'w_{i}', init, shape)`, which raises for a name that "
        "was not made, as Linen does. A module whose sizes the call computes from such shapes (`nn.Dense(h.shape[-1] // "
        "2)`) is a `linen_parity.LaterGiven`, and is called as `linen_parity.given(self.Dense_0, features=h.shape[-1] // "
        "2)(h)`, "
        "which raises for another size. Modules of a loop whose passes only the call knows "
        "(`[nn.Dense(4)(x) for x in xs]`) are a `linen_parity.InTurn` until then, a list afterwards; the call takes them "
        "in Linen's order (`denses = linen_parity.in_turn(self.Dense)`, `denses(0)(x)`), and raises where it needs more, "
        "or one that another place of the call made. Those that it names (`name=f'embed_{k}'`) are a "
        "`linen_parity.ByName`, and the call takes them by their names (`modules(f'embed_{k}', 0)(v)`). "
        "Where an argument of the call may be "
        "something else than one array, the constructor takes an example of it (`in_example`: arrays, or shapes and "
        "dtypes). A class that code outside of modules hands modules which are not followed "
        "(`GCActor(4, encoders['actor'])`, `Flow([Coupling(i) for i in range(4)])`), and that calls them, goes through them "
        "or reads their plain fields, takes all that it is first called with: `call_example`, `(args, kwargs)`. What it is "
        "handed is a `linen_parity.Functional`, a Linen module, a function or None; what two parts of a model are handed "
        "they share, as in Linen. What to do: nothing, or write the sizes and take both away; `--ignore NNX185` leaves such "
        "classes Linen.",
        why="NNX makes its weights in the constructor. Linen finds these sizes in the same way, when `init` runs the call.",
        how_sure="The modules have the sizes that the call gives them. Where the call fails on the shapes that the "
        "constructor was given, the constructor raises; so does a module that was not reached, when it is called.",
    ),
    Rule(
        "NNX187",
        "one-name-two-modules",
        "the call decides which of two modules has a name; one that decides otherwise than the constructor raises",
        what="`Block(2.0)(x) if mask is None else Block(3.0)(x)`: Linen makes the one or the other in each call, over the "
        "same parameters. The constructor makes the one that the sizes it is given tell (`mask_features=None`), and says "
        "which: `self.Block_0 = linen_parity.made_at(1, Block(3.0, ...))`. The call says which it takes: "
        "`linen_parity.only_at(self.Block_0, 1)(x)`, which raises where the constructor made the other.",
        why="An nnx.Module has the module that its constructor made, with its fields. What to do: nothing where a model is "
        "always called in one of these ways; else give the two different names, and keep old checkpoints with `rename=`, or "
        "make one module that is told in the call; `--ignore NNX187` leaves such classes Linen.",
        how_sure="A call that decides as the first one did has the same modules, parameters and results. Any other raises, "
        "also one that Linen would compute.",
    ),
    Rule(
        "NNX188",
        "factory-taken",
        "what a factory in a field makes is an assumption",
        what="`norm: Callable | None = None` and `self.norm()(x)`, of which no code of the project gives the field anything "
        "and nothing stands in for it. Its name and its call say what it makes: a norm, a convolution or a dense layer. The "
        "constructor calls it as that layer of NNX is called (`norm(features, rngs=rngs)`, `conv(in_features, features, "
        "(3, 3), rngs=rngs)`), and unnamed modules have the names that Linen gives that layer. What to do: nothing where "
        "the field stays empty or is given such a layer; else give the field a default that shows what is meant. "
        "`--ignore NNX188` leaves such classes Linen.",
        why="Layers of NNX take their sizes in the constructor, each in its own way.",
        how_sure="An assumption, stated. Anything that is called otherwise fails where the class is made, and a checkpoint "
        "with other names is refused by name.",
    ),
    Rule(
        "NNX189",
        "asked-of-arrays",
        "what a module is made with asks whether the call is given an array; a call that answers otherwise raises",
        what="`Block(cross=context is not None)(x, context)`: Linen makes the block anew in each call. The constructor "
        "makes it by the sizes that it is given (`context_features=None`), and the call says what it asks for: "
        "`linen_parity.only_with(self.Block_0, cross=context is not None)(x, context)`, which raises where the two differ. "
        "What to do: nothing where a model is always called with the array, or always without it.",
        why="An nnx.Module has the modules that its constructor made, with their fields.",
        how_sure="A call that answers as the constructor did has the same modules, parameters and results. Any other "
        "raises, also one that Linen would compute.",
    ),
    stays(
        "NNX186",
        "keeps-changing-objects",
        "setup keeps an object that changes when it is used",
        "`self.pairs = zip(self.queries, self.keys)`, `self.count = itertools.count()`, a generator, a random state, a set "
        "that a method adds to, an object of a class whose methods assign to it; or such an iterator is given to another "
        "module.",
        "Linen runs `setup` for every `apply`, so that iterators begin anew and counters start from zero. A native module "
        "makes the object once: the second call would find it as the first one left it.",
        "keep a list or tuple (`list(zip(...))`), make the object in the call, or keep what it counts in a variable.",
    ),
    stays(
        "NNX199",
        "tool-failed-on-class",
        "this tool failed on the class",
        "An error inside nnx-migrate while it analysed the class; the message is in the report.",
        "One class that cannot be followed never stops the others.",
        "please report it with the class.",
    ),
)
