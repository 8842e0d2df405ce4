"""Walking, filtering, encodings, module names: which files a run sees and what it calls them."""

import ast
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from nnx_migrate.migrate.cli import program
from nnx_migrate.migrate.files.documents import read_document
from nnx_migrate.migrate.files.errors import InputError
from nnx_migrate.migrate.files.modules import module_names
from nnx_migrate.migrate.files.select import select
from nnx_migrate.migrate.files.walk import walk
from nnx_migrate.migrate.names import Names
from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile


def write(root: Path, *names: str, text: str = "import jax\n") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def found(*paths: Path, excluded: tuple[str, ...] = ()) -> list[str]:
    errors: list[InputError] = []
    files = [f.path for f in walk(paths, lambda path: path.name in excluded, errors)]
    assert not errors
    base = Path(os.path.commonpath(paths)) if len(paths) > 1 else paths[0]
    return [path.relative_to(base).as_posix() for path in files]


def test_what_is_left_out_on_the_way(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "sub/b.ipynb", "sub/c.txt", ".hidden/d.py", "__pycache__/e.py", "node_modules/f.py",
          "env/lib/site-packages/g.py", "venv/h.py", "x/site-packages/i.py", "sub/.j.py")  # fmt: skip
    (tmp_path / "venv/pyvenv.cfg").write_text("")
    assert found(tmp_path) == ["a.py", "sub/.j.py", "sub/b.ipynb"]
    assert found(tmp_path, excluded=("sub",)) == ["a.py"]


def test_what_is_left_out_can_be_named(tmp_path: Path) -> None:
    write(tmp_path, "venv/lib/site-packages/pkg/g.py", ".hidden/d.py")
    (tmp_path / "venv/pyvenv.cfg").write_text("")
    assert found(tmp_path / "venv/lib/site-packages/pkg") == ["g.py"]
    assert found(tmp_path / "venv") == []
    assert found(tmp_path / ".hidden") == ["d.py"]


