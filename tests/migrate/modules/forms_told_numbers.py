"""Numbers of setup that a condition decides are told to what contains the class; functions that modules replace."""

from flax import linen as nn


class Summary(nn.Module):
    labels: int = 3
    hidden: int = 6
    to_labels: bool = False
    project: bool = True

    def setup(self):
        self.summary = lambda x: x
        if self.project:
            if self.to_labels and self.labels > 0:
                num_classes = self.labels
            else:
                num_classes = self.hidden
            self.summary = nn.Dense(num_classes)

    def __call__(self, x):
        return nn.silu(self.summary(x[:, 0]))


class Outer(nn.Module):
    to_labels: bool = False
    project: bool = True

    def setup(self):
        self.first = nn.Dense(5)
        self.part = Summary(to_labels=self.to_labels, project=self.project)
        self.last = nn.Dense(2)

    def __call__(self, x):
        return self.last(self.part(self.first(x)))


class Grown(nn.Module):
    wide: bool = False

    def setup(self):
        if self.wide:
            n = 4
        else:
            n = 8
        n = n * 2
        self.one = nn.Dense(n)
        if self.wide:
            m = 3
        else:
            m = 5
        self.two = nn.Dense(m)
        m = 7
        self.three = nn.Dense(m)

    def __call__(self, x):
        return self.one(x), self.two(x), self.three(x)


class OuterGrown(nn.Module):
    wide: bool = False

    @nn.compact
    def __call__(self, x):
        a, b, c = Grown(self.wide)(x)
        return nn.Dense(2)(a) + nn.Dense(2)(b) + nn.Dense(2)(c)


class Kept(nn.Module):
    """Fields that are not numbers for certain."""

    config: dict
    project: bool = True

    def setup(self):
        if self.project:
            width = self.config["wide"]
        else:
            width = self.config["narrow"]
        self.body = nn.Dense(width)
        self.drop = nn.relu
        if self.project:
            self.drop = nn.Dropout(0.5, deterministic=True)

    def __call__(self, x):
        return self.drop(self.body(x)), width_of(x)


def width_of(x):
    return x.shape[-1]


class OuterKept(nn.Module):
    project: bool = True

    @nn.compact
    def __call__(self, x):
        y, _ = Kept({"wide": 6, "narrow": 3}, self.project)(x)
        return nn.Dense(2)(y)


class Derived(Summary):
    def setup(self):
        super().setup()
        if self.hidden > 5:
            self.summary = nn.Dense(4)


CASES = [
    ("Derived", {"project": False}, [(2, 3, 4)], {}),
    ("Outer", {}, [(2, 3, 4)], {}),
    ("Outer", {"to_labels": True}, [(2, 3, 4)], {}),
    ("Outer", {"project": False}, [(2, 3, 4)], {}),
    ("OuterGrown", {}, [(2, 4)], {}),
    ("OuterGrown", {"wide": True}, [(2, 4)], {}),
    ("OuterKept", {}, [(2, 4)], {}),
    ("OuterKept", {"project": False}, [(2, 4)], {}),
    ("Summary", {"to_labels": True}, [(2, 3, 4)], {}),
    ("Summary", {"project": False}, [(2, 3, 4)], {}),
]
