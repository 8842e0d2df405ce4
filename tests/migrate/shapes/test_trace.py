"""--trace: the user's callable runs abstractly in a subprocess and tells shapes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from nnx_migrate.migrate.cli import program
from nnx_migrate.migrate.linen.evidence.trace import TraceError, import_roots, run_trace, trace_project
from nnx_migrate.migrate.linen.project.index import Project
from nnx_migrate.migrate.linen.values.values import Shape
from nnx_migrate.migrate.source import SourceFile

MODELS = """
import jax, jax.numpy as jnp
from flax import linen as nn

class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, scale=None, train: bool = False):
        y = nn.Dense(self.width)(x)
        return y if scale is None else y * scale

class Net(nn.Module):
    depth: int = 2

    def setup(self):
        self.blocks = [Block(8 * (i + 1)) for i in range(self.depth)]
        self.head = nn.Dense(3)

    def __call__(self, x, train=False):
        for block in self.blocks:
            x = block(x, jnp.ones(()))
        return self.head(x)

class Stack(nn.Module):
    @nn.compact
    def __call__(self, x):
        scan = nn.scan(Step, variable_axes={"params": 0}, split_rngs={"params": True}, length=3)
        return scan()(x, None)[0]

class Step(nn.Module):
    @nn.compact
    def __call__(self, carry, _):
        return Block(carry.shape[-1])(carry), None

def inputs():
    return Net(), jnp.ones((2, 5))

def runs_init():
    net = Net()
    variables = net.init(jax.random.PRNGKey(0), jnp.ones((2, 5)))
    assert not isinstance(jax.tree.leaves(variables)[0], jax.Array) or isinstance(
        jax.tree.leaves(variables)[0], jax.core.Tracer
    ), "arrays were computed"
    return net.apply(variables, jnp.ones((7, 5)))

def scanned():
    return Stack(), jnp.ones((2, 5))

class Nested:
    @staticmethod
    def make():
        class Local(nn.Module):
            @nn.compact
            def __call__(self, q):
                return nn.Dense(1)(q)
        return Local(), jnp.ones((4, 4))

def fails():
    raise RuntimeError("no data here")

def exits():
    raise SystemExit("bye")

def nothing():
    return 1

def bare():
    return Net()

def needs(x):
    return x

def endless():
    import time
    time.sleep(60)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("traced") / "pkg"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "models.py").write_text(MODELS)
    return Project(
        [
            SourceFile.parse(folder / "__init__.py", "pkg", "", is_package=True),
            SourceFile.parse(folder / "models.py", "pkg.models", MODELS),
        ]
    )


def test_shapes_of_every_module(project: Project) -> None:
    trace = trace_project(["pkg.models:inputs"], project)
    assert trace.ranks(project) == {"pkg.models.Net": {"x": 2}, "pkg.models.Block": {"x": 2, "scale": 0}}
    calls = trace.by_class(project)["pkg.models.Block"]
    assert [dict(c.arguments) for c in calls] == [{"x": (2, 5), "scale": ()}, {"x": (2, 8), "scale": ()}]
    assert calls[1].shapes()["x"] == Shape.of(2, 8)
    assert [c.fields["width"] for c in calls] == [8, 16]


def test_a_callable_may_run_the_model_itself_and_nothing_is_computed(project: Project) -> None:
    trace = trace_project(["pkg.models:runs_init"], project)
    assert trace.by_class(project)["pkg.models.Net"][0].arguments == {"x": (2, 5)}


def test_lifted_and_local_classes(project: Project) -> None:
    trace = trace_project(["pkg.models:scanned", "pkg.models:Nested.make"], project)
    ranks = trace.ranks(project)
    assert ranks["pkg.models.Stack"] == {"x": 2}
    assert ranks["pkg.models.Block"] == {"x": 2}
    assert ranks["pkg.models.Nested.make.Local"] == {"q": 2}


def test_import_roots(project: Project) -> None:
    assert [root.name for root in import_roots(project)] == [project.files["pkg"].path.parent.parent.name]


@pytest.mark.parametrize(
    "target, words",
    [
        ("pkg.models:fails", ["RuntimeError: no data here", "models.py", "line", "must need no arguments"]),
        ("pkg.models:exits", ["SystemExit: bye"]),
        ("pkg.models:nothing", ["no Linen module was called"]),
        ("pkg.models:bare", ["return (module, *inputs)"]),
        ("pkg.models:needs", ["missing 1 required positional argument"]),
        ("pkg.models:absent", ["has no attribute 'absent'"]),
        ("pkg.unheard:of", ["ModuleNotFoundError"]),
        ("models.py", ["expected MODULE:CALLABLE"]),
    ],
)
def test_errors_name_the_target_and_the_cause(project: Project, target: str, words: list[str]) -> None:
    with pytest.raises(TraceError) as error:
        trace_project([target], project)
    for word in [target, *words]:
        assert word in str(error.value)


def test_time_limit_and_missing_python(project: Project) -> None:
    with pytest.raises(TraceError, match="still running after"):
        run_trace(["pkg.models:endless"], roots=import_roots(project), timeout=0.5)
    with pytest.raises(TraceError, match="cannot be started"):
        run_trace(["pkg.models:inputs"], python="/no/such/python")


def test_this_process_stays_clean(project: Project) -> None:
    trace_project(["pkg.models:inputs"], project)
    assert "pkg.models" not in sys.modules
    assert not Path("trace.json").exists()


AMBIGUOUS = """
import jax.numpy as jnp
from flax import linen as nn

class Pool(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = jnp.mean(x, axis=1)
        return nn.Dense(3)(x)

def inputs():
    return Pool(), jnp.ones((2, 4, 6))
"""


def test_the_option(tmp_path: Path) -> None:
    """`--trace` settles what reading cannot, and its errors end the run with status 2 and nothing written."""
    file = tmp_path / "ambiguous.py"
    file.write_text(AMBIGUOUS)
    failed = CliRunner().invoke(program, [str(file), "--diff", "--trace", "ambiguous:absent"])
    assert failed.exit_code == 2
    assert "ambiguous:absent" in failed.output and "has no attribute" in failed.output
    assert file.read_text() == AMBIGUOUS
    done = CliRunner().invoke(program, [str(file), "--diff", "--trace", "ambiguous:inputs"])
    assert done.exit_code == 1, done.output
    assert "in_features" in done.output
    assert "is taken to have" not in done.output  # nothing had to be assumed
    assert "ambiguous" not in sys.modules
