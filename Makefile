# Every target makes the environment that it needs first: Python is all that must be there.
# What the environment is made with, if not the first that scripts/choose_python.sh finds.
PYTHON ?=
VERSIONS := 3.12 3.13 3.14 3.15
PREFERRED := 3.13 $(filter-out 3.13,$(VERSIONS))
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
CONSTRAINTS ?= constraints.txt
WORKERS ?= auto
# The addresses of the project and its site, which a release has; those of the environment are others.
REPOSITORY :=
DOCUMENTATION :=
ADDRESSES = --repository '$(REPOSITORY)' --documentation '$(DOCUMENTATION)'
DOCUMENTS := README.md docs overlay primitives inversion  # whose examples are tests
PYTEST_FLAGS ?= -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder
QUICK := -m 'not long' --hypothesis-profile quick
LONG := -m 'long or hypothesis'  # those of hypothesis are in both, here with all examples
# Some of each package, for versions that do not get all tests: three minutes on two cores.
SHORT := tests/test_make.py tests/overlay/core/test_table.py tests/overlay/core/test_signature.py \
	tests/overlay/contexts/test_composition.py tests/overlay/core/test_dispatch.py tests/overlay/compiled/test_call_next.py \
	tests/overlay/compiled/test_contexts.py tests/primitives/test_relation.py tests/primitives/test_domains.py \
	tests/inversion/planning/test_algebra.py tests/inversion/program/test_branches.py tests/inversion/program/test_loops.py

# Many tests start processes: without bytecode each would compile all modules anew.
export PYTHONDONTWRITEBYTECODE =

# What builds C extensions. Asked for at each command, since the environment may bring it.
ifneq ($(filter default undefined,$(origin CC)),)
CC = $(shell VENV=$(abspath $(VENV)) CC= sh scripts/compiler.sh)
endif
export CC

# $(call on_each,VERSIONS,COMMAND): a command of the shell on each Python that is there.
on_each = status=0; for version in $(1); do \
	python=$$(PYTHON= sh scripts/choose_python.sh $$version 2>/dev/null) \
		|| { echo "skipped: no CPython $$version that fits is here"; continue; }; \
	echo "Python $$version: $$python"; $(2) || status=1; done

# The environment of $$version, as a command in on_each: $(VENV) where that is of this version.
own_venv = venv=.venv-$$version; case "$$($(BIN)/python -V 2>&1)" in *" $$version."*) venv=$(VENV);; esac

.DEFAULT_GOAL := help
.PHONY: FORCE help venv cuda published demo gallery notebooks test test-long test-short test-all test-others test-oldest
.PHONY: conformance check measures format peers report
.PHONY: fuzz mutation coverage soak docs dist dist-check gpu-check clean

help:  ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile

venv: $(READY)  ## make the environment, in .venv

# Looked at each time: the environment may have been made by a Python that is gone by now.
$(READY): FORCE
	@PYTHON='$(PYTHON)' VENV='$(VENV)' CONSTRAINTS='$(CONSTRAINTS)' \
		sh scripts/prepare.sh $(PREFERRED)

FORCE:

demo: $(READY)  ## run the demonstration: overlays and inverses on real code
	@$(BIN)/python demo.py

gallery: $(READY) peers  ## run the gallery, and the inverse problems with their peers; write the pages and draw the pictures
	@$(BIN)/python -m scripts.context_gallery
	@$(BIN)/python -m scripts.inverse_problems

notebooks: $(READY)  ## run the notebooks top to bottom, and write their output into them
	@$(BIN)/python -m scripts.run_notebooks

test: $(READY) cuda  ## run the quick tests, including the examples of the README, the documents and the docstrings
	@status=0; $(BIN)/python -m pytest $(PYTEST_FLAGS) $(QUICK) tests || status=1; \
	$(BIN)/python -m pytest $(PYTEST_FLAGS) $(QUICK) $(DOCUMENTS) || status=1; exit $$status

test-long: $(READY) cuda published  ## run the slow and broad tests, and the examples with checked annotations
	@status=0; $(BIN)/python -m pytest $(PYTEST_FLAGS) $(LONG) tests || status=1; \
	CHECK_ANNOTATIONS=1 $(BIN)/python -m pytest $(PYTEST_FLAGS) $(DOCUMENTS) || status=1; \
	exit $$status

