"""migrate.report package."""
