"""migrate.linen package."""
