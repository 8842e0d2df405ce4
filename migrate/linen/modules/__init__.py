"""How modules are made and called: factories, kinds, parameters, variables."""
