"""Programs that call init to see whether it raises: Linen's runs the whole call, and so does the migrated program's."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

MODEL = """import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest

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
}
WANTED = """def run():
    model = Net(4, 2)
    variables = model.init(jax.random.key(0), X)
    try:
        return model.apply(variables, X).shape
    except AssertionError as error:
        return str(error)
"""


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


def test_an_init_whose_variables_are_wanted_is_the_constructor() -> None:
    after = migrate_project([SourceFile.parse(Path("program.py"), "program", MODEL + WANTED)]).files[0].after
    assert after is not None and "linen_parity" not in after and "model = Net(4, 2, in_features=X.shape[-1], " in after
