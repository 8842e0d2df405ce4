"""Lists and dicts that are defaults of functions within a method: calls share them, and change what the next one finds."""

INDENT = 0
_M = """class M(nn.Module):
    @nn.compact
    def __call__(self, x):
"""

REFUSED = {
    "a list that each call appends to": (
        "NNX113",
        _M
        + """        def block(h, sizes=[3]):
            sizes.append(4)
            return nn.Dense(len(sizes))(h)
        return block(block(x))
""",
    ),
    "a dict of which each call changes an item": (
        "NNX113",
        _M
        + """        def block(h, sizes={"n": 3}):
            sizes["n"] += 1
            return nn.Dense(sizes["n"])(h)
        return block(block(x))
""",
    ),
    "a list of the method's own, under another name": (
        "NNX113",
        _M
        + """        outs = []
        def add(h, *, into=outs):
            into.append(nn.Dense(len(into) + 2)(h))
        add(x)
        add(x)
        return outs[1], outs[0]
""",
    ),
    "a list of arrays, asked for its width": (
        "NNX110",
        _M
        + """        outs = []
        def add(h, into=outs):
            into.append(nn.Dense(3)(h))
        add(x)
        add(x)
        return nn.Dense(2)(jnp.concatenate(outs, -1))
""",
    ),
}
