"""A Linen program and its migration, run whole from the same initial values: their losses agree; by seeds they do not."""

from __future__ import annotations

import subprocess
import sys
import types
import unittest.mock
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from flax import nnx
from nnx_migrate import compat
from nnx_migrate.compat.equivalence import starts
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

PROGRAM = """
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state


class Net(nn.Module):
    width: int = 8

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(11, self.width)(tokens)
        x = nn.Dense(self.width, kernel_init=nn.initializers.orthogonal(), bias_init=nn.initializers.normal(0.1))(x)
        x = nn.gelu(nn.LayerNorm()(x))
        return nn.Dense(11, kernel_init=nn.initializers.uniform(0.3))(x)


def main():
    tokens = jnp.arange(12).reshape(3, 4) % 11
    model = Net()
    params = model.init(jax.random.PRNGKey(0), tokens)["params"]
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(0.05))

    @jax.jit
    def step(state, tokens):
        def loss_fn(params):
            logits = state.apply_fn({"params": params}, tokens)
            return optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], tokens[:, 1:]).mean()

        loss, grads = jax.value_and_grad(loss_fn)(state.params)
        return state.apply_gradients(grads=grads), loss

    losses = []
    for _ in range(4):
        state, loss = step(state, tokens)
        losses.append(float(loss))
    return losses


if __name__ == "__main__":
    print(main())
"""


def migrated(text: str) -> str:
    (change,) = migrate_project([SourceFile.parse(Path("program.py"), "program", text)]).files
    return change.after


def losses(text: str) -> list[float]:
    module = types.ModuleType("program")
    with unittest.mock.patch.dict(sys.modules, {"program": module}):
        exec(compile(text, "program.py", "exec"), vars(module))
        found: list[float] = module.main()
    return found


def test_a_whole_program_on_both_sides() -> None:
    after = migrated(PROGRAM)
    assert "nnx.Optimizer(" in after and "linen as nn" not in after
    with compat.same_initial_values():
        linen, native = losses(PROGRAM), losses(after)
    np.testing.assert_allclose(linen, native, rtol=1e-6)
    assert len(set(linen)) == 4, "it must train"
    by_seed = losses(PROGRAM)
    assert abs(by_seed[0] - losses(after)[0]) > 1e-4, "seeds differ by design: the test could not fail otherwise"
    assert abs(by_seed[0] - linen[0]) > 1e-4


def test_a_changed_program_is_seen() -> None:
    changed = migrated(PROGRAM.replace("optax.adam(0.05)", "optax.adam(0.04)"))
    with compat.same_initial_values():
        linen, native = losses(PROGRAM), losses(changed)
    assert linen[0] == pytest.approx(native[0], rel=1e-6)
    assert abs(linen[-1] - native[-1]) > 1e-4


def test_values_follow_from_shapes_alone_and_jax_is_as_before() -> None:
    init = nn.initializers.lecun_normal()
    before = init(jax.random.key(0), (5, 3))
    with compat.same_initial_values():
        one, other = (init(jax.random.key(seed), (5, 3)) for seed in (1, 2))
        linear = nnx.Linear(5, 3, rngs=nnx.Rngs(7)).kernel[...]
        dense = jax.jit(nn.Dense(3).init)(jax.random.key(3), jnp.ones((1, 5)))["params"]["kernel"]
        stacked = jax.vmap(lambda key: init(key, (5, 3)))(jax.random.split(jax.random.key(4), 2))
        drawn = jax.random.normal(jax.random.key(0), (5, 3))
    for value in (other, linear, dense, *stacked):
        np.testing.assert_array_equal(one, value)
    assert not np.array_equal(one, init(jax.random.key(1), (5, 3)))
    np.testing.assert_array_equal(before, init(jax.random.key(0), (5, 3)))
    np.testing.assert_array_equal(drawn, jax.random.normal(jax.random.key(0), (5, 3)))


KINDS = {  # what jax itself can draw of them
    jnp.float32: "normal uniform truncated_normal orthogonal delta_orthogonal glorot_uniform he_normal lecun_normal",
    jnp.bfloat16: "normal uniform truncated_normal glorot_uniform he_normal",
    jnp.complex64: "normal orthogonal glorot_uniform he_normal",
}


@pytest.mark.parametrize(("dtype", "kind"), [(dtype, kind) for dtype, kinds in KINDS.items() for kind in kinds.split()])
def test_every_initializer(dtype: Any, kind: str) -> None:
    init = getattr(nn.initializers, kind)()
    with compat.same_initial_values():
        one, other = (init(jax.random.key(seed), (3, 4, 4), dtype) for seed in (1, 2))
    assert one.dtype == dtype
    np.testing.assert_array_equal(one, other)
    assert np.asarray(one).std() > 0


def test_it_is_left_after_an_error_and_may_be_entered_twice() -> None:
    init = nn.initializers.normal()
    before = init(jax.random.key(0), (4,))
    with pytest.raises(RuntimeError, match="boom"), compat.same_initial_values(), compat.same_initial_values():
        raise RuntimeError("boom")
    np.testing.assert_array_equal(before, init(jax.random.key(0), (4,)))


def test_another_jax_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import jax._src.nn.initializers as initializers

    monkeypatch.delattr(initializers, "random")
    with pytest.raises(compat.CompatError, match="carry the weights over"), compat.same_initial_values():
        pass


def test_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert starts.main([]) == 2
    assert starts.main([str(tmp_path / "none.py")]) == 2
    assert "none.py is no file" in capsys.readouterr().err
    (tmp_path / "helper.py").write_text("from sys import argv\n")
    program = PROGRAM.replace("print(main())", "print(argv[1:], main())")
    (tmp_path / "train.py").write_text(f"from helper import argv\n{program}")
    command = [sys.executable, "-m", starts.__name__, str(tmp_path / "train.py"), "--epochs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("['--epochs', '1'] [")
    with compat.same_initial_values():
        expected = losses(PROGRAM)
    np.testing.assert_allclose([float(x) for x in done.stdout.split("[")[-1].strip("]\n").split(",")], expected, rtol=1e-5)
