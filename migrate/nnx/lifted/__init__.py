"""Lifted transforms, written in NNX."""
