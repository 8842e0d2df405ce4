"""Functions that return params or states, and that a program reaches by their names as texts."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from ..modules.loading import module
from . import printing_sides
from .small_net import NET

MAKERS = f"""{NET}

def make_params(key):
    own = Net()
    return own.init(key, x)["params"]


def make_state(key, steps=2):
    own = Net()
    state = TrainState.create(apply_fn=own.apply, params=own.init(key, x)["params"], tx=optax.sgd(0.1))
    for _ in range(steps):
        grads = jax.grad(lambda p: ((own.apply({{"params": p}}, x) - 1) ** 2).mean())(state.params)
        state = state.apply_gradients(grads=grads)
    return state


"""
LOOK = """print(jax.tree.map(jnp.shape, params), params["Dense_1"]["bias"])
"""
HERE = {
    "globals": 'params = globals()["make_params"](jax.random.key(0))\n',
    "getattr": 'import sys\n\nkind = "params"\nparams = getattr(sys.modules[__name__], f"make_{kind}")(jax.random.key(0))\n',
    "a_method": """class Factory:
    def make(self, key):
        own = Net()
        return own.init(key, x)["params"]


params = getattr(Factory(), "make")(jax.random.key(0))
""",
    "methodcaller": """import operator


class Factory:
    def make(self, key):
        own = Net()
        return own.init(key, x)["params"]


params = operator.methodcaller("make", jax.random.key(0))(Factory())
""",
}
APPLY = """params = state.params
print(state.apply_fn({"params": params}, jnp.ones((2, 3))).sum())
"""
ELSEWHERE = {
    "getattr": 'import nets\n\nfor kind in ("params",):\n    params = getattr(nets, f"make_{kind}")(key)\n',
    "percent": 'import nets\n\nfor kind in ("params",):\n    params = getattr(nets, "make_%s" % kind)(key)\n',
    "import_module": 'import importlib\n\nnets = importlib.import_module("nets")\nstate = nets.make_state(key)\n' + APPLY,
    "at_once": 'import importlib\n\nstate = importlib.import_module("nets").make_state(key)\n' + APPLY,
    "vars": "import nets\n\nparams = [f for name, f in vars(nets).items() if name == 'make_params'][0](key)\n",
    "dict": "import nets\n\nparams = nets.__dict__['make_state'](key).params\n",
}


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", HERE)
def test_of_the_same_file(name: str, jit: str) -> None:
    taken, _ = printing_sides.check(f"by_name_{name}_{jit}", MAKERS + HERE[name] + LOOK, jit)
    assert "NNX603" in taken


@pytest.mark.parametrize("jit", ["nnx", "functional"])
@pytest.mark.parametrize("name", ELSEWHERE)
def test_of_another_file(name: str, jit: str) -> None:
    main = f"import jax\nimport jax.numpy as jnp\n\nkey = jax.random.key(0)\n{ELSEWHERE[name]}{LOOK}"
    texts = {"nets": MAKERS, "program": main}
    parsed = [SourceFile.parse(Path(f"{stem}.py"), stem, text) for stem, text in texts.items()]
    result = migrate_project(parsed, Options(jit=jit))  # type: ignore[arg-type]
    before = _printed(texts)
    for path, content in result.created.items():
        module(path.stem, content)
    after = {file.path.stem: file.after or texts[file.path.stem] for file in result.files}
    assert before and _printed(after) == before
    codes = {d.code for file in result.files for d in file.diagnostics}
    assert "NNX603" in codes and codes.isdisjoint({"NNX601", "NNX604"})


@pytest.mark.parametrize("text", ['"%s_net" % kind', 'f"{kind}_net"', 'kind + "_net"', '"{}_net".format(kind)'])
def test_classes_that_a_text_names(text: str) -> None:
    call = "    @nn.compact\n    def __call__(self, x):\n"
    classes = "".join(
        f"class {name}_net(nn.Module):\n{call}        return nn.Dense({size})(x)\n\n\n"
        for name, size in (("Small", 3), ("Large", 5))
    )
    program = f"""import jax
import jax.numpy as jnp

import nets

kind = "Large"
model = getattr(nets, {text})()
x = jnp.ones((2, 4))
variables = model.init(jax.random.key(0), x)
print(model.apply(variables, x).shape)
"""
    texts = {"nets": f"from flax import linen as nn\n\n\n{classes}", "program": program}
    result = migrate_project([SourceFile.parse(Path(f"{stem}.py"), stem, body) for stem, body in texts.items()])
    after = {file.path.stem: file.after or texts[file.path.stem] for file in result.files}
    for path, content in result.created.items():
        module(path.stem, content)
    assert "in_features=" in after["program"] and _printed(after) == _printed(texts) == ["(2, 5)"]


def _printed(texts: dict[str, str]) -> list[str]:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        for stem, text in texts.items():
            module(stem, text)
    return [re.sub(r"-?\d+\.\d{4,}", lambda m: f"{float(m[0]):.4g}", line) for line in out.getvalue().splitlines()]
