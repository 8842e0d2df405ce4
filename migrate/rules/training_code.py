"""NNX6xx: what the training writer did with models, variables, states and loops."""

from __future__ import annotations

from ..rule import Example, Rule

RULES = (
    Rule(
        "NNX601",
        "training-loop-to-optimizer",
        "A Linen model, its TrainState and its steps become a module, nnx.Optimizer and nnx.jit.",
        what="`model.init`, `TrainState.create`, `apply`, `value_and_grad` and `apply_gradients` become the "
        "construction of the module, `nnx.Optimizer(model, tx, wrt=nnx.Param)`, a plain call, `nnx.value_and_grad` and "
        "`optimizer.update(model, grads)`. Functions that took a state take the model and the optimizer.",
        why="In NNX the model holds its own variables, and the optimizer updates them in place.",
        how_sure="Done only where every use of the model, its variables and its state in the project is understood.",
    ),
    Rule(
        "NNX602",
        "training-loop-to-split-state",
        "A functional program over a TrainState works on nnx.split, nnx.merge and nnx.TrainState.",
        what="The model becomes a constructor, `init` a construction and a split, `apply` a merge and a call, and "
        "the state an `nnx.TrainState`, which carries the graphdef in place of `apply_fn`.",
        why="Specs, shardings and `out_shardings` are trees like the state: it has to stay a tree.",
        how_sure="Done only where every use of the model, its variables and its state in the project is understood.",
    ),
    Rule(
        "NNX603",
        "training-loop-over-functional",
        "A loop that is left as it is works on a Functional, pure init and apply of the NNX class.",
        what="`Model(...)` becomes `Functional(Model, ..., sizes=...)` where it is constructed. `Functional` is "
        "generated into linen_parity.py: `init`, `init_with_output`, `apply`, `bind` and `clone` with Linen's "
        "arguments, over dictionaries with Linen's keys.",
        why="Code that hands variables around, replicates, freezes, flattens or serializes them keeps its meaning.",
        how_sure="By construction; outputs, gradients, updates and captured intermediates are compared with Linen's "
        "in the tests. Random values of dropout differ, as Linen and NNX derive keys differently.",
    ),
    Rule(
        "NNX604",
        "module-class-goes-where-no-call-is-seen",
        "A migrated class is handed to something that may construct it with Linen's arguments.",
        what="Leaves the code and marks it: a class in a dictionary, in a list, or taken with getattr.",
        why="The NNX class needs its input sizes and rngs, and the call that must give them cannot be found.",
        how_sure="diagnostic only",
    ),
    Rule(
        "NNX605",
        "linen-layer-as-a-model",
        "A layer of flax.linen is used as a whole model outside of module classes.",
        what="Leaves it a Linen layer, which runs as before, and marks it.",
        why="It has no class of its own that could become an NNX module.",
        how_sure="diagnostic only",
        examples=(
            Example(
                title="a dense layer",
                before="""\
import jax
import jax.numpy as jnp
from flax import linen as nn

model = nn.Dense(features=5)
params = model.init(jax.random.PRNGKey(0), jnp.ones((2, 10)))
""",
                after=None,
            ),
        ),
    ),
)
