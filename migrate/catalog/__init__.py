"""migrate.catalog package."""
