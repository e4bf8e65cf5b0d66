# Everything a clone needs: python3 (3.11 or later), make and git. `make help` lists the targets.

PYTHON ?= python3
PIP_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin

# The name carries the content of what the environment is made from: a change makes it stale,
# a mere touch or another branch with the same files does not.
READY := $(VENV)/.ready-$(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)

# What runs on any computer, without servers, sound cards or browsers.
ALONE := not full and not needs_postgres and not needs_mosquitto and not needs_sound and not needs_browser and not needs_recordings

# Real recordings are no part of the project: their tests run where the folder is named.
ALL := $(if $(SSDPT_TEST_RECORDINGS),,-m "not needs_recordings")

# A file's tests stay together: they share what takes long to make. In the order of their names:
# by their number, files of a few long tests would come last, and one core would wait for them.
PARALLEL := -n auto --dist loadfile --no-loadscope-reorder

NPM_CI := npm ci --no-audit --no-fund --loglevel=error

# What `make page` writes; all of it is committed.
GENERATED := web/openapi.json web/mock/fixtures.json web/src/api/schema.ts src/ssdpt/server/static

.DEFAULT_GOAL := help
.PHONY: help setup demo serve test test-all check page docs clean

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 18

setup: $(READY) ## build .venv (PYTHON=python3.12 chooses the Python, PIP_ARGS=… goes to pip)

$(READY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "error: $(PYTHON) is missing or older than Python 3.11; install Python 3.11 or later," \
	    "or name one you have: make $(or $(MAKECMDGOALS),setup) PYTHON=python3.12" >&2; \
	  exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
	  echo "error: $(PYTHON) cannot make a virtual environment; install its venv module" \
	    "(Debian, Ubuntu: sudo apt install python3-venv)" >&2; \
	  exit 1; }
	@echo "setting up $(VENV); the first time this fetches some hundred megabytes"
	@PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) \
	  --editable '.[dev]'
	@rm -f $(VENV)/.ready-*
	@touch $@

demo: setup ## simulate a plant, fit a model, score new clips, write demo/report.html
	$(BIN)/ssdpt demo

serve: setup ## monitor a simulated plant live; open http://127.0.0.1:8765/
	$(BIN)/ssdpt serve --demo

test: setup ## the tests, with coverage; minutes on two cores
	$(BIN)/pytest $(PARALLEL) -m "$(ALONE)" --cov --cov-report=term:skip-covered

test-all: setup page ## every test; needs PostgreSQL, Mosquitto, ffmpeg, PulseAudio, Chromium, Node
	git diff --exit-code --stat -- $(GENERATED)
	$(BIN)/pytest $(PARALLEL) $(ALL) --cov --cov-report=term:skip-covered

page: ## build the page in web/ into the package (needs Node 20 or later)
	@if [ -x $(BIN)/ssdpt ]; then \
	  $(BIN)/python -m ssdpt.server.openapi > web/openapi.json.new && \
	  mv web/openapi.json.new web/openapi.json && \
	  $(BIN)/python tests/server/examples.py > web/mock/fixtures.json.new && \
	  mv web/mock/fixtures.json.new web/mock/fixtures.json; \
	else echo "no $(VENV): keeping web/openapi.json and web/mock/fixtures.json as they are"; fi
	cd web/types && $(NPM_CI) && npm run generate
	cd web && $(NPM_CI) && npm run check && npm test && npm run build

check: setup ## lint, format, types, import contract
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: setup ## write the generated parts of docs/api.md again
	$(BIN)/python docs/generate.py

clean: ## remove all that make has made: .venv, caches, dist, demo
	rm -rf $(VENV) demo dist build htmlcov .coverage .coverage.* .hypothesis .mypy_cache \
	  .ruff_cache .pytest_cache .import_linter_cache
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf web/node_modules web/types/node_modules ssdpt-data
