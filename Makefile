# Every target makes the environment that it needs first: Python is all that must be there.
PYTHON ?= python3
VERSIONS := 3.11 3.12 3.13
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
CONSTRAINTS ?= constraints.txt
WORKERS ?= auto
DOCUMENTS := README.md docs overlay primitives inversion  # whose examples are tests
PYTEST_FLAGS ?= -q -n $(WORKERS) --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help venv cuda published demo notebooks test test-all test-oldest conformance check format peers report
.PHONY: fuzz mutation coverage soak docs dist dist-check gpu-check clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile

venv: $(READY)  ## the environment, in .venv

$(READY): pyproject.toml $(CONSTRAINTS)
	@echo "preparing $(VENV) (about a minute the first time)"
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit(1)' \
		|| { echo "needs Python 3.11 or later: make PYTHON=/path/to/python"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
	@$(BIN)/python -m pip install -qq --disable-pip-version-check \
		-c $(CONSTRAINTS) -e '.[dev,demo,bench]'
	@touch $@

demo: $(READY)  ## overlays and inverses on real code, in about three minutes
	@$(BIN)/python demo.py

notebooks: $(READY)  ## the notebooks, run top to bottom; what they show is written into them
	@$(BIN)/python scripts/run_notebooks.py

test: $(READY) cuda published  ## the tests, the README's and the docstrings' examples among them
	@status=0; $(BIN)/python -m pytest $(PYTEST_FLAGS) tests || status=1; \
	CHECK_ANNOTATIONS=1 $(BIN)/python -m pytest $(PYTEST_FLAGS) $(DOCUMENTS) || status=1; \
	exit $$status

cuda: $(READY)  # what compiles kernels, with no GPU; the tests do without where it cannot be had
	@test -e $(VENV)/cuda || { \
		$(BIN)/python -m pip install -qq --disable-pip-version-check --retries 1 \
			-c $(CONSTRAINTS) -e '.[cuda]' >$(VENV)/cuda.log 2>&1 \
		&& $(BIN)/python -c 'import numba_cuda' 2>>$(VENV)/cuda.log && touch $(VENV)/cuda; \
	} || echo "left out: the tests of kernels, since the extra 'cuda' cannot be installed" \
		"($(VENV)/cuda.log)"

published: $(READY)  # packages whose compiled functions the tests run, where they can be had
	@test -e $(VENV)/published || { left=0; \
		for each in $$($(BIN)/python scripts/extra.py published); do \
			$(BIN)/python -m pip install -qq --disable-pip-version-check --retries 1 \
				-c $(CONSTRAINTS) "$$each" >>$(VENV)/published.log 2>&1 || left=$$((left + 1)); \
		done; \
		if test $$left = 0; then touch $(VENV)/published; \
		else echo "left out: the functions of $$left published packages that cannot be installed" \
			"($(VENV)/published.log)"; fi; }

test-all:  ## the tests on each Python in VERSIONS that is there
	@status=0; for version in $(VERSIONS); do \
		python=$$(sh scripts/find_python.sh $$version) \
			|| { echo "skipped: no Python $$version here"; continue; }; \
		echo "Python $$version"; \
		$(MAKE) --no-print-directory test VENV=.venv-$$version PYTHON=$$python || status=1; \
	done; exit $$status

test-oldest: build/constraints-oldest.txt  ## the tests with the oldest numba that is claimed
	@$(MAKE) --no-print-directory test VENV=.venv-oldest CONSTRAINTS=$<

build/constraints-oldest.txt: constraints-oldest.txt constraints.txt
	@mkdir -p $(@D)
	@awk -F== 'NR == FNR { oldest[$$1] } NR == FNR || !($$1 in oldest)' $^ > $@

conformance:  ## CPython's own tests in a context, on each Python in VERSIONS that is there
	@status=0; for version in $(VERSIONS); do \
		python=$$(sh scripts/find_python.sh $$version) \
			|| { echo "skipped: no Python $$version here"; continue; }; \
		venv=.venv-$$version; case "$$($(BIN)/python -V 2>&1)" in *" $$version."*) venv=$(VENV);; esac; \
		$(MAKE) --no-print-directory venv VENV=$$venv PYTHON=$$python || exit 1; \
		last=$$venv/bin/python; $$last tests/conformance/run.py $(CONFORMANCE_FLAGS) || status=1; \
	done; $$last tests/conformance/run.py --totals \
		--keep docs/report/kept/conformance.json; exit $$status

