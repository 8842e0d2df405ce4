"""compat.formats package."""