cuda: $(READY)  # what compiles kernels, with no GPU; the tests do without where it cannot be had
	@test -e $(VENV)/cuda || { \
		$(BIN)/python -m pip install -qq --disable-pip-version-check --retries 1 \
			-c $(CONSTRAINTS) -e '.[cuda]' >$(VENV)/cuda.log 2>&1 \
		&& $(BIN)/python -c 'import numba_cuda' 2>>$(VENV)/cuda.log && touch $(VENV)/cuda; \
	} || echo "left out: the tests of kernels, since the extra 'cuda' cannot be installed" \
		"($(VENV)/cuda.log)"

test-short: $(READY) cuda  # some of each package, for a Python that does not get all tests
	@$(BIN)/python -m pytest $(PYTEST_FLAGS) $(SHORT)

published: $(READY)  # packages whose compiled functions the tests run, where they can be had
	@test -e $(VENV)/published || { left=0; \
		for each in $$($(BIN)/python -m scripts.extra published); do \
			$(BIN)/python -m pip install -qq --disable-pip-version-check --retries 1 \
				--only-binary :all: -c $(CONSTRAINTS) "$$each" >>$(VENV)/published.log 2>&1 || left=$$((left + 1)); \
		done; \
		if test $$left = 0; then touch $(VENV)/published; \
		else echo "left out: the functions of $$left published packages that cannot be installed" \
			"($(VENV)/published.log)"; fi; }

test-all:  ## run all tests on each installed Python in VERSIONS
	@$(call on_each,$(VERSIONS),$(MAKE) -k --no-print-directory test test-long \
		VENV=.venv-$$version PYTHON=$$python); exit $$status

test-others: $(READY)  ## run a short part of the tests on each other installed Python in VERSIONS
	@$(call on_each,$(filter-out $(shell $(BIN)/python -c \
		'import sys; print("%d.%d" % sys.version_info[:2])'),$(VERSIONS)),$(MAKE) \
		--no-print-directory test-short VENV=.venv-$$version PYTHON=$$python); exit $$status

test-oldest: build/constraints-oldest.txt  ## run all tests with the oldest supported numba
	@python=$$(PYTHON='$(PYTHON)' sh scripts/choose_python.sh 3.13 3.12) || exit 1; \
		$(MAKE) -k --no-print-directory test test-long VENV=.venv-oldest CONSTRAINTS=$< PYTHON=$$python

build/constraints-oldest.txt: constraints-oldest.txt constraints.txt
	@mkdir -p $(@D)
	@awk -F== 'NR == FNR { oldest[$$1] } NR == FNR || !($$1 in oldest)' $^ > $@

conformance:  ## run CPython's own tests in a context, on each installed Python in VERSIONS
	@$(call on_each,$(VERSIONS),{ $(own_venv); \
		$(MAKE) --no-print-directory venv VENV=$$venv PYTHON=$$python || exit 1; \
		last=$$venv/bin/python; $$last tests/conformance/run.py $(CONFORMANCE_FLAGS); }); \
	test -z "$$last" || $$last tests/conformance/run.py --totals \
		--keep docs/report/kept/conformance.json; exit $$status

fuzz: $(READY)  ## try random programs, tables, edits, files and command lines; FUZZ_FLAGS="--seconds 60"
	@test -e $(VENV)/fuzz || { $(BIN)/python -m pip install -qq --disable-pip-version-check --retries 1 \
		-c $(CONSTRAINTS) -e '.[fuzz]' >$(VENV)/fuzz.log 2>&1; touch $(VENV)/fuzz; }
	@status=0; $(BIN)/python -m tests.fuzz.fuzz --json build/proof/fuzz.json $(FUZZ_FLAGS) || status=1; \
		$(BIN)/python -m tests.fuzz.atheris_lines $(ATHERIS_FLAGS) || status=1; exit $$status

