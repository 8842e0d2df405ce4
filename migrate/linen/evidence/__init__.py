"""What the project itself shows of inputs: examples, ranks, and what `--trace` saw."""
