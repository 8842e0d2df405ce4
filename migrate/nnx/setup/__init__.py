"""What `setup` makes, as a constructor makes it."""
