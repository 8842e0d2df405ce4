"""Names and offsets: imports, aliases, shadowing; positions in odd texts."""

import ast
from pathlib import Path

import pytest
from nnx_migrate.migrate.linen.flow.self_names import SelfName
from nnx_migrate.migrate.names import Names, canonical
from nnx_migrate.migrate.plan import follow_aliases
from nnx_migrate.migrate.source import SourceFile
from nnx_migrate.migrate.trees import FlatTree, subtree


def names_of(text: str, module: str = "pkg.mod", **kwargs: object) -> tuple[Names, ast.Module]:
    tree = ast.parse(text)
    return Names(tree, module, **kwargs), tree  # type: ignore[arg-type]


def meanings(text: str, attribute: str, **kwargs: object) -> list[str | None]:
    """What each `<something>.<attribute>` or bare `<attribute>` of the text means, in order of appearance."""
    names, tree = names_of(text, **kwargs)
    nodes = [
        node
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr == attribute)
        or (isinstance(node, ast.Name) and node.id == attribute and isinstance(node.ctx, ast.Load))
    ]
    return [names.qualname(node) for node in sorted(nodes, key=lambda n: (n.lineno, n.col_offset))]


@pytest.mark.parametrize(
    "imported, used",
    [
        ("import flax.linen as nn", "nn.Dense"),
        ("from flax import linen as nn", "nn.Dense"),
        ("from flax import linen", "linen.Dense"),
        ("from flax.linen import Dense", "Dense"),
        ("import flax.linen", "flax.linen.Dense"),
        ("import flax", "flax.linen.Dense"),
        ("import flax.linen.linear as lin", "lin.Dense"),
    ],
)
def test_every_way_to_import(imported: str, used: str) -> None:
    assert meanings(f"{imported}\nx = {used}(3)\n", "Dense") == ["flax.linen.Dense"]


def test_alias_at_module_level_is_followed_only_when_bound_once() -> None:
    text = "import flax.linen as nn\nL = nn.Dense\na = L\n"
    assert meanings(text, "L") == ["flax.linen.Dense"]
    assert meanings(text + "L = other\n", "L")[0] == "pkg.mod.L"


@pytest.mark.parametrize(
    "body, found",
    [
        ("m = linen\n    m.Dense", "flax.linen.Dense"),
        ("m = linen\n    def g():\n        return m.Dense", "flax.linen.Dense"),
        ("n = linen\n    m = n\n    m.Dense", None),  # of a name of the function, which is followed for attributes alone
        ("m = linen\n    if x: m = x\n    m.Dense", None),
        ("m = x\n    m.Dense", None),
        ("m = x.linen\n    m.Dense", None),
        ("m: object = linen\n    m.Dense", None),
        ("m, n = linen, x\n    m.Dense", None),
        ("for m in (linen,): m.Dense", None),
        ("m = linen\n    if x:\n        import other as m\n    m.Dense", None),
        ("m = linen\n    def g():\n        nonlocal m\n        m = x\n    m.Dense", None),
        ("m = linen\n    def g(m):\n        return m.Dense", None),
        ("m = linen\n    global m\n    m.Dense", "flax.linen.Dense"),
    ],
)
def test_modules_under_names_of_a_function(body: str, found: str | None) -> None:
    text = f"from flax import linen\ndef f(x):\n    {body}\n"
    if "global" in body:
        text = f"from flax import linen\nm = linen\ndef f(x):\n    {body.replace('m = linen', 'pass')}\n"
    assert meanings(text, "Dense") == [found]


def test_parameters_and_locals_hide() -> None:
    text = "from flax import linen as nn\ndef f(nn):\n    return nn.Dense\ndef g():\n    nn = 1\n    return nn.Dense\n"
    assert meanings(text, "Dense") == [None, None]


