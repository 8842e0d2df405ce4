"""Factories and modules that are handed over."""
