"""Fields of a class, as arguments and attributes of the NNX class."""
