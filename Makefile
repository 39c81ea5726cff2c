# The words of this project. Each brings its own set-up (.ci/setup); the first one needs a network, later ones do not.

BIN = .venv/bin
PYTEST = $(BIN)/pytest
WORKERS = -n 2 --dist loadgroup

.PHONY: help setup demo check check-static test test-long bench contracts lock clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1	\2/p' Makefile

demo: setup ## watch Remit refuse, ask and apply, in a throw-away folder
	@$(BIN)/remit demo

check: check-static ## fast: format, lint, types, imports and the tests of the core
	@$(PYTEST) -q $(WORKERS) -m "not long" tests/core

test: check-static ## everything but the long tests
	@$(PYTEST) $(WORKERS) -m "not long"

test-long: setup ## the long tests, and the deep ones with many more inputs
	@REMIT_DEPTH=long $(PYTEST) $(WORKERS) -m "long or deep"

bench: setup ## the targets of docs/performance.md, measured; BENCH="--only T12" for one
	@cd tests && ../$(BIN)/python -m bench $(BENCH)

check-static: setup ## format, lint, types and imports
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache --no-logo

setup: ## the environment in .venv, as locked
	@.ci/setup

contracts: setup ## write the schemas and the verbs in contracts/ anew, from the models
	@$(BIN)/python -m remit.edges.schemas contracts

lock: ## write the lock files anew; UPGRADE=--upgrade takes newer versions
	@UPGRADE="$(UPGRADE)" .ci/lock

clean: ## remove what the other words made
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist
	find server tests -name __pycache__ -type d -prune -exec rm -rf {} +