mutation: $(READY)  ## insert small faults into the cores, and count those that the tests detect; MUTATION_FLAGS="--count 20"
	@$(BIN)/python -m tests.mutation.mutate --json build/proof/mutation.json $(MUTATION_FLAGS)

coverage: $(READY) cuda published  ## measure the lines and branches that the tests run (half an hour on 2 cores)
	@rm -rf build/coverage; mkdir -p build/coverage build/proof
	@status=0; $(BIN)/python -m coverage run -m pytest $(PYTEST_FLAGS) $(COVERAGE_FLAGS) || status=1; \
		$(BIN)/python -m coverage combine -q && \
		$(BIN)/python -m coverage json -q -o build/proof/coverage.json && \
		$(BIN)/python -m scripts.uncovered build/proof/coverage.json || status=1; exit $$status

soak: $(READY)  ## run contexts, calls from 64 threads and redefinitions for a long time; SOAK_FLAGS="--scale 0.1"
	@$(BIN)/python -m tests.soak.soak --json build/proof/soak.json $(SOAK_FLAGS)

check: $(READY)  ## check format, lint, types, imports between the packages, measures, and the workflow of CI
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/pyright --pythonpath $(BIN)/python
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m scripts.measures --check --ways
	@$(BIN)/check-jsonschema -q --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(BIN)/check-jsonschema -q --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yml
	@$(BIN)/check-jsonschema -q --builtin-schema vendor.citation-file-format --default-filetype yaml CITATION.cff

measures: $(READY)  ## print measures of the structure: cycles, fans, names used twice and others
	@$(BIN)/python -m scripts.measures --ways

format: $(READY)  ## format the files as "check" requires
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

peers: $(READY)  # what the report compares with; it says what is not there
	@test -e $(VENV)/peers || { \
		$(BIN)/python -m pip install -qq --disable-pip-version-check --retries 1 \
			-c $(CONSTRAINTS) -e '.[peers]' >$(VENV)/peers.log 2>&1 && touch $(VENV)/peers; \
	} || echo "left out: comparisons with JAX, Oryx, autograd and sympy, since the extra 'peers'" \
		"cannot be installed ($(VENV)/peers.log)"

report: $(READY) peers  ## measure the project's claims, in under 40 minutes, and write docs/report.md
	@cd bench && $(abspath $(BIN))/python -m report $(REPORT_FLAGS)

$(VENV)/docs: $(READY)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c $(CONSTRAINTS) -e '.[docs]'
	@touch $@

docs: $(VENV)/docs  ## build the documentation as a site, in build/site; warnings and broken links are errors
	@rm -rf build/docs build/site; mkdir -p build; cp -r docs build/docs; mkdir build/docs/project
	@cp README.md CONTRIBUTING.md CHANGELOG.md build/docs/project/
	@mkdir build/docs/notebooks; cp notebooks/*.ipynb notebooks/*.py build/docs/notebooks/
	@$(BIN)/python -m sphinx -q -W --keep-going -c docs build/docs build/site
	@$(BIN)/python -m scripts.site_links build/site
	@echo "build/site/index.html"

$(VENV)/dist: $(READY)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --retries 1 -c $(CONSTRAINTS) \
		-e '.[dist]' >$(VENV)/dist.log 2>&1 && touch $@ \
		|| echo "left out: wheels for any Linux, since the extra 'dist' cannot be installed ($(VENV)/dist.log)"

dist: $(VENV)/dist  ## build the sdist and the wheel for any Linux, in dist; REPOSITORY=https://HOST/PATH for a release
	@$(BIN)/python -m scripts.try_distributions --build $(ADDRESSES)

dist-check:  ## build them on each installed Python in VERSIONS, and test each file in an empty environment
	@$(call on_each,$(VERSIONS),{ $(own_venv); \
		$(MAKE) --no-print-directory $$venv/dist VENV=$$venv PYTHON=$$python \
		&& $$venv/bin/python -m scripts.try_distributions $(ADDRESSES); }); exit $$status

gpu-check: $(READY) cuda  ## compare kernels on the present GPU with the CPU
	@$(BIN)/python -m scripts.gpu_check $(GPU_FLAGS)

clean:  ## remove everything that these targets made
	rm -rf .venv .venv-* build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
