# One command a task; CI calls the same ones. `make` alone lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test lint types format coverage guarantees mistakes bench bench-full docs clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "evenodds needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/developed: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

$(VENV)/documented: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

demo: $(VENV)/installed ## Set up, recompute the CreditRisk study and print its tables
	$(BIN)/evenodds study credit

test: $(VENV)/developed lint types ## Set up and run every test, doctest, lint and type check
	$(BIN)/python -m pytest -n 2 --dist loadgroup

lint: $(VENV)/developed ## Check style
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/developed ## Check types
	$(BIN)/mypy

format: $(VENV)/developed ## Repair style where that can be done by machine
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

coverage: $(VENV)/developed ## Run every test and measure which branches they take; too few is a failure
	$(BIN)/python -m pytest -n 2 --dist loadgroup --cov

# Hypothesis marks its tests "hypothesis" by itself; they run here too, with ten times the examples (tests/conftest.py).
guarantees: coverage ## Run the long checks: coverage, many populations, wheels in clean environments, oldest packages
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n 2 --dist loadgroup -m "guarantee or hypothesis"

mistakes: $(VENV)/developed ## Make small mistakes in the code, and see how many the tests notice
	$(BIN)/python tools/mutate.py

bench: $(VENV)/developed ## Measure beside the peers and the machine's limits, up to 1e6 rows
	$(BIN)/python bench/run.py
	$(BIN)/python bench/facts.py

bench-full: $(VENV)/developed ## The same up to 1e7 rows, into docs/performance.md
	$(BIN)/python bench/run.py --full
	$(BIN)/python bench/page.py
	$(BIN)/python bench/facts.py

# Anew each time, so that every warning is seen; docs/api/ is written by the build.
docs: $(VENV)/documented ## Build the documentation site into build/docs; warnings are errors
	rm -rf docs/api build/docs build/doctrees
	$(BIN)/python -m sphinx --quiet --fail-on-warning --nitpicky --jobs auto -d build/doctrees docs build/docs
	@echo "Open build/docs/index.html"

clean: ## Remove what was built
	rm -rf $(VENV) dist build docs/api bench/.environments .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis
