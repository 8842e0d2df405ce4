"""`getattr(self, "text_only", False)`: of a field, or of one that derived classes alone have."""

import flax.linen as nn


class Base(nn.Module):
    width: int

    def scale(self):
        return 3 if getattr(self, "tripled", False) else 1

    @nn.compact
    def __call__(self, x):
        if getattr(self, "narrow", None) is not None:
            x = x[..., :2]
        x = nn.Dense(getattr(self, "width", 3))(x)
        return x * self.scale()


class Tripled(Base):
    tripled: bool = True


class Narrow(Base):
    narrow: int = 0


CASES = [
    ("Base", {"width": 4}, [(2, 3)], {}),
    ("Tripled", {"width": 4}, [(2, 3)], {}),
    ("Tripled", {"width": 4, "tripled": False}, [(2, 3)], {}),
    ("Narrow", {"width": 5}, [(2, 3)], {}),
]
