"""migrate.rules package."""
