"""What code outside of module classes gives to modules."""
