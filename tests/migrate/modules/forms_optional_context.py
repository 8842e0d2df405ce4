"""Optional array arguments that stand in for one another: the constructor is given the size of each, or None."""
from flax import linen as nn


class Attend(nn.Module):
    @nn.compact
    def __call__(self, x, context=None):
        return nn.Dense(4)(x if context is None else context)


class Twice(nn.Module):
    @nn.compact
    def __call__(self, x, context):
        return Attend()(x), Attend()(x, context)


CASES = [
    ('Attend', {}, [(1, 2, 3), (1, 5, 6)], {}),
    ('Attend', {}, [(1, 2, 3)], dict(context=None)),
    ('Twice', {}, [(1, 2, 3), (1, 5, 6)], {}),
]
