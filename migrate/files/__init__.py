"""migrate.files package."""
