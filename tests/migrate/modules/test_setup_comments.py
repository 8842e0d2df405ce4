"""Comments between the arguments of what setup makes stay, as those of compact methods do."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

from nnx_migrate.migrate.pipeline import migrate_project
from nnx_migrate.migrate.source import SourceFile

TEXT = """import flax.linen as nn
import jax.numpy as jnp

zeros = nn.initializers.zeros


class Part(nn.Module):
    width: int
    def setup(self):  # makes all
        '''What it has.'''
        # one layer,
        # no more

        self.lin = nn.Dense(  # the one
            self.width,  # as wide
            kernel_init=nn.initializers.normal(
                0.1,  # small
            ),
        )  # behind
    def __call__(self, x):
        return self.lin(x)
class Net(nn.Module):
    width: int = 4
    def setup(self):
        # above
        self.body = nn.Sequential([
            nn.Dense(self.width),  # first
            nn.relu,  # then
            # and last
            Part(
                self.width,
                # name="x",
            ),
        ])
        self.blocks = [
                Part(
                    self.width,  # of each
                )
                for _ in range(2)  # two
            ]
        if self.width > 2:
            self.head = nn.Dense(2,
                             bias_init=zeros,
                             name="the_head" # given
                             )  # head
        else:
            self.head = nn.Dense(2, # other
                        name="the_head")
    @nn.compact
    def __call__(self, x):
        x = self.body(x)
        for b in self.blocks:
            x = b(x)
        x = nn.Dense(
            4,  # four
        )(x)
        return self.head(x)
"""


def _comments(text: str) -> list[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sorted(token.string for token in tokens if token.type == tokenize.COMMENT)


def test_every_comment_is_kept_once() -> None:
    result = migrate_project([SourceFile.parse(Path("m.py"), "m", TEXT)])
    after = result.files[0].after
    assert after is not None and {plan.outcome.value for plan in result.classes} == {"native"}
    assert _comments(after) == _comments(TEXT)
    head = "        '''What it has.'''\n        # makes all\n        # one layer,\n        # no more\n"
    assert head in after.replace("        self.width = width\n", "") and "        \n" not in after
    assert "        # the one\n        # as wide\n        self.lin = nnx.Linear(" in after
    again = migrate_project([SourceFile.parse(Path("m.py"), "m", after)])
    assert again.files[0].after == after
