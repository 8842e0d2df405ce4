"""The vocabulary of symbolic execution: values, sizes, construction sites, and what merging and substitution do to them."""