def test_gitignore_nested_negated_and_above(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(
        tmp_path,
        "a.py",
        "build/b.py",
        "src/gen_c.py",
        "src/gen_keep.py",
        "src/d.py",
        "src/deep/gen_e.py",
        "src/deep/own.py",
    )
    (tmp_path / ".gitignore").write_text("build/\ngen_*.py\n")
    (tmp_path / "src/.gitignore").write_text("!gen_keep.py\n")
    (tmp_path / "src/deep/.gitignore").write_text("/own.py\n")
    assert found(tmp_path) == ["a.py", "src/d.py", "src/gen_keep.py"]
    assert found(tmp_path / "src") == ["d.py", "gen_keep.py"]
    assert found(tmp_path / "build") == ["b.py"]  # ignored, but named


def test_what_git_tracks_is_seen_though_it_ignores_the_like(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    write(tmp_path, "a.py", "b.py", "build/c.py", "build/deep/d.py", "src/e.ipynb", "src/f.py", "out/g.py")
    (tmp_path / ".gitignore").write_text("*.py\nbuild/\nout/\n*.ipynb\n")
    subprocess.run([*git, "add", "-f", "a.py", "build/deep/d.py", "src"], check=True)
    assert found(tmp_path) == ["a.py", "build/deep/d.py", "src/e.ipynb", "src/f.py"]
    assert found(tmp_path / "src") == ["e.ipynb", "f.py"]
    ran = tmp_path / "ran"
    (tmp_path / "monitor.sh").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (tmp_path / "monitor.sh").chmod(0o755)
    subprocess.run([*git, "config", "core.fsmonitor", str(tmp_path / "monitor.sh")], check=True)
    assert len(found(tmp_path)) == 4 and not ran.exists()


def test_each_file_once_and_missing_ones_reported(tmp_path: Path) -> None:
    write(tmp_path, "a.py")
    errors: list[InputError] = []
    paths = [tmp_path, tmp_path / "a.py", tmp_path / "b.py", Path("/dev/null")]
    assert [f.path.name for f in walk(paths, lambda _: False, errors)] == ["a.py"]
    assert [(e.path.name, e.code) for e in errors] == [("b.py", "NNX003"), ("null", "NNX003")]


def test_filter_follows_what_linen_files_define() -> None:
    files = {
        "model.py": b"import flax.linen as nn\nclass Net(nn.Module): pass\ndef make_net(): return Net()\n",
        "sub.py": b"from model import Net\nclass Wide(Net): pass\n",
        "use.py": b"from sub import Wide\nWide()\n",
        "factory.py": b"import model\nmodel.make_net()\n",
        "other.py": b"import os\nclass Other: pass\n",
        "word.py": b"x = 'Nets and Widening'\nimport os\n",
        "named.py": b"x = 1\n",
    }
    kept = select({Path(name): data for name, data in files.items()}, {Path("named.py")})
    assert sorted(map(str, kept)) == ["factory.py", "model.py", "named.py", "sub.py", "use.py"]


def test_a_line_number_is_no_word_of_linen() -> None:
    files = {
        "log.py": b"import jax\ndef get_logger(record): return record.lineno\n",
        "lines.py": b"print(error.lineno)\n",
        "user.py": b"from log import get_logger\nget_logger()\n",
        "model.py": b"from flax import linen\n",
    }
    assert sorted(map(str, select({Path(name): data for name, data in files.items()}))) == ["log.py", "model.py"]


@pytest.mark.parametrize(
    "data, text",
    [
        (b"x = '\xc3\xa9'\n", "x = 'é'\n"),
        (b"\xef\xbb\xbfx = '\xc3\xa9'\r\n", "x = 'é'\r\n"),
        (b"# coding: latin-1\nx = '\xe9'\n", "# coding: latin-1\nx = 'é'\n"),
        (
            b"#!/bin/sh\n# vim: set fileencoding=cp1252 :\nx = '\x80'\r",
            "#!/bin/sh\n# vim: set fileencoding=cp1252 :\nx = '€'\r",
        ),
        (b"", ""),
    ],
)
def test_encodings_round_trip(data: bytes, text: str) -> None:
    document = read_document(Path("a.py"), data)
    assert document.text == text and document.encode(text) == data
    assert document.encode(text + "# é") == data + "# é".encode("utf-8" if b"coding" not in data else "latin-1")
    assert document.locate(7) == (None, 7)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "last, said",
    [
        ("    pass", "    def __init__(self, *, rngs: nnx.Rngs):%{made}"),
        ("    width: int", "    def __init__(self, width: int, *, rngs: nnx.Rngs):%{made}"),
        ("    width = 3", "    width = 3%%    def __init__(self, *, rngs: nnx.Rngs):%{made}"),
        (
            "    def __call__(self, x): return x",
            "    def __init__(self, *, rngs: nnx.Rngs):%{made}%%    def __call__(self, x): return x",
        ),
    ],
)
def test_what_ends_without_a_line_end_does_so_afterwards(tmp_path: Path, last: str, said: str, end: str) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(f"import flax.linen as nn{end}{end}class Model(nn.Module):{end}{last}".encode())
    done = CliRunner().invoke(program, [str(path)])
    assert done.exit_code == 0, done.output
    made = "        del rngs  # nothing to create"
    expected = f"from flax import nnx{end}{end}class Model(nnx.Module):{end}" + said.format(made=made).replace("%", end)
    assert path.read_bytes() == expected.encode()


@pytest.mark.parametrize(
    "data, code, says, line",
    [
        (b"x = 1\ny = '\xff'\n", "NNX003", "0xff", 2),
        (b"# coding: nonsense\n", "NNX003", "nonsense", 1),
        (b"x = 1\ndef f(:\n", "NNX002", "does not parse", 2),
        (b"x = '\0'\n", "NNX002", "null bytes", 1),
        (b"print 'hello'\n", "NNX002", "print", 1),
        (b"x = " + b"(" * 300 + b")" * 300, "NNX002", "does not parse", 1),
    ],
)
def test_unusable_files_say_why(data: bytes, code: str, says: str, line: int) -> None:
    with pytest.raises(InputError) as info:
        read_document(Path("dir/a.py"), data)
    assert info.value.code == code and says in str(info.value) and "dir/a.py" in str(info.value)
    assert info.value.line == line and info.value.help


def test_text_that_the_encoding_cannot_hold_is_refused() -> None:
    document = read_document(Path("a.py"), b"# coding: latin-1\nx = 1\n")
    with pytest.raises(InputError, match=r"latin-1|iso-8859-1"):
        document.encode(document.text + "# →\n")


# module names --------------------------------------------------------------------------------------------------
def names_in(root: Path, *files: str) -> dict[str, str]:
    write(root, *files)
    names = module_names([root / name for name in files])
    return {path.relative_to(root).as_posix(): name.name for path, name in names.items()}


def imported(root: Path, file: str, statement: str) -> dict[str, str]:
    files = list(root.rglob("*.py"))
    name = module_names(files)[root / file]
    return Names(ast.parse(statement), name.name, is_package=name.is_package, resolve=name.resolve).imports


def test_packages_src_layout_and_scripts(tmp_path: Path) -> None:
    assert names_in(tmp_path, "src/pkg/__init__.py", "src/pkg/a.py", "src/pkg/sub/__init__.py", "src/pkg/sub/b.py",
                    "train.py", "tools/run-me.py") == {
        "src/pkg/__init__.py": "pkg",
        "src/pkg/a.py": "pkg.a",
        "src/pkg/sub/__init__.py": "pkg.sub",
        "src/pkg/sub/b.py": "pkg.sub.b",
        "train.py": "train",
        "tools/run-me.py": "run_me",
    }  # fmt: skip
    assert imported(tmp_path, "train.py", "from pkg.a import X") == {"X": "pkg.a.X"}
    assert imported(tmp_path, "src/pkg/sub/b.py", "from ..a import X") == {"X": "pkg.a.X"}


def test_a_package_whose_files_are_run_from_within(tmp_path: Path) -> None:
    write(tmp_path, "text/__init__.py", "text/train.py", "text/common.py", "text/layers/__init__.py", "text/layers/norms.py",
          "text/layers/jax.py", "text/layers/blocks.py")  # fmt: skip
    assert imported(tmp_path, "text/layers/blocks.py", "from layers import norms") == {"norms": "text.layers.norms"}
    assert imported(tmp_path, "text/layers/blocks.py", "import common") == {"common": "text.common"}
    assert imported(tmp_path, "text/train.py", "from layers.norms import X") == {"X": "text.layers.norms.X"}
    assert imported(tmp_path, "text/layers/blocks.py", "import jax") == {"jax": "jax"}  # as installed
    assert imported(tmp_path, "text/train.py", "import norms") == {"norms": "norms"}  # nothing beside it


def test_folders_without_an_init_file_below_a_package_are_of_it(tmp_path: Path) -> None:
    names = names_in(tmp_path, "text/__init__.py", "text/types.py", "text/nets/norms.py", "text/nets/blocks.py", "run.py")
    assert names["text/nets/norms.py"] == "text.nets.norms" and names["run.py"] == "run"
    assert imported(tmp_path, "text/nets/blocks.py", "from . import norms\nfrom .. import types") == {
        "norms": "text.nets.norms",
        "types": "text.types",
    }
    assert imported(tmp_path, "text/nets/blocks.py", "import norms") == {"norms": "text.nets.norms"}  # as a script
    assert imported(tmp_path, "run.py", "from text.nets import norms") == {"norms": "text.nets.norms"}


def test_what_lies_beside_a_script_below_a_package_comes_before_what_lies_above(tmp_path: Path) -> None:
    write(
        tmp_path,
        "helpers.py",
        "text/__init__.py",
        "text/helpers.py",
        "text/a/helpers.py",
        "text/a/train.py",
        "text/b/train.py",
    )
    assert imported(tmp_path, "text/a/train.py", "from helpers import Net") == {"Net": "text.a.helpers.Net"}
    assert imported(tmp_path, "text/a/train.py", "from text.helpers import Net") == {"Net": "text.helpers.Net"}
    assert imported(tmp_path, "text/b/train.py", "from helpers import Net") == {"Net": "helpers.Net"}
    assert imported(tmp_path, "text/helpers.py", "from helpers import Net") == {"Net": "helpers.Net"}


def test_the_parity_module_of_such_a_package_lies_where_its_files_find_it(tmp_path: Path) -> None:
    write(tmp_path, "text/__init__.py", "text/common.py")
    model = "import common\nfrom flax import linen as nn\n\n\nclass M(nn.Module):\n  @nn.compact\n  def __call__(self, x):\n"
    model += "    return nn.SelfAttention(2)(common.scale(x))\n"
    files = [tmp_path / name for name in ("text/__init__.py", "text/common.py", "text/model.py")]
    files[2].write_text(model)
    names = module_names(files)
    sources = [
        SourceFile.parse(f, names[f].name, f.read_text(), is_package=names[f].is_package, resolve=names[f].resolve)
        for f in files
    ]
    result = migrate_project(sources)
    assert list(result.created) == [tmp_path / "text/linen_parity.py"]
    after = next(f.after for f in result.files if f.path == files[2])
    assert after is not None and "\nimport linen_parity\n" in after, after


def test_the_parity_module_of_a_script_beside_a_file_called_as_their_folder(tmp_path: Path) -> None:
    write(tmp_path, "ssm/ssm.py", "ssm/train.py")
    (tmp_path / "ssm/ssm.py").write_text("SCALE = 2.0\n")
    script = "import jax\nfrom flax import linen as nn\nfrom ssm import SCALE\n\n\nclass M(nn.Module):\n  @nn.compact\n"
    script += "  def __call__(self, x):\n    return nn.Dense(3)(x) * SCALE\n\n\n"
    script += "model = M()\nparams = model.init(jax.random.key(0), jax.numpy.ones((1, 2)))\n"
    script += "print(jax.tree.structure(params), model.apply(params, jax.numpy.ones((1, 2))).shape)\n"
    (tmp_path / "ssm/train.py").write_text(script)
    files = [tmp_path / "ssm/ssm.py", tmp_path / "ssm/train.py"]
    names = module_names(files)
    result = migrate_project([SourceFile.parse(f, names[f].name, f.read_text(), resolve=names[f].resolve) for f in files])
    assert list(result.created) == [tmp_path / "ssm/linen_parity.py"]
    after = next(f.after for f in result.files if f.path == files[1])
    assert after is not None and "\nimport linen_parity\n" in after, after


def test_a_folder_that_a_notebook_put_on_the_path(tmp_path: Path) -> None:
    write(tmp_path, "src/models/net.py", "src/jax/own.py", "nb/a.py")
    assert imported(tmp_path, "nb/a.py", "from models.net import Net") == {"Net": "net.Net"}
    assert imported(tmp_path, "nb/a.py", "from models import net") == {"net": "net"}
    assert imported(tmp_path, "nb/a.py", "from models import Net") == {"Net": "models.Net"}  # of a package of that name
    assert imported(tmp_path, "nb/a.py", "from jax.own import Net") == {"Net": "jax.own.Net"}
    write(tmp_path, "pkg/__init__.py", "pkg/b.py")
    assert imported(tmp_path, "pkg/b.py", "from models.net import Net") == {"Net": "models.net.Net"}  # a library's
    write(tmp_path, "other/models/net.py")
    assert imported(tmp_path, "nb/a.py", "from models.net import Net") == {"Net": "models.net.Net"}  # of two


def test_scripts_of_the_same_name_in_several_directories(tmp_path: Path) -> None:
    names = names_in(tmp_path, "lm/models.py", "lm/train.py", "wmt/models.py", "wmt/train.py")
    assert names["lm/models.py"] == "lm.models" and names["wmt/models.py"] == "wmt.models"
    assert imported(tmp_path, "lm/train.py", "import models\nfrom models import Net") == {
        "models": "lm.models",
        "Net": "lm.models.Net",
    }
    assert imported(tmp_path, "wmt/train.py", "from models import Net") == {"Net": "wmt.models.Net"}
    assert imported(tmp_path, "wmt/train.py", "import jax") == {"jax": "jax"}


def test_namespace_directories_are_found_from_the_top(tmp_path: Path) -> None:
    names_in(tmp_path, "main.py", "lib/nets/cnn.py", "lib/util.py")
    assert imported(tmp_path, "main.py", "from lib.nets.cnn import CNN") == {"CNN": "cnn.CNN"}
    assert imported(tmp_path, "lib/nets/cnn.py", "from .. import util\nimport lib.util as u") == {
        "util": "util",
        "u": "util",
    }


def test_a_folder_above_all_files_is_the_head_of_their_imports(tmp_path: Path) -> None:
    names_in(tmp_path, "nets/models/net.py", "nets/libs/layers.py")
    assert imported(tmp_path, "nets/models/net.py", "from nets.libs import layers\nimport nets.libs.layers as l") == {
        "layers": "layers",
        "l": "layers",
    }
    assert imported(tmp_path, "nets/models/net.py", "from other.libs import layers") == {"layers": "other.libs.layers"}
    names_in(tmp_path / "x", "jax/models/net.py", "jax/nn/layers.py")
    names = module_names(list((tmp_path / "x").rglob("*.py")))
    assert names[tmp_path / "x/jax/models/net.py"].resolve("jax.nn.layers") == "jax.nn.layers"  # as installed


def test_a_file_called_as_the_folder_around_its_package_hides_none_of_it(tmp_path: Path) -> None:
    """`from net.models.parts import Block` in `net/models/net.py`, where no folder has an `__init__.py`."""
    stems = ("train", "models/net", "models/parts", "models/base", "utils")
    files = [tmp_path / "net" / f"{stem}.py" for stem in stems]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    names = module_names(files)
    inside = names[files[1]].resolve
    assert inside is not None
    assert inside("net.models.parts.Block") == f"{names[files[2]].name}.Block"
    assert inside("net.models.base") == names[files[3]].name
    assert inside("net.utils.size") == f"{names[files[4]].name}.size"
    assert inside("net.Own") == f"{names[files[1]].name}.Own"  # what the file itself has
    outside = names[files[0]].resolve
    assert outside is not None and outside("net.models.net.Net") == f"{names[files[1]].name}.Net"


def test_two_packages_of_one_name(tmp_path: Path) -> None:
    names = names_in(tmp_path, "a/core/__init__.py", "a/core/net.py", "b/core/__init__.py", "b/core/net.py", "b/go.py")
    assert names["a/core/net.py"] == "a.core.net" and names["b/core/net.py"] == "b.core.net"
    assert imported(tmp_path, "b/go.py", "from core.net import N") == {"N": "b.core.net.N"}
    assert imported(tmp_path, "a/core/__init__.py", "from .net import N") == {"N": "a.core.net.N"}


def test_names_are_unique(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "a.ipynb", "a-b.py", "a_b.py", "pkg/__init__.py", "pkg.py")
    names = [name.name for name in module_names(sorted(tmp_path.rglob("*.*"))).values()]
    assert len(set(names)) == len(names) == 6
