# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
# two tests at a time, each in one thread: libraries that start a thread for each core would wait for each other
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

.PHONY: help demo test test-cluster test-browser slow lint bench bench-scale bench-spark explore-check trusted audit audit-ledger fuzz coverage docs wheel peers clean

help:           ## list the commands
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

.venv/demo: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable ".[demo]"
	@touch $@

.venv/dev: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable ".[dev]"
	@touch $@ .venv/demo

demo: .venv/demo        ## a private classifier of a real survey, how good it is and what it cost
	@$(BIN)/veil demo
	@echo "The command is $(BIN)/veil; after \`. $(BIN)/activate\` it is plain \`veil\`."

test: lint              ## lint, types and all tests but the slowest
	$(PYTEST) -m "not slow and not browser" --ignore tests/cluster

slow: .venv/dev         ## the tests that take longest: whole models under the audit, laws of many draws; a few minutes
	$(PYTEST) -m slow

test-cluster: .venv/dev ## the tests that need PostgreSQL's server, or Spark and Java, which root installs if they are missing
	@sh experiments/install_postgres.sh
	@sh experiments/install_java.sh
	$(PYTEST) tests/kernel/test_ledger_shared.py
	OMP_NUM_THREADS=1 $(BIN)/pytest tests/cluster

# Chromium comes from Debian, if we may install it; what drives it, from npm. Without them the tests are skipped, saying so
BROWSER := tests/browser/node_modules/.package-lock.json
test-browser: .venv/dev $(BROWSER)  ## the pages of veil explore in a real Chromium: every view, both themes, keyboard, attacks
	@command -v chromium > /dev/null || (test "$$(id -u)" = 0 && timeout 180 apt-get install --yes --no-install-recommends chromium > /dev/null) || echo "Chromium cannot be installed here"
	OMP_NUM_THREADS=1 $(BIN)/pytest -m browser tests/browser

$(BROWSER): tests/browser/package.json
	-cd tests/browser && timeout 60 npm install --silent --no-audit --no-fund
	@mkdir -p $(dir $@) && touch $@

explore-check: .venv/dev $(BROWSER) ## measure the pages of veil explore, and draw them for the docs; writes experiments/bench/explore.json
	$(BIN)/python -m experiments.bench.explore

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/dev        ## measure speed and memory against references; writes experiments/bench/latest.json
	$(BIN)/python -m experiments.bench.run

bench-scale: .venv/dev  ## measure large tables, 10^6 and 10^7 rows; writes experiments/bench/scale.json
	$(BIN)/python -m experiments.bench.scale

bench-spark: .venv/dev  ## measure rows from Spark beside the same file, 10^7 rows; writes experiments/bench/spark.json
	$(BIN)/pip install --quiet --editable ".[spark]"
	$(BIN)/python -m experiments.bench.spark

trusted: .venv/dev      ## print how long the trusted part is: core, each verb, all of it, and what each method uses
	@$(BIN)/python -m experiments.trusted

audit: .venv/dev        ## search deeply for privacy violations, in ours and in broken twins; about two hours over the number of cores, goes on if it was stopped
	$(BIN)/veil audit --deep

audit-ledger: .venv/dev ## charge, kill and disturb ledgers, 10,000 kills; goes on where it was stopped
	$(BIN)/python -m experiments.bench.ledger_attack

fuzz: .venv/dev         ## try damaged and hostile files on everything that reads one; goes on where it stopped, ten minutes
	$(BIN)/python fuzz/run.py --minutes 10

coverage: .venv/dev     ## count how often intervals of private AUCs hold the exact ones; half an hour, needs VEIL_DATA
	$(BIN)/python -m experiments.pages.auc_coverage

docs: .venv/dev         ## rebuild the generated pages and check every example
	$(BIN)/python -m experiments.pages.build
	$(BIN)/pytest -q tests/test_docs.py

wheel:                  ## build the wheel, and try it alone: a new environment, a folder elsewhere
	rm -rf build/wheel && mkdir -p build/wheel
	$(PYTHON) -m pip wheel --quiet --no-deps --wheel-dir build/wheel .
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/pip install --quiet "$$(ls build/wheel/*.whl)[demo]"
	here=$$PWD && cd $$(mktemp -d) && unset PYTHONPATH && $$here/build/wheel/venv/bin/veil demo --seed 1 && \
	for example in $$here/examples/*.py; do MPLBACKEND=agg $$here/build/wheel/venv/bin/python $$example || exit 1; done
	@ls -l build/wheel/*.whl

peers: $(patsubst %.txt,experiments/peers/.venv/%/ready,$(notdir $(wildcard experiments/peers/*.txt)))  ## build the environments of the packages that we compare with

experiments/peers/.venv/%/ready: experiments/peers/%.txt
	$(PYTHON) -m venv experiments/peers/.venv/$*
	experiments/peers/.venv/$*/bin/pip install --quiet --requirement $<
	@touch $@

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