def test_defaults_annotations_and_first_iterables_are_evaluated_outside() -> None:
    text = "from flax import linen as nn\ndef f(nn: nn.Dense = nn.Dense) -> nn.Dense: ...\nx = [nn for nn in nn.Dense]\n"
    assert meanings(text, "Dense") == ["flax.linen.Dense"] * 4


def test_class_body_names_are_not_seen_by_methods() -> None:
    text = (
        "from flax import linen as nn\nclass C:\n    nn = 3\n    a = nn.Dense\n    def f(self):\n        return nn.Dense\n"
    )
    assert meanings(text, "Dense") == [None, "flax.linen.Dense"]


def test_relative_imports_and_packages() -> None:
    names, _ = names_of("from .a import X\nfrom ..b import Y\n")
    assert names.imports == {"X": "pkg.a.X", "Y": "b.Y"}
    names, _ = names_of("from .a import X\n", module="pkg", is_package=True)
    assert names.imports == {"X": "pkg.a.X"}


def test_module_imports_leave_out_functions_and_type_checking() -> None:
    text = (
        "import typing\n"
        "if typing.TYPE_CHECKING:\n    import a\nelse:\n    import b\n"
        "try:\n    import c\nexcept ImportError:\n    import d\n"
        "def f():\n    import e\n"
        "if new:\n    import g.h\nelse:\n    from old import g\n"
        "if __name__ == '__main__':\n    import i.j\n"
    )
    names, _ = names_of(text)
    assert set(names.module_imports) == {"typing", "b", "c", "d", "g"}
    assert names.imported_modules == set()
    assert set(names.imports) == {"typing", "a", "b", "c", "d", "e", "g", "i"}


def test_resolve_maps_what_is_written_to_the_projects_name() -> None:
    names, _ = names_of("import models\nfrom models import Net\n", resolve=lambda dotted: f"lm1b.{dotted}")
    assert names.imports == {"models": "lm1b.models", "Net": "lm1b.models.Net"}


def test_local_names() -> None:
    names, _ = names_of("def f(a, *b, **c):\n    d = [e for e in a]\n    with x as g:\n        pass\n")
    assert names.local_names == {"a", "b", "c", "d", "e", "g"}


def test_canonical() -> None:
    assert canonical("flax.linen.attention.SelfAttention") == "flax.linen.SelfAttention"
    assert canonical("jax.experimental.pjit.PartitionSpec") == "jax.sharding.PartitionSpec"


def test_flatten_is_walk_without_contexts() -> None:
    tree = ast.parse("def f(a=1, *, b: int = 2):\n    return [x + a for x in b if x]\nclass C(D): y: int = 3\n")
    walked = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
    assert FlatTree(tree).nodes == subtree(tree) == walked


def test_what_a_name_knows_of_its_class_is_not_below_it() -> None:
    tree = ast.parse("class A:\n  x = 1\n")
    name = SelfName(id="self.x", ctx=ast.Load())
    name.owner = tree.body[0]  # type: ignore[assignment]
    tree.body[0].body.append(ast.Expr(name))  # type: ignore[attr-defined]
    assert subtree(tree) == [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n\ny = 2",
        "x = 1\r\ny = 2\r\n",
        "x = 1\ry = 2\r",
        "x = 'é' + 'ü'; y = 2\n",
        "x = '''a\n\fb'''\n\f\ny = 2\n",
        "x = '\u2028'\ny = 2\n",
    ],
)
def test_offsets(text: str) -> None:
    source = SourceFile.parse(Path("a.py"), "a", text)
    assign = next(n for n in source.nodes if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "y")
    assert source.text_of(assign) == "y = 2"
    assert "".join(source.lines) == text


def test_offsets_of_an_empty_file() -> None:
    source = SourceFile.parse(Path("a.py"), "a", "")
    assert source.lines == [""] and source.nodes == [source.tree]


