"""Programs that call init to see whether it raises: Linen's runs the whole call, and so does the migrated program's."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

MODEL = """import contextlib
import functools
import unittest

import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest
from pytest import raises as fails

Case = unittest.TestCase

X = jnp.ones((2, 3))


class Net(nn.Module):
    width: int
    heads: int

    @nn.compact
    def __call__(self, x):
        assert self.width % self.heads == 0, "heads"
        return nn.Dense(self.width)(x)


"""
WAITING = {
    "in a test": """def run():
    model = Net(5, 2)
    with pytest.raises(AssertionError, match="heads"):
        model.init(jax.random.key(0), X)
    return "raised"
""",
    "of what is used": """def run():
    model = Net(5, 2)
    with pytest.raises(AssertionError, match="heads"):
        params = model.init(jax.random.key(0), X)["params"]
        model.apply({"params": params}, X)
    return "raised"
""",
    "caught": """def run():
    model = Net(5, 2)
    try:
        variables = model.init(jax.random.key(0), X)
    except AssertionError as error:
        return str(error)
    return model.apply(variables, X).shape
""",
    "nothing raised": """def run():
    model = Net(4, 2)
    try:
        variables = model.init(jax.random.key(0), X)
    except AssertionError as error:
        return str(error)
    return model.apply(variables, X).shape
""",
    "dropped": """def run():
    seen = []
    for width in (4, 5, 6):
        try:
            check(Net(width, 2))
            seen.append(width)
        except AssertionError:
            pass
    return seen


def check(model):
    model.init(jax.random.key(0), X)
""",
    "handed over": """def run():
    Case().assertRaises(AssertionError, Net(5, 2).init, jax.random.key(0), X)
    return "raised"
""",
    "a model's handed over": """def run():
    model = Net(5, 2)
    pytest.raises(AssertionError, model.init, jax.random.key(0), X)
    return "raised"
""",
    "a lambda": """def run():
    model = Net(5, 2)
    Case().assertRaises(AssertionError, lambda: model.init(jax.random.key(0), X))
    return "raised"
""",
    "a lambda with a name": """def run():
    model = Net(5, 2)
    made = lambda: model.init(jax.random.key(0), X)
    with pytest.raises(AssertionError):
        made()
    return "raised"
""",
    "a partial": """def run():
    model = Net(5, 2)
    made = functools.partial(model.init, jax.random.key(0))
    with pytest.raises(AssertionError):
        made(X)
    return "raised"
""",
    "a function": """def run():
    model = Net(5, 2)

    def made():
        return model.init(jax.random.key(0), X)

    pytest.raises(AssertionError, made)
    return "raised"
""",
    "a function that is called": """def made(width):
    variables = Net(width, 2).init(jax.random.key(0), X)
    return jax.tree.map(jnp.shape, variables)


def run():
    with pytest.raises(AssertionError, match="heads"):
        made(5)
    return made(4)
""",
    "a function that is tried": """def made(width):
    return Net(width, 2).init(jax.random.key(0), X)


def run():
    seen = []
    for width in (4, 5, 6):
        try:
            made(width)
            seen.append(width)
        except AssertionError:
            pass
    return seen
""",
    "a method": """class Checks(unittest.TestCase):
    def made(self, width):
        variables = Net(width, 2).init(jax.random.key(0), X)
        return variables

    def check(self):
        with self.subTest("odd"), self.assertRaisesRegex(AssertionError, "heads"):
            self.made(5)


def run():
    Checks().check()
    return "raised"
""",
    "suppressed": """def run():
    seen = []
    for width in (4, 5, 6):
        with contextlib.suppress(AssertionError):
            variables = Net(width, 2).init(jax.random.key(0), X)
            seen.append(jax.tree.map(jnp.shape, variables))
    return seen
""",
    "in a stack": """def run():
    with contextlib.ExitStack() as stack:
        stack.enter_context(pytest.raises(AssertionError))
        variables = Net(5, 2).init(jax.random.key(0), X)
        return variables
    return "raised"
""",
    "by a variable": """def run():
    seen = []
    for width, expected in ((4, contextlib.nullcontext()), (5, pytest.raises(AssertionError))):
        with expected:
            variables = Net(width, 2).init(jax.random.key(0), X)
            seen.append(variables["params"]["Dense_0"]["kernel"].shape)
    return seen
""",
    "by a helper": """@contextlib.contextmanager
def failing():
    try:
        yield
    except AssertionError:
        pass


def run():
    with failing():
        variables = Net(5, 2).init(jax.random.key(0), X)
        return variables
    return "raised"