fuzz: $(READY)  ## random programs, tables, edits, files and command lines; FUZZ_FLAGS="--seconds 60"
	@test -e $(VENV)/fuzz || { $(BIN)/python -m pip install -qq --disable-pip-version-check --retries 1 \
		-c $(CONSTRAINTS) -e '.[fuzz]' >$(VENV)/fuzz.log 2>&1; touch $(VENV)/fuzz; }
	@status=0; $(BIN)/python tests/fuzz/fuzz.py --json build/proof/fuzz.json $(FUZZ_FLAGS) || status=1; \
		$(BIN)/python tests/fuzz/atheris_lines.py $(ATHERIS_FLAGS) || status=1; exit $$status

mutation: $(READY)  ## small faults in the cores: which the tests find; MUTATION_FLAGS="--count 20"
	@$(BIN)/python tests/mutation/mutate.py --json build/proof/mutation.json $(MUTATION_FLAGS)

coverage: $(READY) cuda published  ## the tests with what they run, by line and branch (half an hour on 2 cores)
	@rm -rf build/coverage; mkdir -p build/coverage build/proof
	@status=0; $(BIN)/python -m coverage run -m pytest $(PYTEST_FLAGS) $(COVERAGE_FLAGS) || status=1; \
		echo "again, with the frames that are hidden otherwise: tests that there are none fail"; \
		SHOW_FRAMES=1 $(BIN)/python -m coverage run -m pytest $(PYTEST_FLAGS) tests/overlay/python \
			>build/coverage/frames.log; tail -n 1 build/coverage/frames.log; \
		$(BIN)/python -m coverage combine -q && \
		$(BIN)/python -m coverage json -q -o build/proof/coverage.json && \
		$(BIN)/python scripts/uncovered.py build/proof/coverage.json || status=1; exit $$status

soak: $(READY)  ## contexts made and dropped, calls from 64 threads, redefinitions; SOAK_FLAGS="--scale 0.1"
	@$(BIN)/python tests/soak/soak.py --json build/proof/soak.json $(SOAK_FLAGS)

check: $(READY)  ## format, lint, types, and the imports between the packages
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/pyright --pythonpath $(BIN)/python
	@$(BIN)/lint-imports --no-logo

format: $(READY)  ## rewrite the files as "check" wants them
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

peers: $(READY)  # what the report compares with; it says what is not there
	@test -e $(VENV)/peers || { \
		$(BIN)/python -m pip install -qq --disable-pip-version-check --retries 1 \
			-c $(CONSTRAINTS) -e '.[peers]' >$(VENV)/peers.log 2>&1 && touch $(VENV)/peers; \
	} || echo "left out: comparisons with JAX, Oryx, autograd and sympy, since the extra 'peers'" \
		"cannot be installed ($(VENV)/peers.log)"

report: $(READY) peers  ## what the project claims, measured, in under 40 minutes: docs/report.md
	@cd bench && $(abspath $(BIN))/python -m report $(REPORT_FLAGS)

$(VENV)/docs: $(READY)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c $(CONSTRAINTS) -e '.[docs]'
	@touch $@

docs: $(VENV)/docs  ## the documentation as a site, in build/site; warnings are errors
	@rm -rf build/docs build/site; mkdir -p build; cp -r docs build/docs; mkdir build/docs/project
	@cp README.md CONTRIBUTING.md CHANGELOG.md build/docs/project/
	@$(BIN)/python -m sphinx -q -W --keep-going -c docs build/docs build/site
	@echo "build/site/index.html"

dist: $(READY)  ## the wheel and the sdist, in dist
	@$(BIN)/python scripts/try_distributions.py --build

dist-check: $(READY)  ## the same, each installed into an empty environment and tried there
	@$(BIN)/python scripts/try_distributions.py

gpu-check: $(READY) cuda  ## kernels on the GPU that is at hand, against the CPU; without one it says so
	@$(BIN)/python scripts/gpu_check.py $(GPU_FLAGS)

clean:  ## remove all that these targets made
	rm -rf .venv .venv-* build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