def test_aliases_that_lead_in_a_circle_or_into_themselves_end() -> None:
    assert follow_aliases("pkg.dot", {"pkg.dot": "pkg.dot.dot"}) == "pkg.dot.dot"
    assert follow_aliases("pkg.dot.other", {"pkg.dot": "pkg.dot.dot"}) == "pkg.dot.other"
    assert follow_aliases("a.A.x", {"a.A": "b.A", "b.A": "c.B", "c.B": "c.B"}) == "c.B.x"
    assert follow_aliases("a", {"a": "b.x", "b": "a.y"})  # ends


def test_a_lambda_among_defaults_has_its_own_scope() -> None:
    tree = ast.parse("def f(a=lambda x: x): ...\nx = 1\n")
    names = Names(tree, "m")
    inner = next(n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    assert isinstance(names.binding_scope("x", inner), ast.Lambda)


def test_a_class_body_reads_what_stands_around_before_it_binds_the_name() -> None:
    text = "x = 1\nclass C:\n  y = x\n  x = x + y\n  z = x\n  for x in x:\n    w = x\n"
    names = Names(tree := ast.parse(text), "m")
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "x" and isinstance(n.ctx, ast.Load)]
    inside = {n.lineno for n in found if isinstance(names.binding_scope("x", n), ast.ClassDef)}
    assert inside == {5, 6, 7} and {n.lineno for n in found} == {3, 4, 5, 6, 7}


@pytest.mark.parametrize(
    "text, found",
    [
        # what a function imports is that function's alone
        ("from mine import f\ndef g():\n    from jax import f\n    f\nf", ["jax.f", "mine.f"]),
        ("f = 1\ndef g():\n    from jax import f\n    def h():\n        return f\nf", ["jax.f", "pkg.mod.f"]),
        ("from mine import f\nclass A:\n    from jax import f\n    x = f\nf", ["jax.f", "mine.f"]),
        ("from mine import f\nclass A:\n    from jax import f\n    def g(self): return f", ["mine.f"]),
        ("def g():\n    from jax import f\n    return f\ndef h(f):\n    return f", ["jax.f", None]),
        # of a package that is there, what stands in for it is not meant
        ("try:\n    from flax import f\nexcept ImportError:\n    f = None\nf", ["flax.f"]),
        ("try:\n    from flax import f\nexcept ImportError:\n    from old import f\nf", ["flax.f"]),
        ("try:\n    from other import f\nexcept ImportError:\n    f = None\nf", ["other.f"]),
        ("if x:\n    import flax as f\nelse:\n    f = None\nf", ["flax"]),
        ("try:\n    from jax import f\nexcept ImportError:\n    def f(): ...\nf", ["jax.f"]),
        # of JAX or of others: only the code that ran tells
        ("try:\n    from mine import f\nexcept ImportError:\n    from jax import f\nf", ["pkg.mod.f"]),
        ("if x:\n    from jax import f\nelse:\n    from mine import f\nf", ["pkg.mod.f"]),
        ("from jax import f\nfrom mine import f\nf", ["mine.f"]),
        ("if x:\n    from jax.a import f\nelse:\n    from jax.b import f\nf", ["jax.b.f"]),
        # no alias is followed that is bound again
        ("f = nn.g\nif x:\n    from mine import f\nf", ["pkg.mod.f"]),
        ("import flax as f\nif x:\n    f = nn.g\nf", ["pkg.mod.f"]),
        ("f = nn.g\nfor f in x: pass\nf", ["pkg.mod.f"]),
        ("f = nn.g\nf += 1\nf", ["pkg.mod.f"]),
        ("f = nn.g\nwith x as f: pass\nf", ["pkg.mod.f"]),
        ("f = nn.g\ndef h():\n    global f\n    f = x\nf", ["pkg.mod.f"]),
        ("f = nn.g\ndef h():\n    global f\n    return 1\nf", ["flax.linen.g"]),
    ],
)
def test_what_else_binds_a_name(text: str, found: list[str | None]) -> None:
    assert meanings(f"import flax.linen as nn\n{text}\n", "f") == found
