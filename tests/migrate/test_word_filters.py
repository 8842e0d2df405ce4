"""What is left out for speed changes nothing: with every filter by words taken off, the same text and the same findings.

The rules look at a file only if it says one of their words, and at a node only if it ends in one of them; the analysis of
Linen code sees only the files that could be concerned. A library name can hide behind an alias, another file's import or a
star, and then the words are not there to be read.
"""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path
from typing import Any

import pytest
from nnx_migrate.migrate import pipeline
from nnx_migrate.migrate.catalog import early_nnx, functions, jax_names, shardings
from nnx_migrate.migrate.pipeline import RunResult, migrate_project
from nnx_migrate.migrate.rule import all_rules
from nnx_migrate.migrate.rules import _renames
from nnx_migrate.migrate.source import SourceFile

OTHERS = (
    "jax.jit",
    "jax.make_mesh",
    "jax.config.update",
    "jax.device_put_replicated",
    "jax.device_put_sharded",
    "jax.experimental.maps.mesh",
    "jax.experimental.maps.thread_resources",
    "jax.experimental.pjit.pjit",
    "jax.experimental.shard_map.shard_map",
    "jax.experimental.global_device_array.GlobalDeviceArray",
    "jax.interpreters.pxla.thread_resources",
    "jax.lax.with_sharding_constraint",
    "jax.sharding.Mesh",
    "jax.ops.index_update",
    "jax.ops.segment_sum",
    "jax.eval_shape",
    "flax.optim.Adam",
    "flax.linen.Dense",
    "flax.linen.Module",
    "flax.linen.tabulate",
    "flax.linen.unbox",
    "flax.linen.with_partitioning",
    "flax.training.checkpoints.save_checkpoint",
    "flax.training.train_state.TrainState",
    "flax.nnx.Optimizer",
    "flax.nnx.state",
    "flax.nnx.Param",
    "flax.nnx.Module",
    "flax.nnx.with_partitioning",
    "orbax.checkpoint.PyTreeCheckpointer",
    "orbax.checkpoint.CheckpointManager",
)
NAMES = sorted(
    {
        *OTHERS,
        *jax_names.BY_NAME,
        *jax_names.EXPRESSIONS,
        *shardings.MOVES,
        *shardings.OF_TREES,
        *shardings.PLAIN,
        *shardings.MANUAL,
        *early_nnx.RENAMED,
        *list(functions.FUNCTIONS)[::6],
    }
)
USES = """
r = {0}(a, b)
t = {0}(a, {{}}, wrt=b).value
@{0}
def f(x):
    return isinstance(x, {0})
with {0}(a) as w:
    w.unbox()
u: {0} = f
g = [{0}, {0}.thing]
class C({0}):
    pass
"""
# Form → the files of one name: {module, tail, top, dotted} are filled in, `use` is how the main file says the name.
FORMS: dict[str, tuple[dict[str, str], str]] = {
    "whole path": ({"main": "import {module}\n"}, "{dotted}"),
    "from": ({"main": "from {module} import {tail}\n"}, "{tail}"),
    "from, renamed": ({"main": "from {module} import {tail} as zz\n"}, "zz"),
    "module renamed": ({"main": "import {module} as zz\n"}, "zz.{tail}"),
    "module assigned": ({"main": "import {module}\nzz = {module}\n"}, "zz.{tail}"),
    "name assigned": ({"main": "import {module}\nzz = {dotted}\n"}, "zz"),
    "assigned twice over": ({"main": "import {module} as yy\nxx = yy\nzz = xx.{tail}\n"}, "zz"),
    "star": ({"main": "from {module} import *\n"}, "{tail}"),
    "in a function": ({"main": "def load():\n    from {module} import {tail} as zz\n    return zz(a, b)\n"}, "zz"),
    "another file's name": ({"other": "from {module} import {tail} as zz\n", "main": "from .other import zz\n"}, "zz"),
    "another file's name, renamed": (
        {"other": "from {module} import {tail} as zz\n", "main": "from .other import zz as yy\n"},
        "yy",
    ),
    "another file's module": ({"other": "import {module} as zz\n", "main": "from .other import zz\n"}, "zz.{tail}"),
    "another file's attribute": (
        {"other": "from {module} import {tail} as zz\n", "main": "from . import other\n"},
        "other.zz",
    ),
    "another file's attribute, renamed": (
        {"other": "from {module} import {tail} as zz\n", "main": "from . import other as oo\nyy = oo.zz\n"},
        "yy",
    ),
    "another file's assignment": (
        {"other": "import {module} as m\nzz = m.{tail}\n", "main": "from .other import zz\n"},
        "zz",
    ),
    "through two files": (
        {
            "first": "from {module} import {tail} as xx\n",
            "other": "from .first import xx as zz\n",
            "main": "from .other import zz\n",
        },
        "zz",
    ),
    "a star of the project": ({"other": "from {module} import {tail} as zz\n", "main": "from .other import *\n"}, "zz"),
    "a star of stars": (
        {
            "first": "from {module} import {tail} as zz\n",
            "other": "from .first import *\n",
            "main": "from .other import *\n",
        },
        "zz",
    ),
    "a star and a library's star": ({"other": "from {module} import *\n", "main": "from .other import *\n"}, "{tail}"),
    "from the package itself": ({"__init__": "from {module} import {tail} as zz\n", "main": "from . import zz\n"}, "zz"),
}


