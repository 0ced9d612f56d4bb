# Commands to develop and run Cairn. All tools are installed into .venv; `make` lists the commands.

SHELL := /bin/sh
MAKEFLAGS += --no-print-directory --no-builtin-rules
.DEFAULT_GOAL := help

bin := .venv/bin
# Paths are relative, and tools run by `python -m`, because the path of this folder may contain a space.
python := $(bin)/python
pip_install := $(python) -m pip install --disable-pip-version-check --constraint constraints.txt
# Test workers and the processes that they start cache compiled bytecode for the next process.
unexport PYTHONDONTWRITEBYTECODE
say := @printf '\n== %s\n'

.PHONY: help install demo serve migrate schema snapshots schema-check check test test-nightly conformance compose mutants differential bench
.PHONY: sbom screenshots bench-graphql bench-search bench-import bench-compiler bench-attack bench-memory graphiql wheel clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

install: .venv/.installed  ## .venv with Cairn in it: afterwards .venv/bin/cairn is there
	@echo 'Cairn is installed: .venv/bin/cairn --help'

demo: .venv/.installed  ## a sample wiki, served on this machine: no database to set up
	@$(python) -m app.graphiql.assets || true
	@exec $(bin)/cairn demo $(ARGS)

serve: .venv/.installed  ## the server alone: make serve ARGS='--port 9000'
	@exec $(bin)/cairn serve $(ARGS)

migrate: .venv/.installed  ## bring the database to the newest schema
	@exec $(bin)/cairn migrate $(ARGS)

schema: .venv/.installed  ## write the GraphQL and OpenAPI contracts and the plans of commands anew from the code
	@$(bin)/cairn schema > .venv/schema.graphql
	@mv .venv/schema.graphql schema/schema.graphql
	@$(bin)/cairn schema --v0 > .venv/v0.graphql
	@mv .venv/v0.graphql schema/v0.graphql
	@$(bin)/cairn schema --rest > .venv/openapi.json
	@mv .venv/openapi.json schema/openapi.json
	@$(bin)/cairn schema --admin > .venv/admin-openapi.json
	@mv .venv/admin-openapi.json schema/admin-openapi.json
	@$(python) -m app.cli.plans > .venv/plans.json
	@mv .venv/plans.json app/cli/queries/plans.json

snapshots: .venv/.developing  ## write the SQL, cost and plans of typical reads anew: review the difference
	@$(python) -m tests.schema.read_snapshots

schema-check: .venv/.developing  ## would clients of the released contract break?
	@$(python) -m tests.schema.compatibility

check: .venv/.developing  ## style, types and the direction of imports
	$(say) 'ruff: style'
	@$(python) -m ruff check .
	@$(python) -m ruff format --check .
	$(say) 'mypy: types'
	@$(python) -m mypy
	$(say) 'import-linter: imports point one way'
	@$(bin)/lint-imports

test: check  ## check, then every test: make test ARGS='-k slug'
	$(say) 'pytest: behaviour'
	@$(python) -m pytest -n auto --dist worksteal $(ARGS)

test-nightly: .venv/.developing  ## every test, with ten times the random examples in property tests
	@$(python) -m pytest -n auto --dist worksteal --hypothesis-profile=nightly $(ARGS)

conformance: .venv/.conforming  ## public suites and clients against a running service: ARGS='http apollo --json'
	@$(python) -m tests.conformance $(ARGS)

compose: .venv/.developing  ## build the image and try each profile of docker-compose.yml, where a Docker engine answers
	@CAIRN_TEST_COMPOSE=1 $(python) -m pytest -n 0 tests/test_compose.py $(ARGS)

mutants: .venv/.developing  ## plant faults in the read path, one by one: the tests must find each
	@$(python) -m tests.schema.planted_faults $(ARGS)

differential: .venv/.developing  ## thousands of random queries, against a reference: make differential ARGS='--runs 3000'
	@exec $(python) -m tests.schema.differential $(ARGS)

bench: bench-graphql

bench-graphql: .venv/.installed  ## the cost of a request, compared with SQL by hand, PostGraphile and dataloaders
	@exec $(python) -m benchmarks.graphql $(ARGS)

bench-search: .venv/.benchmarking  ## the quality and cost of search, compared with other engines; see ARGS=--help
	@exec $(python) -m benchmarks.search $(if $(filter --help quality corpus latency compare fuzz,$(firstword $(ARGS))),,quality) $(ARGS)

bench-import: .venv/.installed  ## the cost of an import and an export: make bench-import ARGS='--pages 5000'
	@exec $(python) -m benchmarks.import_export $(ARGS)

