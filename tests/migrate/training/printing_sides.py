"""One program, run as it is and as it is migrated: both sides print the same."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from nnx_migrate.migrate.context import Options
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

from ..modules.loading import module

# A state of the `params` of a model `net`, and a step that makes it give ones.
STEP = """
state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.1))


@jax.jit
def step(state, x):
    loss, grads = jax.value_and_grad(lambda p: ((state.apply_fn({"params": p}, x) - 1) ** 2).mean())(state.params)
    return state.apply_gradients(grads=grads), loss


"""
_FORMS = ("NNX601", "NNX602", "NNX603")


def check(stem: str, text: str, jit: str) -> tuple[list[str], str]:
    """Compare the sides of a program; the codes of the forms that it took, sorted, and its text today."""
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)], Options(jit=jit))  # type: ignore[arg-type]
    for path, content in result.created.items():
        module(path.stem, content)
    after = result.files[0].after or ""
    before = printed(f"{stem}_before", text)
    assert before
    assert printed(f"{stem}_after", after) == before
    return sorted({d.code for d in result.files[0].diagnostics if d.code in _FORMS}), after


def printed(name: str, text: str) -> list[str]:
    """The lines, with numbers rounded: the two sides compile apart."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        module(name, text)
    lines = out.getvalue().splitlines()
    return [re.sub(r"-?\d+\.\d{4,}", lambda m: f"{float(m[0]):.4g}", line) for line in lines]


def check_reason(text: str, reason: str) -> None:
    """A program keeps its loop from the NNX idiom because of what a pattern says."""
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", text)])
    said = [d.help or "" for d in result.files[0].diagnostics if d.code in ("NNX602", "NNX603")]
    assert said and all(re.search(reason, help_) for help_ in said), said
