"""Functions that return states or params and are reached by ways that say no name: both sides print the same.

On split state and in the NNX idiom their results would be something else than what those who get them take them for.
"""

from __future__ import annotations

import pytest

from . import printing_sides
from .small_net import NET

START = f"""{NET}import functools


"""
MADE = """    own = Net()
    return own.init(key, x)["params"]
"""
STATE = """    own = Net()
    return TrainState.create(apply_fn=own.apply, params=own.init(key, x)["params"], tx=optax.sgd(0.1))
"""
LOOK = """print(jax.tree.map(jnp.shape, params), net.apply({"params": params}, x).sum(), params["Dense_1"]["bias"])
"""
TRAIN = """for _ in range(3):
    loss, grads = jax.value_and_grad(lambda p: ((net.apply({"params": p}, x) - 1) ** 2).mean())(state.params)
    state = state.apply_gradients(grads=grads)
    print(loss, state.step)
print(jax.tree.map(jnp.shape, state.params))
"""
PROGRAMS = {
    "table": f"""def make(key):
{MADE}

MAKERS = {{"net": make}}
params = MAKERS["net"](jax.random.key(0))
{LOOK}""",
    "given_away": f"""from concurrent.futures import ThreadPoolExecutor


def make(key):
{MADE}

with ThreadPoolExecutor(1) as pool:
    params = pool.submit(make, jax.random.key(0)).result()
{LOOK}""",
    "mapped": f"""def make(key):
{MADE}

(params,) = map(make, [jax.random.key(0)])
{LOOK}""",
    "decorator": f"""def logged(*names):
    def wrap(function):
        @functools.wraps(function)
        def inner(*args):
            return function(*args)

        return inner

    return wrap


@logged("key")
def make(key):
{STATE}

def run(state):
    {TRAIN.strip().replace(chr(10), chr(10) + "    ")}


run(make(jax.random.key(0)))
""",
    "several": """def logged(function):
    return lambda *args: function(*args)


@logged
def make(key):
    own, other = Net(), Net()
    a, b = own.init(key, x)["params"], other.init(key, x)["params"]
    return (
        TrainState.create(apply_fn=own.apply, params=a, tx=optax.sgd(0.1)),
        TrainState.create(apply_fn=other.apply, params=b, tx=optax.adam(0.1)),
    )


def loss_of(params):
    return ((Net().apply({"params": params}, x) - 1) ** 2).mean()


a, b = make(jax.random.key(0))
for state in (a, b):
    grads = jax.grad(loss_of)(state.params)
    print(loss_of(state.params), jax.tree.map(jnp.shape, state.apply_gradients(grads=grads).params))
""",
    "yielded": f"""def each(count):
    own = Net()
    for index in range(count):
        yield own.init(jax.random.key(index), x)["params"]


for params in each(2):
    {LOOK}""",
    "asked_by_a_base": f"""class Base:
    def run(self, key):
        state = self.make(key)
        {TRAIN.strip().replace(chr(10), chr(10) + "        ")}


class One(Base):
    def make(self, key):
        own = Net()
        return TrainState.create(apply_fn=own.apply, params=own.init(key, x)["params"], tx=optax.sgd(0.1))


One().run(jax.random.key(0))
""",
    "params_for_a_base": f"""class Base:
    def run(self, key):
        params, name = self.make(key)
        print(name)
        {LOOK.strip()}


class Middle(Base):
    pass


class One(Middle):
    def make(self, key):
        own = Net()
        return own.init(key, x)["params"], "one"


One().run(jax.random.key(0))
""",
    "called_by_another_package": f"""import ast


class Nets(ast.NodeVisitor):
    def visit_Name(self, node):
        own = Net()
        return own.init(jax.random.key(0), x)["params"]


params = Nets().visit(ast.parse("net", mode="eval").body)
{LOOK}""",
    "by_python": f"""class Nets:
    def __getitem__(self, index):
        return Net().init(jax.random.key(index), x)["params"]

    def __call__(self, key):
        own = Net()
        return own.init(key, x)["params"]


nets = Nets()
for params in (nets[1], nets(jax.random.key(0))):
    {LOOK}""",
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_they_return_what_linen_does(name: str, jit: str) -> None:
    taken, _ = printing_sides.check(f"out_of_sight_{name}_{jit}", START + PROGRAMS[name], jit)
    assert "NNX603" in taken and "NNX602" not in taken


FOLLOWED = {
    "by_name": """again = make
state = again(jax.random.key(0))
""",
    "jitted": """state = jax.jit(make)(jax.random.key(0))
""",
    "ahead_of_time": """compiled = jax.jit(make).lower(jax.random.key(0)).compile()
print(compiled.as_text()[:9])
state = jax.block_until_ready(compiled(jax.random.key(0)))
""",
    "mapped_ahead_of_time": """keys = jax.random.split(jax.random.key(0), 2)
states = jax.jit(jax.vmap(make)).lower(keys).compile()(keys)
state = jax.tree.map(lambda leaf: leaf[0], states)
""",
    "within": """def around(function, key):
    return function(key)


state = around(make, jax.random.key(0))
""",
    "partial": """state = functools.partial(make, jax.random.key(0))()
""",
    "by_cond": """state = jax.lax.cond(x.sum() > 0, make, make, jax.random.key(0))
""",
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_ways_that_are_followed_keep_split_state(name: str) -> None:
    program = f"def make(key):\n{STATE}\n\n{FOLLOWED[name]}print(state.apply_fn({{'params': state.params}}, x).sum())\n"
    taken, _ = printing_sides.check(f"in_sight_{name}", START + program, "functional")
    assert "NNX602" in taken