""",
    "by another name": """def run():
    with fails(AssertionError):
        variables = Net(5, 2).init(jax.random.key(0), X)
        return variables
    return "raised"
""",
    "shapes": """def run():
    model = Net(5, 2)
    with pytest.raises(AssertionError):
        shapes = jax.eval_shape(model.init, jax.random.key(0), X)
        return shapes
    return "raised"
""",
    "under jit": """def run():
    model = Net(5, 2)
    with pytest.raises(AssertionError):
        variables = jax.jit(model.init)(jax.random.key(0), X)
        return variables
    return "raised"
""",
    "thrown away": """def run():
    try:
        return made(5)
    except AssertionError:
        return "raised"


def made(width):
    model = Net(width, 2)
    _ = model.init(jax.random.key(0), X)
    return width
""",
    "never read": """def run():
    try:
        return made(5)
    except AssertionError:
        return "raised"


def made(width):
    model = Net(width, 2)
    params = model.init(jax.random.key(0), X)["params"]
    return width
""",
}
WANTED = {
    "what comes after is tried": """def run():
    model = Net(4, 2)
    variables = model.init(jax.random.key(0), X)
    try:
        return model.apply(variables, X).shape
    except AssertionError as error:
        return str(error)
""",
    "interrupts": """def run():
    model = Net(4, 2)
    try:
        variables = model.init(jax.random.key(0), X)
        return model.apply(variables, X).shape
    except (KeyboardInterrupt, SystemExit):
        return None
""",
    "the program is tried": """def train():
    model = Net(4, 2)
    variables = model.init(jax.random.key(0), X)
    return model.apply(variables, X).shape


def run():
    try:
        return train()
    except ValueError as error:
        raise RuntimeError("training") from error
""",
    "other errors are waited for": """def run():
    with pytest.raises(ValueError):
        int("x")
    model = Net(4, 2)
    variables = model.init(jax.random.key(0), X)
    return model.apply(variables, X).shape
""",
}


def _loaded(name: str, folder: Path, text: str) -> ModuleType:
    (folder / f"{name}.py").write_text(text)
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("what", WAITING)
def test_both_sides_raise(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = MODEL + WAITING[what]
    result = migrate_project([SourceFile.parse(Path("program.py"), "program", text)])
    after = result.files[0].after
    assert after is not None and "class Net(nnx.Module)" in after and "late=True" in after
    for created, content in result.created.items():
        (tmp_path / created.name).write_text(content)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "linen_parity", raising=False)
    assert _loaded("after", tmp_path, after).run() == _loaded("before", tmp_path, text).run()


@pytest.mark.parametrize("what", WANTED)
def test_an_init_whose_variables_are_wanted_is_the_constructor(what: str) -> None:
    after = migrate_project([SourceFile.parse(Path("program.py"), "program", MODEL + WANTED[what])]).files[0].after
    assert after is not None and "linen_parity" not in after and "in_features=X.shape[-1], rngs=nnx.Rngs(" in after


@pytest.mark.parametrize(
    "waiting", ["with pytest.raises(AssertionError):\n        program.made(5)", "pytest.raises(E, m, 5)"]
)
def test_a_function_of_another_file(waiting: str) -> None:
    made = "def made(width):\n    variables = Net(width, 2).init(jax.random.key(0), X)\n    return variables\n"
    test = (
        f"import program\nimport pytest\nfrom program import made as m\n\n\ndef test_it(E=AssertionError):\n    {waiting}\n"
    )
    texts = {"program": MODEL + made, "test_it": test}
    result = migrate_project([SourceFile.parse(Path(f"{name}.py"), name, text) for name, text in texts.items()])
    after = {file.path.name: file.after for file in result.files}["program.py"]
    assert after is not None and "late=True" in after


READ_OUTSIDE = """variables = None


def start():
    global variables
    model = Net(4, 2)
    variables = model.init(jax.random.key(0), X)


def run():
    start()
    return jax.tree.leaves(variables)[0].shape
"""
ANOTHER = """import subprocess


class Program:
    def run(self):
        model = Net(4, 2)
        variables = model.init(jax.random.key(0), X)
        return jax.tree.map(jnp.shape, variables)


def run():
    try:
        subprocess.run(["true"])
    except OSError:
        pass
    return Program().run()
"""


@pytest.mark.parametrize("program", [READ_OUTSIDE, ANOTHER])
def test_init_is_not_run_for_what_others_do(program: str) -> None:
    """A variable that another function reads, a function of another module that is tried."""
    after = migrate_project([SourceFile.parse(Path("program.py"), "program", MODEL + program)]).files[0].after
    assert after is not None and "class Net(nnx.Module)" in after and "late=True" not in after
