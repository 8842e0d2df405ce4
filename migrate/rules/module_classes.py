"""What the module writer says of a Linen class: why it stays Linen, and what to do about it.

The writer reports these with the place and the particular reason; `linen/` and `nnx/` raise `Unmigratable` with the code.
"""

from __future__ import annotations

from ..rule import Rule
from ._module_reasons import AT_CALL, NO_COUNTERPART, STRUCTURE, UNFOLLOWED, stays

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
    stays(
        "NNX110",
        "input-size-unknown",
        "the size of an input that a layer's weights depend on is not known",
        "A `Dense`, `Conv` or norm takes its input size from an array whose shape does not follow from the code.",
        AT_CALL,
        "reshape or annotate so that the last dimension is written, make the size a field, or let one abstract run tell: "
        "`--trace MODULE:CALLABLE`.",
    ),
    stays(
        "NNX111",
        "parameter-shape-from-call",
        "a parameter's shape or initializer needs a value known only in the call",
        "An argument of `self.param` depends on the inputs in a way that the constructor cannot say.",
        AT_CALL,
        "make that value a field of the class. A shape that the call's shapes show is found by a call (NNX185), but under "
        "flags, by flags and other arguments with a default, in loops, behind a `return`, of what arrays hold, and with the "
        "dtype of an array.",
    ),
    stays(
        "NNX112",
        "variable-from-call",
        "a variable starts from a value known only in the call",
        "`self.variable` is given an initial value that depends on the inputs, in a loop or in `setup`.",
        AT_CALL,
        "give it an initial value that follows from the fields.",
    ),
    stays(
        "NNX113",
        "layer-argument-from-call",
        "a layer's argument is known only when the module is called",
        "`nn.Dense(n)` where `n` depends on the inputs or on an argument of `__call__`.",
        AT_CALL,
        "make the value a field, or pass it to the layer's call where the layer takes it there.",
    ),
    stays(
        "NNX114",
        "sizes-change-along-a-list",
        "input sizes change along a list of modules in setup",
        "The modules of one comprehension need different input sizes that no expression gives.",
        AT_CALL,
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
    Rule(
        "NNX116",
        "width-asked",
        "the constructor asks for the width of an array inside of the call",
        what="A layer takes what a module that is handed in gives, or a function of another package, and no code of the "
        "project shows its width. The constructor takes it as a keyword-only argument, named after the value: "
        "`outputs_features` for `outputs = self.network(x)`. What to do: give it where the class is constructed; "
        "the Linen checkpoint has it in the shape of that layer's kernel. Classes that code outside of modules "
        "names stay Linen instead (NNX110), as that code could not say the width.",
        why="NNX makes its weights in the constructor, before anything is called.",
        how_sure="A wrong width fails: weights do not fit, nor does the input.",
    ),
    Rule(
        "NNX117",
        "sizes-agree",
        "two sizes must be the same, which is checked",
        what="A loop of the call picks modules of a list by a number of its own (`self.groups[i // 2]`). Linen gives each "
        "the width of what it is first called with, which is the same for all only where a pass of the loop gives what it "
        "takes. The constructor raises where it does not. Likewise attention of NNX has one width for its keys and its "
        "values: where these are arguments of which no code shows the widths, a call with unlike ones raises. What to do: "
        "nothing, unless it raises.",
        why="NNX makes its weights in the constructor, before anything is called.",
        how_sure="Checked where the model is made.",
    ),
    Rule(
        "NNX118",
        "updated-at-init",
        "a variable that every call updates starts without the update that Linen's init made",
        what="`count.value += 1` in the call, under no condition. Linen's `init` runs the call, so that what it returns "
        "has one update in it; a constructor of NNX makes the variable with its first value. Restored checkpoints are the "
        "same on both sides. A `Functional` (NNX603) runs the call in `init`, as Linen does. What to do: nothing, "
        "as a rule: most authors guard the update by `if not self.is_initializing()` to have what NNX does. Where the first "
        "count matters, make the variable with it.",
        why="NNX makes its variables in the constructor, before anything is called.",
        how_sure="By construction.",
    ),
    Rule(
        "NNX119",
        "always-made",
        "a module that a flag of the call decides about is always made",
        what="`if train: h = nn.Dense(4, name='aux')(h)`, where `train` is an argument of the call and its default leaves "
        "the module out, or says nothing. What `init` made without the flag has no values for it: loading that names the "
        "keys that are missing. What to do: nothing where the old program called `init` with the flag, as training programs "
        "do; else load with `strict=False`, which leaves the module as it was made.",
        why="NNX makes its weights in the constructor, which knows no call.",
        how_sure="By construction; a checkpoint without the module is refused by name.",
    ),
    stays(
        "NNX120",
        "modules-in-match",
        "submodules are made in a match or try statement",
        "A `match`, or what a `try` catches, decides which submodules there are.",
        STRUCTURE,
        "write `if` and `elif`.",
    ),
    stays(
        "NNX121",
        "modules-in-computed-container",
        "a container of submodules is built in a way that cannot be followed",
        "A submodule is stored under a computed key, or lists of submodules are joined or grown by `+` in a loop.",
        UNFOLLOWED,
        "build the list with a comprehension or `append`; use literal keys.",
    ),
    stays(
        "NNX122",
        "modules-in-while",
        "submodules are made in a while loop, or in a loop that is left early",
        "How many there are is decided by the loop's condition, or by a `break` or `return` in it.",
        STRUCTURE,
        "loop over `range(n)` with `n` a field.",
    ),
    stays(
        "NNX123",
        "modules-in-unknown-loop",
        "submodules are made in a loop over something that is not known",
        "The loop runs over a value that is not a field, a literal, a range or something computed from these, and makes "
        "modules that the call on shapes (NNX185) may not make either: they are lifted, made by helper functions, "
        "under flags of the call, or given what arrays hold.",
        STRUCTURE,
        "loop over a field or a range of a field.",
    ),
    stays(
        "NNX124",
        "contains-itself",
        "a module contains itself",
        "The class makes instances of itself, so that its structure has no end that the code shows.",
        UNFOLLOWED,
        "unroll the recursion into a loop over a field.",
    ),
    stays(
        "NNX125",
        "unknown-class",
        "a module class that is used is not known",
        "The class is not in the files that were given.",
        UNFOLLOWED,
        "run nnx-migrate over the whole project.",
    ),
    stays(
        "NNX126",
        "nested-too-deep",
        "the code of the class is nested too deeply to follow",
        "The analysis ran into Python's recursion limit.",
        UNFOLLOWED,
        "split the expression or the method.",
    ),
    stays(
        "NNX127",
        "module-passed-on",
        "a module instance is passed to another module in a way that has no native form",
        "A shared module, `Decoder(embed=self.shared)`, becomes the same object in NNX; a module handed over outside of "
        "modules, `AutoEncoder(Encoder(8))`, becomes a factory, `AutoEncoder(functools.partial(Encoder, 8))`, which the "
        "constructor calls; where such modules are not followed, or are several (lists, dicts), see NNX185. What stays: an "
        "instance passed to a class under `nn.scan` or `nn.vmap`, one that is assigned to an attribute (or passed again) "
        "only after it was passed, one with a `name=` that is no attribute, one of a list that a loop of a compact method "
        "makes; outside of modules, what goes to a class that does with it in its `__call__` what stand-ins cannot do "
        "(calls other methods of it, asks for its type, maps it, hands it to other packages), that asks Linen about itself "
        "there or that a module makes, too.",
        "Linen names a module after the first place that it is attached to, and copies it under a transform; in NNX its key "
        "is where the attribute is.",
        "assign the module to an attribute first, then pass the attribute; outside of modules, pass its call.",
    ),
    stays(
        "NNX128",
        "coroutine-method",
        "a method of a module is a coroutine",
        "An `async def` in a module class.",
        NO_COUNTERPART,
        "make it an ordinary method.",
    ),
    stays(
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
    stays(
        "NNX131",
        "share-scope",
        "nn.share_scope is used",
        "Two modules put their variables into one scope.",
        NO_COUNTERPART,
        "make the shared layers in one class and call them from there.",
    ),
    stays(
        "NNX132",
        "one-of-several-modules",
        "what is called may be one of several modules",
        "A variable holds one module or another, or what makes modules of one kind or another, depending on something that "
        "is not known or cannot be asked again where the module is used.",
        UNFOLLOWED,
        "call them in the branches of the `if` that chooses.",
    ),
    stays(
        "NNX133",
        "computed-attribute",
        "getattr(self, ...) or setattr(self, ...) with a computed name",
        "Submodules or fields are looked up or made under names that are not in the code, or all that a module holds is "
        "asked for (`vars(self)`, `self.__dict__`, `dir(self)`, `inspect.getmembers(self)`, `dataclasses.fields(self)` or "
        "`asdict`, `astuple`, `replace`), also by a function of the project that is given the module, and by a mixin of a "
        'class with modules. A field by its own name is not meant (`vars(self)["width"]`). A class without modules of its '
        "own becomes native behind such a mixin, and is marked: `fields` and the like raise there, for an nnx.Module is no "
        "dataclass, and the others see its variables, too; where its own methods call the mixin's `fields`, it stays Linen.",
        UNFOLLOWED,
        "keep them in a list or a dict with literal keys; name the fields that are asked for.",
    ),
    stays(
        "NNX134",
        "modules-in-transformed-function",
        "modules are made in a function that is given to a transform",
        "A function with layers inside goes to `jax.lax.scan` or the like, or one in which "
        "random numbers may be drawn or values sown (also by modules that it calls); under `jax.vmap` and derivatives "
        "layers that only compute are followed in functions within the method; "
        "or code that sizes may depend on is not followed, as with `nonlocal` and `global`.",
        "In NNX a module that is made inside a transformed function does not outlive it, and the counter of a random stream "
        "cannot be changed within one: the call raises TraceContextError, where Linen draws.",
        "make the layers before, and use them in the function; draw keys before, and hand them over "
        "(`drop(x, rng=key)`), or use Linen's own transforms (`nn.remat`, `nn.vmap`).",
    ),
    stays(
        "NNX135",
        "modules-made-for-the-caller",
        "a helper function makes submodules in its caller's scope, in a way in which they cannot be handed to it",
        "A function outside of classes makes layers, which Linen names in the scope of the module that is running. As a "
        "rule the function gets a keyword-only parameter for each, and the caller's constructor makes them: "
        "`block(x, 8, conv=self.Conv_0)`; parameters are read off the module that it is given. Not so where it makes them "
        "in a loop of its own, for `setup`, through lifted transforms or under computed names, makes variables, asks Linen "
        "something (`is_initializing`), or is decorated.",
        UNFOLLOWED,
        "make the layers in the method, or turn the helper into a method.",
    ),
    stays(
        "NNX136",
        "super-outside-the-project",
        "super() leads outside the project",
        "The method of a base class that was not given is called.",
        UNFOLLOWED,
        "give the base class's file to nnx-migrate too, or copy the method.",
    ),
    stays(
        "NNX137",
        "unpacked-arguments",
        "a module is made with *args or **kwargs",
        "What the layer is given is not in the code.",
        UNFOLLOWED,
        "write the arguments out.",
    ),
    stays(
        "NNX138",
        "unknown-module",
        "what is made is not known",
        "The class that is called comes from a value that is not known before the call, from outside the project, or from a "
        "partial of a partial. (A module of a package outside of the program, `lib.Block(8)(x)`, is wrapped where it is "
        "made if its inputs are known: `linen_parity.foreign` looks at what it is when it runs.)",
        UNFOLLOWED,
        "give the field a default or a literal at its call sites; give all files of the project.",
    ),
    stays(
        "NNX139",
        "explicit-parent",
        "a submodule is made with parent=",
        "`parent=` puts the submodule into another module's scope.",
        NO_COUNTERPART,
        "make the submodule in the module that it should belong to. `parent=None` is understood.",
    ),
)
