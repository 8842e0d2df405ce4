"""Attention that is given mappings of which no code shows the keys; `CASES` as in forms_basic."""

from typing import Any

from flax import linen as nn

OPTIONS = {"kernel_init": nn.initializers.xavier_uniform(), "bias_init": nn.initializers.normal()}


class Layer(nn.Module):
    options: dict[str, Any]
    rate: float = 0.0

    def setup(self):
        self.attend = nn.MultiHeadDotProductAttention(
            num_heads=2, qkv_features=8, dropout_rate=self.rate, **self.options
        )
        self.dense = nn.Sequential([nn.Dense(8, **self.options), nn.gelu, nn.Dense(4, **self.options)])
        self.norm = nn.LayerNorm()

    def __call__(self, x, train: bool = False):
        h = self.norm(x)
        return self.dense(x + self.attend(h, h, h, deterministic=not train))


class Older(nn.Module):
    options: dict[str, Any]

    @nn.compact
    def __call__(self, x):
        y = nn.SelfAttention(2, **self.options)(x)
        return nn.MultiHeadAttention(num_heads=2, deterministic=True, **self.options)(y, x)


CASES: list[Any] = [
    ("Layer", {"options": OPTIONS}, [(2, 3, 4)], {}),
    ("Layer", {"options": {}}, [(2, 3, 4)], {}),
    ("Layer", {"options": {"use_bias": False, "precision": "highest"}, "rate": 0.5}, [(2, 3, 4)], {}),
    ("Older", {"options": OPTIONS}, [(2, 3, 4)], {}),
    ("Older", {"options": {"out_bias_init": nn.initializers.normal()}}, [(2, 3, 4)], {}),
]
