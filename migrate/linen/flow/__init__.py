"""The flow of values through code outside of module classes."""
