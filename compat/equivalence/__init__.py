"""compat.equivalence package."""
