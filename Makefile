# Every target does its own set-up on a machine with nothing but Python 3.11+, venv and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: venv test lint types unit slow demo bench corpus clean

venv: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

lint: venv
	$(BIN)/ruff check .

# Type checkers do not follow setuptools' editable package-dir mapping, so mypy sees the packages through links.
types: venv
	mkdir -p build/types/nnx_migrate
	ln -sfn ../../../migrate build/types/nnx_migrate/migrate
	ln -sfn ../../../compat build/types/nnx_migrate/compat
	MYPYPATH=build/types $(BIN)/mypy -p nnx_migrate

unit: venv
	$(BIN)/python -m pytest -q -n 2 --dist worksteal --timeout 600 -m "not slow"

# Types are checked beside the tests: that is one process, and leaves a core idle where it runs before them.
test: lint
	$(MAKE) -j 2 types unit

# More meshes, more programs, more forms of modules, longer campaigns of what `make test` has some of; CI runs both.
slow: venv
	$(BIN)/python -m pytest -q -n 2 --dist worksteal --timeout 600 -m slow

demo: venv
	$(BIN)/nnx-migrate demo

clean:
	rm -rf build $(VENV) *.egg-info

# The open corpus: fetch what PyPI has, take checkouts from corpus/github where they stand, migrate, run both sides.
corpus: venv
	$(BIN)/python benchmarks/corpus.py fetch
	$(BIN)/python benchmarks/corpus.py all

# Random Linen modules, migrated and compared side by side.
fuzz: venv
	$(BIN)/python benchmarks/fuzz.py --count 200

# What the codemod costs beside a libcst parse; what restoring and converting cost beside plain Orbax (3 GiB); what a
# training step costs after migration beside Linen's.
bench: venv
	$(BIN)/python benchmarks/bench_codemod.py
	$(BIN)/python benchmarks/bench_restore.py
	$(BIN)/python benchmarks/bench_steps.py

# The proof's own check: 2,000 changed modules, none of which may be proved, and 500 refactorings that must be.
mutants: venv
	$(BIN)/python benchmarks/mutants.py --mutants 2000 --refactorings 500
