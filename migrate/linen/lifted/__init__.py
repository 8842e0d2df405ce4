"""Lifted transforms, as execution follows them."""
