"""Imports after a rewrite: what the new code needs goes in, what nothing uses goes out, the rest stays."""

from pathlib import Path

import pytest
from nnx_migrate.migrate.nnx.generated.imports import finish_imports
from nnx_migrate.migrate.source import SourceFile


def finish(before: str, after: str | None = None, *, path: str = "pkg/mod.py", keep: frozenset[str] = frozenset(),
           module: str = "pkg.mod", prefix: str = "", **new: str) -> str:  # fmt: skip
    source = SourceFile.parse(Path(path), module, before, prefix=prefix)
    wanted = {name.replace("__", "."): dotted for name, dotted in new.items()}
    done = finish_imports(source, before if after is None else after, wanted, keep=keep)
    again = finish_imports(SourceFile.parse(Path(path), module, done, prefix=prefix), done, wanted, keep=keep)
    assert again == done, "a second pass changes something"
    return done


def swap(text: str) -> str:
    return text.replace("nn.Dense", "nnx.Linear")


def test_linen_makes_place_for_nnx() -> None:
    before = "import jax\nfrom flax import linen as nn\n\nx = nn.Dense(3)\n"
    assert finish(before, swap(before), nnx="flax.nnx") == "import jax\nfrom flax import nnx\n\nx = nnx.Linear(3)\n"


def test_import_as_makes_place_too() -> None:
    before = "import os\nimport flax.linen as nn\nimport jax\nx = nn.Dense(3)\n"
    want = "import os\nfrom flax import nnx\nimport jax\nx = nnx.Linear(3)\n"
    assert finish(before, swap(before), nnx="flax.nnx") == want


def test_linen_stays_where_it_is_still_used() -> None:
    before = "from flax import linen as nn  # layers\nx = nn.Dense(nn.relu)\n"
    want = "from flax import linen as nn, nnx  # layers\nx = nnx.Linear(nn.relu)\n"
    assert finish(before, swap(before), nnx="flax.nnx") == want


def test_brackets_and_comments_inside_stay() -> None:
    use = "x = nn.Dense, serialization\n"
    before = f"from flax import (\n    linen as nn,  # the layers\n    serialization,  # to bytes\n)\n{use}"
    want = "from flax import (\n    nnx,\n    serialization,  # to bytes\n)\nx = nnx.Linear, serialization\n"
    assert finish(before, swap(before), nnx="flax.nnx") == want


def test_removing_the_last_of_several() -> None:
    before = "from jax.experimental import mesh_utils, pjit\nx = mesh_utils, pjit\n"
    assert finish(before, before.replace(", pjit\n", "\n", 2)).startswith("from jax.experimental import mesh_utils\n")


def test_docstring_future_and_comments_come_first() -> None:
    before = '#!/usr/bin/env python\n"""Doc."""\nfrom __future__ import annotations\n\nx = 1\n'
    want = before.replace("annotations\n", "annotations\nimport jax\n").replace("x = 1", "x = jax")
    assert finish(before, before.replace("x = 1", "x = jax"), jax="jax") == want
    assert finish("# licence\n\nx = 1\n", "# licence\n\nx = jax\n", jax="jax") == "# licence\nimport jax\n\nx = jax\n"


def test_alphabetical_among_kin() -> None:
    before = "import numpy as np\nimport optax\n\nx = 1\n"
    done = finish(before, before.replace("x = 1", "x = np, optax, nnx, jnp"), nnx="flax.nnx", jnp="jax.numpy")
    head = "from flax import nnx\nimport jax.numpy as jnp\nimport numpy as np\nimport optax\n"
    assert done == head + "\nx = np, optax, nnx, jnp\n"


def test_never_below_its_first_use() -> None:
    before = "x = 1\nfrom flax import linen as nn\ny = nn.Dense\n"
    done = finish(before, "x = nnx.Rngs(0)\nfrom flax import linen as nn\ny = nn.Dense\n", nnx="flax.nnx")
    assert done.startswith("from flax import nnx\nx = nnx.Rngs(0)\n")


def test_an_import_inside_a_function_does_not_count() -> None:
    before = "def f():\n    from flax import nnx\n    return nnx\nx = 1\n"
    done = finish(before, before.replace("x = 1", "x = nnx.Rngs"), nnx="flax.nnx")
    assert done.startswith("from flax import nnx\ndef f():")


