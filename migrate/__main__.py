"""`python -m nnx_migrate.migrate` is `nnx-migrate`."""

from .cli import main

if __name__ == "__main__":
    main()
