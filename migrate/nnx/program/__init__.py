"""Programs around modules: meshes and shardings, and what expressions of early NNX are."""
