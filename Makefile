# Every target sets up .venv when it is missing or older than pyproject.toml. Needs Python 3.11+ and make.
#   make test PYTHON=python3.13    another interpreter (run `make clean` first when .venv exists)
#   make test WORKERS=8            more test processes
#   make fuzz N=2000 FUZZ="--family racks --seed 7"    part of the campaign
PYTHON  ?= python3
WORKERS ?= 2
N       ?= 200

VENV  := .venv
STAMP := $(VENV)/.installed
PY    := $(VENV)/bin/python
OLDEST := .venv-oldest

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help venv demo studio vendor browser test test-all test-oldest check-generated lint types bench fuzz fuzz-input clean force
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-24s %s\n", $$1, $$2}'

venv: $(STAMP) ## set up the virtual environment only

demo: $(STAMP) ## move a mechanism: a table, a plot and an animation in out/
	@mkdir -p out
	@$(VENV)/bin/assurgent structure examples/jansen-leg.toml
	@$(VENV)/bin/assurgent run examples/jansen-leg.toml -o out/jansen-leg.csv
	@$(VENV)/bin/assurgent plot examples/jansen-leg.toml -o out/jansen-leg.png
	@$(VENV)/bin/assurgent animate examples/jansen-leg.toml --trace F -o out/jansen-leg.html

studio: $(STAMP) ## build, watch and understand a mechanism in the browser
	@$(VENV)/bin/assurgent studio --folder examples

vendor: $(STAMP) ## bundle the page's libraries again (needs Node; the same bytes every time)
	@cd vendor && npm ci --ignore-scripts --no-audit --no-fund
	@$(PY) -m pip install -q fonttools brotli
	@$(PY) vendor/build.py

# The studio's page is tested in the system's Chromium; without one those tests are left out, aloud.
browser: ## find Chromium for the tests of the page, or install it where that is allowed
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
		  apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || \
		printf '\n!! NO BROWSER: the tests of the studio page are LEFT OUT. Install chromium, then run again.\n\n' >&2

test: browser lint types check-generated ## lint, types, drift and the tests, without the long ones
	@echo "== tests"
	@$(PY) -m pytest -q -n $(WORKERS) -m "not long"

test-all: browser lint types check-generated ## as test, with the long tests and those beside other programs
	@echo "== other programs of the benchmarks"
	@$(PY) -m pip install -q -e ".[dev,bench]"
	@echo "== all tests"
	@$(PY) -m pytest -q -n $(WORKERS)

# Files that together touch every dependency. Old packages warn of each other's age; those warnings are no errors here.
test-oldest: ## part of the tests with the oldest versions that pyproject.toml allows, in .venv-oldest
	@[ -x $(OLDEST)/bin/python ] || "$(PYTHON)" -m venv $(OLDEST)
	@$(OLDEST)/bin/python tests/packaging/oldest.py > $(OLDEST)/constraints.txt
	@$(OLDEST)/bin/python -m pip install -qq -c $(OLDEST)/constraints.txt --editable '.[dev]'
	@cd tests && ASSURGENT_CACHE=$(CURDIR)/$(OLDEST)/cache ASSURGENT_DATA=$(CURDIR)/$(OLDEST)/data \
		../$(OLDEST)/bin/python -m pytest -q -n $(WORKERS) -m "not long" -W ignore::DeprecationWarning \
		test_start.py common generated/test_reference_values.py codegen/test_emit.py codegen/test_derive_rrr.py \
		runtime/test_store.py runtime/test_generation.py motion/test_results.py motion/test_global.py \
		motion/test_threads.py dynamics/test_inverse.py dynamics/test_equilibrium.py designs/test_designs.py \
		pictures/test_plot.py pictures/test_animate.py report/test_report.py cli/test_cli.py packaging

fuzz-input: $(STAMP) ## hostile files, options and paths (make fuzz-input N=10000 SEED=1)
	@$(PY) -m fuzz.hostile -n $(N) --seed $(or $(SEED),1)

check-generated: $(STAMP) ## compare generated/ with what the generator emits now
	@echo "== generated files"
	@$(PY) -m assurgent.codegen.drift

lint: $(STAMP) ## ruff
	@echo "== lint"
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check --quiet . || { echo "run: ruff format ." >&2; exit 1; }

# Mypy cannot see through the folder mapping of an editable install, so it reads a plain installed copy.
# The old copy and setuptools' own build/lib go first: deleted modules would live on in them.
types: $(STAMP) ## mypy, strict
	@echo "== types"
	@rm -rf build
	@$(PY) -m pip install -qq --no-deps --no-build-isolation --no-compile --target build/check .
	@MYPYPATH=build/check $(PY) -m mypy -p assurgent -p fuzz

# A bounded share is in the tests. Differences are shrunk and kept in out/fuzz.
fuzz: $(STAMP) ## N random mechanisms against an independent solution (make fuzz N=2000)
	@$(PY) -m fuzz --count $(N) --jobs $(WORKERS) $(FUZZ)

bench: $(STAMP) ## measure speed, beside other programs
	@$(PY) -m pip install -q -e ".[dev,bench]"
	@$(VENV)/bin/assurgent bench

clean: ## remove everything that can be made again, .venv included
	rm -rf $(VENV) $(OLDEST) build dist out *.egg-info .hypothesis .ruff_cache .mypy_cache .pytest_cache
	find . -path ./.git -prune -o -name __pycache__ -type d -prune \
		-exec rm -rf {} + 2>/dev/null || true

# The stamp holds the folder it was made in: a moved or copied checkout would otherwise go on
# using (and testing) the modules of the old place.
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(CURDIR))
$(STAMP): force
endif

$(STAMP): pyproject.toml
	@command -v "$(PYTHON)" >/dev/null 2>&1 || { \
		echo "'$(PYTHON)' was not found. Install Python 3.11 or newer, or name one: make PYTHON=python3.12 ..." >&2; \
		exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "assurgent needs Python 3.11 or newer; '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1)." >&2; \
		echo "Name a newer one: make PYTHON=python3.12 ..." >&2; \
		exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || { \
		echo "'$(PYTHON)' cannot make virtual environments: its venv module is missing." >&2; \
		echo "On Debian or Ubuntu: sudo apt install python3-venv (or python3.X-venv for that version)." >&2; \
		exit 1; }
	@echo "Setting up $(VENV) (the first time takes a minute or two) ..."
	@if [ "$$(cat $(STAMP) 2>/dev/null)" = "$(CURDIR)" ] && $(PY) -c "" 2>/dev/null; then \
		:; else "$(PYTHON)" -m venv --clear $(VENV); fi
	@rm -f $(STAMP)
	@$(PY) -m pip install -qq --editable '.[dev]'
	@echo "$(CURDIR)" > $(STAMP)
	@echo "$(VENV) is ready."

force:
