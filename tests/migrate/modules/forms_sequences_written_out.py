from flax import linen as nn
class A(nn.Module):
    def setup(self):
        self.m = nn.Sequential([nn.Dense(4), nn.gelu, nn.Dense(3)])
        self.n = nn.Sequential([
            nn.Dense(4),
            nn.gelu,  # swish?
            nn.Dense(3)
        ])
    def __call__(self, x):
        return self.m(x) + self.n(x)
class B(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Sequential([
            nn.Dense(4),
            nn.gelu,
            nn.Dense(3)
        ])(x)
        return nn.Sequential([nn.Dense(4), nn.gelu])(x)
CASES = [("A", {}, [(2, 5)], {}), ("B", {}, [(2, 5)], {})]
