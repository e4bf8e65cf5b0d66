# Everything a clone needs: python3 (3.11 or later), make and git. `make help` lists the targets.

PYTHON ?= python3
PIP_ARGS ?=
RELEASE_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin

# The name carries the content of what the environment is made from: a change makes it stale,
# a mere touch or another branch with the same files does not.
READY := $(VENV)/.ready-$(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)

# What runs on any computer, without servers, sound cards or browsers.
ALONE := not full and not needs_postgres and not needs_mosquitto and not needs_sound and not needs_browser and not needs_speech and not needs_japanese_font and not needs_gpu and not needs_recordings

# Real recordings are no part of the project: their tests run where the folder is named.
ALL := -m "not needs_gpu$(if $(SSDPT_TEST_RECORDINGS),, and not needs_recordings)"

# A file's tests stay together: they share what takes long to make. In the order of their names:
# by their number, files of a few long tests would come last, and one core would wait for them.
PARALLEL := --dist loadfile --no-loadscope-reorder

# Services and browsers mostly wait, so `make test-all` runs more tests at a time than there are cores.
WORKERS ?= $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))

# What `make test-all` hands to pytest, and `make release` for the tests of the wheel.
TEST_ALL = -n $(WORKERS) $(PARALLEL) $(ALL)

# Inputs of `make fuzz`.
RUNS ?= 1000000

NPM_CI := npm ci --no-audit --no-fund --loglevel=error

# What `make page` writes; all of it is committed.
GENERATED := web/openapi.json web/mock/fixtures.json web/tests/numbers.json web/src/api/schema.ts src/ssdpt/server/static

# What `make docs` writes; committed as well.
GENERATED_DOCS := docs/reference/settings.md docs/reference/commands.md docs/reference/help.md

.DEFAULT_GOAL := help
.PHONY: help setup demo serve test test-all test-gpu faults fuzz fuzz-api mutation check page docs image-check release sizes clean

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
	@echo "(ssdpt is in $(BIN); to put it on your path: . $(BIN)/activate)"

serve: setup ## monitor a simulated plant live; open http://127.0.0.1:8765/
	$(BIN)/ssdpt serve --demo

test: setup ## the tests that need nothing else, with coverage; minutes on two cores
	$(BIN)/pytest -n auto $(PARALLEL) -m "$(ALONE)" --cov --cov-report=term:skip-covered

# What failed runs once more, one test at a time: of thousands that share few cores, one may fail for
# want of time. The price: a defect that shows only now and then can pass; the first output tells.
test-all: setup page ## every test; needs PostgreSQL, Mosquitto, ffmpeg, PulseAudio, espeak-ng, a Japanese font, Chromium, Node
	git diff --exit-code --stat -- $(GENERATED) $(GENERATED_DOCS)
	$(BIN)/pytest $(TEST_ALL) || $(BIN)/pytest $(TEST_ALL) -n 1 --last-failed --last-failed-no-failures none

test-gpu: setup ## the tests that need a GPU
	$(BIN)/pytest -m "needs_gpu$(if $(SSDPT_TEST_RECORDINGS),, and not needs_recordings)"

# FAULTS='kill-service --seed 7' chooses experiments and options of `python -m faults`.
faults: setup ## the whole fault campaign; needs root, strace, libfaketime, PostgreSQL, Mosquitto
	cd tests && ../$(BIN)/python -m faults $(FAULTS)

page: ## build the page in web/ into the package (needs Node 20 or later)
	@if [ -x $(BIN)/ssdpt ]; then \
	  $(BIN)/python -m ssdpt.server.openapi > web/openapi.json.new && \
	  mv web/openapi.json.new web/openapi.json && \
	  $(BIN)/python tests/server/fixtures.py > web/mock/fixtures.json.new && \
	  mv web/mock/fixtures.json.new web/mock/fixtures.json && \
	  $(BIN)/python tests/server/number_table.py > web/tests/numbers.json.new && \
	  mv web/tests/numbers.json.new web/tests/numbers.json; \
	else echo "no $(VENV): keeping web/openapi.json and what is generated from the service as they are"; fi
	cd web/types && $(NPM_CI) && npm run generate
	cd web && $(NPM_CI) && npm run check && npm test && npm run build

fuzz: setup ## feed every reader with hostile input (RUNS=1000000 in all; hours)
	$(BIN)/python tests/fuzz/fuzz_campaign.py --runs $(RUNS)

fuzz-api: setup ## send requests made from the OpenAPI description, by every role
	$(BIN)/python tests/fuzz/fuzz_api.py --examples 500

# MODULES='ssdpt.alarms.*' chooses some. It goes on where it was stopped; results lie in mutants/.
mutation: setup ## change the code and see whether tests notice; prints a table (hours)
	$(BIN)/mutmut run --max-children 1 $(MODULES)
	$(BIN)/python tests/mutation/mutation_table.py --survivors

check: setup ## lint, format, types, import contract
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: setup ## write the generated pages of docs/ again, and build the site into site/
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

image-check: ## run the Dockerfile in a clean Debian and start the service (root, debootstrap, minutes)
	$(PYTHON) tools/check_image.py

release: setup ## sdist, wheel, checksums and bills of materials in dist/ (RELEASE_ARGS=--build-only)
	PYTHONPATH=tools $(BIN)/python -m release --tests '$(TEST_ALL)' $(RELEASE_ARGS)

sizes: setup ## time and bytes of each extra; installs each into a fresh environment
	PYTHONPATH=tools $(BIN)/python -m release.sizes

clean: ## remove all that make has made: .venv, caches, dist, demo
	rm -rf $(VENV) demo dist build site htmlcov .coverage .coverage.* .hypothesis .mypy_cache \
	  .ruff_cache .pytest_cache .import_linter_cache
	find src tests docs -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf web/node_modules web/types/node_modules ssdpt-data mutants
