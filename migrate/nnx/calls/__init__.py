"""Calls of submodules: flags, streams, dtypes, values that they sow."""
