# Works with nothing but Python >= 3.11, pip, make and git: the environment lives in .venv.

VENV := .venv
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check --no-input

# The first of these that is new enough; only looked for when the environment is created.
NEW_ENOUGH := -c 'import sys; sys.exit(sys.version_info < (3, 11))'
PYTHON ?= $(or $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
    $$python $(NEW_ENOUGH) 2>/dev/null && echo $$python && break; done),python3)

.DEFAULT_GOAL := help
.PHONY: help demo play test quick slow coverage lint docs docs-check release-check clean

help:
	@echo "make demo    fit the odd/even digits that come with scikit-learn; results in demo-output/"
	@echo "make play    the interactive page, one file that needs no network: build/column_generation.html"
	@echo "make test    ruff, mypy and the tests, side by side on all cores"
	@echo "make quick   ruff, mypy and the tests of the core: about a minute"
	@echo "make slow    the long tests: whole grids, published instances, pages and examples"
	@echo "make coverage  make test, and the share of lines that it runs at least"
	@echo "make lint    ruff and mypy only"
	@echo "make docs    build the site into build/site/ and check every page of it"
	@echo "make release-check  wheel and sdist in clean environments of every Python at hand: half an hour"
	@echo "make clean   remove the environment (.venv), the caches and the demo's results"
	@echo
	@echo "The first run creates .venv; PYTHON=/path/to/python3 chooses the interpreter (>= 3.11)."

demo: $(VENV)/.installed
	$(BIN)/cgboost odd-even --out demo-output

# Needs no environment.
play:
	@$(PYTHON) docs/_build/extensions/interactive_page.py build/column_generation.html

# Tests run side by side: in each of them linear algebra has one thread. PYTEST=… adds options.
# Bytecode is written: without it each process that a test starts compiles the package again.
ONE_THREAD := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

# All but what `make slow` has; TESTS=… chooses others by their marks (pyproject.toml).
TESTS := not slow
SIDE_BY_SIDE := -n auto --dist worksteal

test: lint
	$(ONE_THREAD) $(BIN)/python -m pytest -m "$(TESTS)" $(SIDE_BY_SIDE) $(PYTEST)

quick: lint
	$(ONE_THREAD) $(BIN)/python -m pytest -m quick $(PYTEST)

# Whole grids, long searches, published instances: for a night, and before a release.
slow: $(VENV)/.installed-dev
	CGBOOST_TESTS=whole $(ONE_THREAD) $(BIN)/python -m pytest -m "slow or pages or hypothesis" \
	  $(SIDE_BY_SIDE) $(PYTEST)

coverage:
	@$(MAKE) --no-print-directory test PYTEST="--cov --cov-report= $(PYTEST)"
	@echo "lines covered by make test:"
	@for package in cgboost solvers; do \
	  echo "  $$package $$($(BIN)/coverage report --include="$$package/*" --format=total) %"; done

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy cgboost solvers

# The site: offline, warnings are errors, the gallery is executed.
docs: $(VENV)/.installed-docs
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -q -W --keep-going -b html -c docs/_build -d build/doctrees docs build/site
	@$(MAKE) --no-print-directory docs-check
	@echo "Open build/site/index.html"

docs-check: $(VENV)/.installed-docs
	$(BIN)/python docs/_build/check_site.py build/site

# Makes its own environments, in build/release/.
release-check:
	@$(PYTHON) .ci/release_check.py

clean:
	rm -rf $(VENV) demo-output build dist *.egg-info .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf docs/gallery docs/project docs/api/generated docs/api/backreferences
	find cgboost solvers tests examples benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# The installation is "compat", a plain path to this folder: with setuptools' default a script that
# runs beside the folder takes the folder itself for the package.
EDITABLE := --config-settings editable_mode=compat --editable

# Stamps: each step runs once, and again when pyproject.toml changes.

$(VENV)/.created:
	@$(PYTHON) $(NEW_ENOUGH) 2>/dev/null || { \
	  echo "cgboost needs Python 3.11 or newer; '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)"; \
	  echo "Name another one, for example: make $(or $(MAKECMDGOALS),demo) PYTHON=python3.13"; \
	  exit 1; }
	@echo "[1/2] Creating $(VENV) with $$($(PYTHON) --version)"
	@# Some systems ship venv without its own copy of pip: then the system's pip fills it.
	@$(PYTHON) -m venv --clear $(VENV) >/dev/null 2>&1 || { \
	  $(PYTHON) -m venv --clear --without-pip $(VENV) && \
	  $(PYTHON) -m pip --quiet --python $(BIN)/python install pip; }
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml
	@echo "[2/2] Installing cgboost and its solvers (the first time takes a minute or two)"
	@$(PIP) install --quiet $(EDITABLE) ".[progress,report]"
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.created pyproject.toml
	@echo "[2/2] Installing cgboost, its solvers and the test tools (the first time takes a minute or two)"
	@$(PIP) install --quiet $(EDITABLE) ".[dev]"
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: $(VENV)/.created pyproject.toml
	@echo "[2/2] Installing cgboost, its solvers and what builds the site (the first time takes a minute or two)"
	@$(PIP) install --quiet $(EDITABLE) ".[docs]"
	@touch $@ $(VENV)/.installed
