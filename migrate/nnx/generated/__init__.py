"""Generated modules and imports: `linen_parity.py`, wrapped Linen modules."""
