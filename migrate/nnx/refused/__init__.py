"""What keeps a class Linen."""
