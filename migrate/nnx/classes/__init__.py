"""Whole classes: which become native, their constructors and methods."""
