"""Lists of modules and of arrays, and the loops over them."""