bench-compiler: .venv/.installed  ## the quality and cost of compiling notes; ARGS='sizes', 'crashes' or 'storm': see --help
	@exec $(python) -m benchmarks.compiler $(if $(filter whole sizes crashes storm,$(ARGS)),,whole) $(ARGS)

bench-attack: .venv/.installed  ## latency of other clients while one client attacks: ARGS='--only keys,phrases --json', see --help
	@exec $(python) -m benchmarks.attack $(ARGS)

bench-memory: .venv/.benchmarking  ## quality and cost of finding evidence in conversations; ARGS='compiled', 'costs' or 'corrections': see --help
	@exec $(python) -m benchmarks.memory $(if $(filter --help recall compiled costs corrections,$(firstword $(ARGS))),,recall) $(ARGS)

screenshots: .venv/.developing  ## take the pictures of docs/how-to/reader.md anew, in Chromium
	@CAIRN_SCREENSHOTS=docs/images/reader $(python) -m pytest -n0 -q tests/app/web -k 'newcomer or pictures'

graphiql: .venv/.installed  ## fetch GraphiQL's files from npm and check their hashes
	@$(python) -m app.graphiql.assets

sbom: .venv/.made  ## dist/cairn-sbom.json (CycloneDX): every package of an installation with all extras, and its license
	@rm -rf build/sbom && $(python) -m venv build/sbom/service && $(python) -m venv build/sbom/tool && mkdir -p dist
	@build/sbom/service/bin/python -m pip install -q --disable-pip-version-check --constraint constraints.txt '.[models,telemetry]'
	@build/sbom/tool/bin/python -m pip install -q --disable-pip-version-check --constraint constraints.txt cyclonedx-bom
	@build/sbom/tool/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-file dist/cairn-sbom.json \
		build/sbom/service/bin/python
	@echo 'Written: dist/cairn-sbom.json'

wheel: .venv/.developing  ## dist/*.whl, with GraphiQL's files inside
	@$(python) -m hatchling build --target wheel

clean:  ## remove .venv, builds and caches; your data stays
	rm -rf .venv build dist tests/conformance/node_modules tests/conformance/build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Each stamp file is newer than the files that it depends on, so that a second run installs nothing.

.venv/.installed: .venv/.made pyproject.toml constraints.txt
	$(say) 'Installing Cairn into .venv (about a minute, once)'
	@$(pip_install) --editable .
	@touch $@

.venv/.developing: .venv/.made pyproject.toml constraints.txt
	$(say) 'Installing Cairn and its development tools into .venv (about a minute, once)'
	@$(pip_install) --editable '.[dev]'
	@touch .venv/.installed $@

.venv/.benchmarking: .venv/.made pyproject.toml constraints.txt
	$(say) 'Installing Cairn and the searches it is compared with into .venv (about a minute, once)'
	@$(pip_install) --editable '.[benchmarks]'
	@touch .venv/.installed $@

.venv/.conforming: .venv/.made pyproject.toml constraints.txt
	$(say) 'Installing Cairn and what conformance is tested with into .venv (about a minute, once)'
	@$(pip_install) --editable '.[conformance,dev]'
	@touch .venv/.installed $@

.venv/.made:
	@$(find_python); \
	printf '\n== Making .venv with %s\n' "$$("$$python" --version)"; \
	"$$python" -m venv --clear .venv
	@touch $@

# Sets $python to an interpreter, or fails with what to install. PYTHON=/path/to/python overrides the search.
define find_python
recent='import sys; sys.exit(sys.version_info < (3, 11))'; \
if [ -n "$(PYTHON)" ]; then set -- "$(PYTHON)"; else set -- python3.13 python3.12 python3.11 python3 python; fi; \
python=; lacking=; \
for each do \
	"$$each" -c "$$recent" >/dev/null 2>&1 || continue; \
	if "$$each" -c 'import ensurepip, venv' >/dev/null 2>&1; then python=$$each; break; fi; \
	lacking=$$each; \
done; \
if [ -z "$$python" ] && [ -n "$$lacking" ]; then \
	echo "$$lacking lacks venv and ensurepip. Debian, Ubuntu: apt install python3-venv" >&2; exit 1; \
elif [ -z "$$python" ]; then \
	echo "Cairn needs Python 3.11 or newer, and none was found." >&2; \
	echo "Debian, Ubuntu: apt install python3 python3-venv. macOS: brew install python." >&2; \
	echo "Or name the one to use: make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; exit 1; \
fi
endef