def sources(form: str, names: list[str]) -> list[SourceFile]:
    """A package for each name: what one of them says lets no other one be looked at."""
    files, use = FORMS[form]
    found = []
    for index, dotted in enumerate(names):
        module, _, tail = dotted.rpartition(".")
        words = {"module": module, "tail": tail, "dotted": dotted}
        for file, text in files.items():
            text = text.format(**words) + (USES.format(use.format(**words)) if file == "main" else "")
            package = f"p{index}"
            path = Path(package) / f"{file}.py"
            name = package if file == "__init__" else f"{package}.{file}"
            found.append(SourceFile.parse(path, name, text, is_package=file == "__init__"))
    return found


class _Everything(frozenset[str]):
    """Every word is in it."""

    def __contains__(self, _: object) -> bool:
        return True

    def isdisjoint(self, _: Any) -> bool:
        return False


def without_filters(patch: pytest.MonkeyPatch) -> None:
    for rule in all_rules().values():
        patch.setattr(rule, "visitors", [dataclasses.replace(v, words=None, ends=None) for v in rule.visitors])
    patch.setattr(_renames, "_KNOWN", _Everything())
    patch.setattr(pipeline, "concerned_files", lambda project: list(project.files))
    patch.setattr(
        "nnx_migrate.migrate.linen.project.index.Project._plausible_classes",
        lambda self: [(s, n) for s in self.files.values() for n in s.by_kind.get(ast.ClassDef, ())],
    )
    patch.setattr("nnx_migrate.migrate.linen.project.index.Project.handles_nnx", lambda self, source: True)


def outcome(result: RunResult) -> dict[str, Any]:
    return {
        **{str(f.path): (f.after, sorted(f.diagnostics)) for f in result.files},
        **{str(path): text for path, text in result.created.items()},
        "classes": sorted((plan.qualname, plan.outcome.value, plan.code) for plan in result.classes),
    }


def differing(files: list[SourceFile], again: list[SourceFile], result: RunResult | None = None) -> dict[str, Any]:
    """What the filters change, by file; `again` are the same files parsed anew, `result` what became of `files`."""
    with_filters = outcome(result or migrate_project(files))
    with pytest.MonkeyPatch.context() as patch:
        without_filters(patch)
        without = outcome(migrate_project(again))
    keys = with_filters.keys() | without.keys()
    return {key: (with_filters.get(key), without.get(key)) for key in keys if with_filters.get(key) != without.get(key)}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("form", FORMS)
def test_old_names_in_every_form(form: str) -> None:
    changed = 0
    for start in range(0, len(NAMES), 40):
        names = NAMES[start : start + 40]
        files = sources(form, names)
        result = migrate_project(files)
        assert differing(files, sources(form, names), result) == {}
        changed += sum(f.after != f.before or bool(f.diagnostics) for f in result.files)
    assert changed > len(NAMES) // 3 or "star" in form


EXAMPLES = [(rule.code, index, e.before) for rule in all_rules().values() for index, e in enumerate(rule.examples)]


