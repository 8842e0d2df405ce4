"""Functions that make modules, taken into the classes that call them.

    def make_mlp(dims):                                 def setup(self):
        layers = []                                         layers = []
        for d in dims[:-1]:                                 for d in self.dims[:-1]:
            layers += [nn.Dense(d), nn.relu]      →             layers += [nn.Dense(d), nn.relu]
        return nn.Sequential([*layers, nn.Dense(dims[-1])]) self.mlp = nn.Sequential([*layers, nn.Dense(self.dims[-1])])

A class that stays Linen because a function makes modules for it is tried once more with the text of that function in place
of each of its calls, which is the same Linen program: modules get their names from the class that is running, whoever's
text makes them. The class keeps that text where it becomes native with it, and the text that it had where it does not.
"""

from .trial import as_it_was, tried_again

__all__ = ["as_it_was", "tried_again"]
