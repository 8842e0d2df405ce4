"""migrate.nnx package."""
