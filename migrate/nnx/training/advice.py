"""What to change in a program that keeps its loop, by what keeps it: said beside the reason."""

from __future__ import annotations

# The beginning of a reason → what takes it away. The reasons are those that `Unsupported` is raised with.
_ADVICE = {
    "several models of one kind": "construct the model with the same arguments wherever it is made, and give what differs "
    "(train, deterministic) to its call",
    "init is called in several places": "call init in one function, which all others call for a state",
    "init is called by": "make a flax TrainState where the model is made, with what its init returns there: "
    "TrainState.create(apply_fn=model.apply, params=model.init(key, x)['params'], tx=tx)",
    "init is not called here: it is a part": "",
    "init is not called here": "construct the model where its variables are made or loaded, and nnx.update it with them",
    "classes chosen at run time": "construct each class where the code says which it is",
    "a TrainState made in another function than its variables": "call init in the function that makes the TrainState",
    "a state that is kept or handed to something unknown": "hand on state.params, or what is computed of them",
    "an old state or params that are read after an update": "compute what is read before "
    "the update, or give the new state the name of the old one",
    "gradients of a model that a jitted function closes over": "hand the state to the jitted function",
    "an input of init that is taken from something": "give it a name before init: x = next(batches)",
    "variables that are not assigned": "give what init returns one name: variables = model.init(...)",
    "variables that are not spelled out": "give apply a dictionary as it stands: {'params': params}",
    "params that are used as a tree": "map over them with jax.tree.map, or read them by a name",
    "params under another name": "read state.params where they are used",
    "params in attributes": "keep the state in the attribute",
    "a function that returns params, which nothing here calls": "migrate it together with the code that calls it",
    "an array that the model is constructed with": "give it numbers or a tuple, of which its call makes the array",
    "a jitted apply that is handed on": "hand on a function of the params that applies the model",
    "a use within an f-string": "give it a name before the string",
    "a step that is handed to something unknown": "call it where the state is known",
    "jit with": "let jit find the shardings by those of its arguments",
    "two states of the same params": "call init for each of them",
    "an nnx.RNN in an attribute": "make it in a compact method: nn.RNN(cell)(x)",
    "values in attributes that are read from outside": "let a method of the class return what is read",
    "values in attributes of a class that others derive from": "keep the state in the class that updates it",
    "statistics that the call of init may update": "ask `if not self.is_initializing():` before they are updated",
    "a model that asks which collections are mutable": "let an argument of the call say it (train)",
    "jax.pmap keeps": "see NNX608",
}


def to(reason: str) -> str:
    """What to change, as the end of a sentence; "" where there is nothing short to say."""
    found = next((said for beginning, said in _ADVICE.items() if reason.startswith(beginning)), "")
    return f" (to change that: {found})" if found else ""
