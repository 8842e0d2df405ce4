"""What library calls, operators and indices do to shapes."""