def test_what_is_not_used_is_not_added() -> None:
    text = "import jax\nx = jax\n"
    assert finish(text, nnx="flax.nnx") == text


def test_line_ends_and_missing_last_one() -> None:
    before = "import jax\r\nx = jax, 1"
    assert finish(before, "import jax\r\nx = jax, nnx", nnx="flax.nnx") == (
        "from flax import nnx\r\nimport jax\r\nx = jax, nnx"
    )
    assert finish("import jax", "import jax", jax="jax") == "import jax"


@pytest.mark.parametrize(
    "text",
    [
        "import jax  # noqa: F401\nx = jax\n",
        "try:\n    import jax\nexcept ImportError:\n    jax = None\nx = jax\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import jax\nx = TYPE_CHECKING, jax\n",
        "import jax\n__all__ = ['jax']\nx = jax\n",
        "import jax\ndef f(a: 'jax.Array'): ...\nx = jax\n",
        "import registry\nx = registry\n",
        "from .layers import jax\nx = jax\n",
        "import jax; import os\nx = jax\n",
    ],
)
def test_imports_that_stay_though_nothing_uses_them(text: str) -> None:
    gone = text.replace("x = jax", "x = 1").replace("x = registry", "x = 1").replace(", jax\n", "\n")
    assert finish(text, gone) == gone


def test_never_in_a_package_init_nor_what_others_import() -> None:
    before, after = "import jax\nx = jax\n", "import jax\nx = 1\n"
    assert finish(before, after, path="pkg/__init__.py") == after
    assert finish(before, after, keep=frozenset({"jax"})) == after
    assert finish(before, after) == "x = 1\n"


def test_an_import_that_was_unused_before_stays() -> None:
    before = "import jax\nimport numpy as np\nx = np\n"
    assert finish(before, before.replace("x = np", "x = 1")) == "import jax\nx = 1\n"


def test_no_double_blank_line_is_left() -> None:
    before = "import os\n\nimport numpy as np\n\nx = os, np\n"
    assert finish(before, before.replace(", np", "")) == "import os\n\nx = os\n"


def test_project_modules_relative_absolute_and_scripts() -> None:
    use = "x = 1\n", "x = Cell\n"
    with_relative = [f"from . import util\ny = util\n{line}" for line in use]
    assert "from .linen_parity import Cell\n" in finish(*with_relative, Cell="pkg.linen_parity.Cell")
    with_absolute = [f"import jax\ny = jax\n{line}" for line in use]
    assert "from pkg.linen_parity import Cell\n" in finish(*with_absolute, Cell="pkg.linen_parity.Cell")
    assert finish(*use, module="train", Cell="linen_parity.Cell").startswith("from linen_parity import Cell\n")
    script = finish(*use, module="wmt.train", prefix="wmt", Cell="wmt.linen_parity.Cell")
    assert script.startswith("from linen_parity import Cell\n")


def test_other_names() -> None:
    done = finish("x = 1\n", "x = partial, P, ocp\n", partial="functools.partial", ocp="orbax.checkpoint",
                  P="jax.sharding.PartitionSpec")  # fmt: skip
    for line in (
        "from functools import partial\n",
        "from jax.sharding import PartitionSpec as P\n",
        "import orbax.checkpoint as ocp\n",
    ):
        assert line in done


def test_text_that_does_not_parse_is_an_error() -> None:
    with pytest.raises(SyntaxError):
        finish_imports(SourceFile.parse(Path("a.py"), "a", "x = 1\n"), "x = (\n", {})


def test_what_only_the_main_part_imports_is_imported_for_all_who_use_it() -> None:
    text = "import flax.linen as nn\nx = nn\nif __name__ == '__main__':\n    import jax\n    print(jax)\n"
    want = text.replace("x = nn\n", "import jax\nx = nn, jax\n")
    assert finish(text, text.replace("x = nn\n", "x = nn, jax\n"), jax="jax") == want


def test_a_docstring_uses_no_import() -> None:
    before = 'from flax import linen as nn\n\n\nclass A:\n    """Wraps an nn.Module."""\n\n    x = nn.Dense(3)\n'
    want = 'from flax import nnx\n\n\nclass A:\n    """Wraps an nn.Module."""\n\n    x = nnx.Linear(3)\n'
    assert finish(before, swap(before), nnx="flax.nnx") == want
