"""Text that every writer shares: names, expressions of other files, parts of generated code."""
