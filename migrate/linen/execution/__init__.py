"""Symbolic execution of one class: statements, expressions, loops and conditions."""