def test_the_examples_of_all_rules() -> None:
    """Each alone, and split in two files: all imports in one, the rest in another that imports them with a star."""
    assert len(EXAMPLES) > 40
    for code, index, text in EXAMPLES:
        alone = [("example", text)]
        lines = text.splitlines(keepends=True)
        imports = [line for line in lines if line.startswith(("import ", "from ")) and line.rstrip()[-1] not in "(\\"]
        if len(imports) == sum(line.startswith(("import ", "from ")) for line in lines):
            rest = "".join(line for line in lines if line not in imports)
            apart = [("pkg.common", "".join(imports)), ("pkg.example", "from .common import *\n" + rest)]
        else:
            apart = []
        for files in (alone, apart):
            first, second = (
                [SourceFile.parse(Path(f"{module.replace('.', '/')}.py"), module, part) for module, part in files]
                for _ in range(2)
            )
            assert differing(first, second) == {}, (code, index)


NNX = """
from flax import nnx
class Model(nnx.Module):
    def __init__(self, rngs):
        self.w = nnx.Param(rngs.params())
        self.layers = [nnx.Linear(2, 2, rngs=rngs)]
def make():
    return Model(nnx.Rngs(0)), nnx.Optimizer(Model(nnx.Rngs(0)), None)
def weights(model):
    return nnx.state(model)
"""
HANDLES = """
model, optimizer = make()
optimizer.update({})
model.w.value = model.w.value + 1
model.w.value += 1
print(weights(model)['w'].value, model.layers[0].kernel.sharding)
"""
HANDLERS = {
    "of the package": {"pkg.model": NNX, "pkg.use": "from .model import make, weights\n" + HANDLES},
    "with a star": {"pkg.model": NNX, "pkg.use": "from .model import *\n" + HANDLES},
    "of another package": {"pkg.model": NNX, "app.use": "from pkg.model import make, weights\n" + HANDLES},
    "through a third package": {
        "pkg.model": NNX,
        "mid.given": "from pkg.model import make, weights\n",
        "app.use": "from mid.given import make, weights\n" + HANDLES,
    },
    "a script beside it": {"model": NNX, "use": "from model import make, weights\n" + HANDLES},
    "by the module": {
        "pkg.model": NNX,
        "pkg.use": "from . import model as m\nmake, weights = m.make, m.weights\n" + HANDLES,
    },
    "nothing of nnx": {
        "pkg.model": "class Model: pass\ndef make(): pass\nweights = make\n",
        "app.use": "from pkg.model import *\n" + HANDLES,
    },
}


@pytest.mark.parametrize("name", HANDLERS)
def test_files_that_handle_nnx_objects(name: str) -> None:
    first, second = (
        [SourceFile.parse(Path(f"{m.replace('.', '/')}.py"), m, text) for m, text in HANDLERS[name].items()]
        for _ in range(2)
    )
    assert differing(first, second) == {}


def test_names_through_other_files() -> None:
    """What the filters must not hide is found: a module of jax from another file, a Linen class under a star."""
    files = {
        "p.common": "import jax\nfrom jax import tree_map\nimport flax.linen as nn\n",
        "p.stars": "from .common import *\n",
        "p.by_name": "from .common import tree_map, jax as j\n\nr = tree_map(f, j.tree_leaves(x))\n",
        "p.by_star": "from .stars import *\n\nr = tree_map(f, jax.tree_leaves(x))\n"
        "class A(nn.Module):\n    @nn.compact\n    def __call__(self, x):\n        return nn.Dense(2)(x)\n",
        "p.by_module": "from . import common\n\nr = common.tree_map(f, common.jax.tree_leaves(x))\n",
    }
    result = migrate_project(SourceFile.parse(Path(f"{m}.py"), m, text) for m, text in files.items())
    after = {f.path.stem.removeprefix("p."): f.after or "" for f in result.files}
    assert after["common"] == "import jax\nfrom jax.tree import map as tree_map\nimport flax.linen as nn\n"
    for name in ("by_name", "by_star", "by_module"):
        assert "jax.tree.leaves(x)" in after[name] and "tree_map(f" in after[name], name
    assert "class A(nnx.Module)" in after["by_star"]
