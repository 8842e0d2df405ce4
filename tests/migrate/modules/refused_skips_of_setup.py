"""Blocks of setup that take what other blocks have put away, in another order or number than their widths say."""

HEAD = """from collections.abc import Sequence
import jax.numpy as jnp
from flax import linen as nn


class M(nn.Module):
  widths: Sequence[int] = (4, 5, 7)
  others: Sequence[int] = (4, 5, 7)
"""
DOWNS = "def setup(self):\n  self.downs = [nn.Dense(w) for w in self.widths]\n"
UPS = DOWNS + "  self.ups = [nn.Dense(w) for w in reversed(self.widths)]\n"
CALL = "def __call__(self, x):\n  skips = []\n"
FILL = CALL + "  for down in self.downs:\n    x = down(x)\n    skips.append(x)\n"
JOIN = "    x = up(jnp.concatenate([x, skips.pop()], -1))\n  return x"
TAKE = "  for up in self.ups:\n" + JOIN

INDENT = 2  # of the bodies below

REFUSED = {
    "blocks in the order of the others": (
        "NNX114",
        DOWNS + "  self.ups = [nn.Dense(w) for w in self.widths]\n" + FILL + TAKE,
    ),
    "blocks of another field": (
        "NNX114",
        DOWNS + "  self.ups = [nn.Dense(w) for w in reversed(self.others)]\n" + FILL + TAKE,
    ),
    "taken from the beginning": ("NNX114", UPS + FILL + TAKE.replace("pop()", "pop(0)")),
    "two in a pass": ("NNX114", UPS + FILL + TAKE.replace("[x,", "[x, skips.pop(),")),
    "taken in some passes": (
        "NNX114",
        UPS + FILL + "  for i, up in enumerate(self.ups):\n    if i != 1:\n      x = x + skips.pop().sum()\n" + JOIN,
    ),
    "one that was there before": ("NNX114", UPS + FILL.replace("[]", "[x]") + TAKE),
    "two put away in a pass": ("NNX114", UPS + FILL + "    skips.append(x)\n" + TAKE),
    "put away in some passes": (
        "NNX110",
        UPS
        + FILL.replace("down in", "i, down in")
        .replace("in self.downs", "in enumerate(self.downs)")
        .replace("    skips", "    if i != 1:\n      skips")
        + TAKE,
    ),
    "put away before the block": (
        "NNX114",
        UPS + CALL + "  for down in self.downs:\n    skips.append(x)\n    x = down(x)\n" + TAKE,
    ),
    "turned in between": ("NNX110", UPS + FILL + "  skips.reverse()\n" + TAKE),
    "one changed in between": ("NNX110", UPS + FILL + "  skips[0] = x\n" + TAKE),
    "taken under another name in between": ("NNX110", UPS + FILL + "  kept = skips\n  kept.pop()\n" + TAKE),
    "not turned": (
        "NNX110",
        UPS + FILL + "  for up, skip in zip(self.ups, skips):\n    x = up(jnp.concatenate([x, skip], -1))\n  return x",
    ),
    "a place of another number": (
        "NNX110",
        UPS + FILL + "  for i, up in enumerate(self.ups):\n    x = up(jnp.concatenate([x, skips[-i]], -1))\n  return x",
    ),
    "a loop that is left": ("NNX110", UPS + FILL + "    if x.shape[-1] > 5:\n      break\n" + TAKE),
    "a width that setup changes": (
        "NNX114",
        """def setup(self):
  downs = []
  for w in self.widths:
    w = 2 * w
    downs.append(nn.Dense(w))
  self.downs = downs
  self.ups = [nn.Dense(w) for w in reversed(self.widths)]
"""
        + FILL
        + TAKE,
    ),
}
