# All paths are relative, so that the folder may have spaces in its name.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
# Pinned packages, each checked by its hash; large tools of single targets come by their name.
INSTALL := tools/install.py --editable
PIP := -m pip install --quiet --disable-pip-version-check
UV := $(PIP) --require-hashes --no-deps --requirement tools/pins/release.txt
# Every process would compile all of its modules if it could not keep what it compiled.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help demo test test-serve test-bytes test-lsp test-typing test-scale test-yaml test-pythons lint types unit cases stubs conformance bench fuzz mutants clients peers clients-under-fault conformance-suite action soak browser test-opencode comparison loaders docs pages pins dist reproducible release clean

help:
	@echo "make demo                  install equipage; show an agent, what it may really do, and the gate"
	@echo "make test [PACKAGE=serve]  install everything; demo, every test, types and lints"
	@echo "make docs                  build the documentation and look at it; needs npm and chromium"
	@echo "make release               build and check every distribution, as a release does"
	@echo "make clean                 remove what the others made"
	@echo
	@echo "For single parts of the work:"
	@echo "  make lint types unit cases stubs pages conformance pins   what \`make test\` runs or compares"
	@echo "  make test-pythons [PYTHONS='3.14 3.15']   every test on other Pythons"
	@echo "  make test-serve test-bytes test-lsp test-typing test-scale test-yaml test-opencode browser   with other programs"
	@echo "  make fuzz [INPUTS=100000]   random input for every surface; twenty minutes of two cores"
	@echo "  make soak clients-under-fault conformance-suite   the test server, for ten minutes and with clients"
	@echo "  make action dist reproducible   the GitHub Action; distributions, built twice"
	@echo "What judges from outside (lab/README.md):"
	@echo "  make bench [ROWS='servers linters'], clients, peers, comparison, loaders, mutants [PART='jail sandbox']"

# Everything that says what is installed.
WANTED := pyproject.toml packages/*/pyproject.toml tools/pins/*.txt

$(VENV)/.installed: $(WANTED)
	$(PYTHON) -m venv $(VENV)
	$(PY) $(INSTALL)
	@touch $@

$(VENV)/.ready: $(VENV)/.installed
	$(PY) $(INSTALL) --dev
	$(PY) tools/faces.py
	@touch $@

demo: $(VENV)/.installed
	@$(PY) examples/demo.py

test: demo lint types unit

lint: $(VENV)/.ready
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: stubs
	$(PY) -m mypy

# Three processes for two cores, because many tests wait for a process or a time. Each takes one file
# after the other, those with most tests first, so that what the tests of a file share is made once.
SPREAD := -n 3 --dist loadfile

# `make test PACKAGE=serve` tests one distribution; `main` is equipage itself.
TESTS := $(if $(PACKAGE),$(if $(filter main,$(PACKAGE)),tests,packages/equipage-$(PACKAGE)/tests))

unit: stubs
	sh tests/in_memory.sh $(PY) -m pytest -q $(SPREAD) $(TESTS)

# Every test on the other Pythons, which must be there: a command, or a version of pyenv. The lines
# that tests run are counted on 3.13: that costs next to nothing there, and twice the time on 3.11.
PYTHONS ?= 3.12 3.13
COVERED := --cov --cov-report=term --cov-fail-under=95
found = $(shell for each in python$(1) "$$HOME"/.pyenv/versions/$(1).*/bin/python; do \
	"$$each" -c 'import venv' >/dev/null 2>&1 && { echo "$$each"; break; }; done)

.venv-3.%/.ready: $(WANTED)
	@test -n "$(call found,3.$*)" || { echo "Python 3.$* is not here"; exit 1; }
	"$(call found,3.$*)" -m venv .venv-3.$*
	.venv-3.$*/bin/python $(INSTALL) --dev
	.venv-3.$*/bin/python tools/faces.py
	@touch $@

.PRECIOUS: .venv-3.%/.ready
test-pythons: $(PYTHONS:%=test-on-%)

test-on-3.%: .venv-3.%/.ready
	$(if $(filter 13,$*),COVERAGE_CORE=sysmon) sh tests/in_memory.sh .venv-3.$*/bin/python -m pytest -q $(SPREAD) -p no:cacheprovider $(if $(filter 13,$*),$(COVERED))

# pyright is a program for Node.js, which it brings along: so it has a target of its own.
test-typing: $(VENV)/.ready
	$(PY) $(PIP) "pyright[nodejs]"
	$(PY) -m pytest -q -rs tests/typing | tee .typing.log; ! grep -Eq 'pyright is not installed|failed|error' .typing.log
	@rm -f .typing.log

# A second reader of YAML, which needs Python 3.12. Nothing may be skipped.
test-yaml:
	@test -n "$(call found,3.12)" || { echo "Python 3.12 is not here"; exit 1; }
	@test -e .venv-yaml/.ready || { "$(call found,3.12)" -m venv .venv-yaml && .venv-yaml/bin/python $(INSTALL) --dev && .venv-yaml/bin/python $(PIP) yamlrocks==0.7.1 && touch .venv-yaml/.ready; }
	.venv-yaml/bin/python -m pytest -q -rs -p no:cacheprovider tests/syntax/test_yaml_differential.py | tee .yaml.log; grep -q ' passed' .yaml.log && ! grep -Eq 'skipped|failed|error' .yaml.log
	@rm -f .yaml.log

# Dask and Ray are large, so their examples are tried in an environment of their own.
test-scale:
	@test -e .venv-scale/.ready || { $(PYTHON) -m venv .venv-scale && .venv-scale/bin/python $(PIP) --editable ".[dev,scale]" && touch .venv-scale/.ready; }
	.venv-scale/bin/python -m pytest -q -rs -p no:cacheprovider tests/scale | tee .scale.log; ! grep -Eq 'skipped|failed|error' .scale.log
	@rm -f .scale.log

# Installs other programs (Node.js, PHP, clients) and takes some minutes. Nothing may be skipped.
test-serve: $(VENV)/.ready
	sh packages/equipage-serve/tests/install.sh
	EQUIPAGE_TEST_SERVE=1 $(PY) -m pytest -q -p no:cacheprovider packages/equipage-serve/tests

# Two thousand files of every kind, each changed once; `make test` changes a sample.
test-bytes: $(VENV)/.ready
	EQUIPAGE_TEST_BYTES=1 $(PY) -m pytest -q -p no:cacheprovider tests/record/test_every_byte.py

# The page in Debian's Chromium (apt-get install chromium), driven by playwright-core. Nothing may be skipped.
browser: $(VENV)/.ready
	@test -d .clients/browser/node_modules/playwright-core || npm install --silent --no-audit --no-fund --prefix .clients/browser playwright-core@1.65.0
	EQUIPAGE_TEST_BROWSER=1 EQUIPAGE_PLAYWRIGHT="$(CURDIR)/.clients/browser/node_modules/playwright-core" $(PY) -m pytest -q -p no:cacheprovider tests/browser

# What agents may do, as OpenCode itself says it; installs the client.
test-opencode: $(VENV)/.ready
	@test -e .clients/opencode/node_modules/.bin/opencode || npm install --silent --no-audit --no-fund --prefix .clients/opencode opencode-ai@1.18.33
	EQUIPAGE_OPENCODE="$(CURDIR)/.clients/opencode/node_modules/.bin/opencode" $(PY) -m pytest -q -rs -p no:cacheprovider tests/effect/test_matrix_opencode.py | tee .opencode.log; ! grep -Eq 'skipped|failed|error' .opencode.log
	@rm -f .opencode.log

# Needs Neovim and Emacs with eglot (apt-get install neovim elpa-eglot); installs the other clients. Nothing
# may be skipped. pytest-lsp brings plugins for pytest along, so it has an environment of its own.
test-lsp:
	@test -e .venv-lsp/.ready || { $(PYTHON) -m venv .venv-lsp && .venv-lsp/bin/python $(INSTALL) --dev && .venv-lsp/bin/python $(PIP) pytest-lsp==1.0.1 && touch .venv-lsp/.ready; }
	@test -e .clients/opencode/node_modules/.bin/opencode || npm install --silent --no-audit --no-fund --prefix .clients/opencode opencode-ai@1.18.33
	@test -e .clients/agents/node_modules/.bin/claude || npm install --silent --no-audit --no-fund --prefix .clients/agents @anthropic-ai/claude-code@2.1.325 @github/copilot@1.0.102
	EQUIPAGE_TEST_LSP=1 EQUIPAGE_OPENCODE="$(CURDIR)/.clients/opencode/node_modules/.bin/opencode" EQUIPAGE_CLAUDE="$(CURDIR)/.clients/agents/node_modules/.bin/claude" EQUIPAGE_COPILOT="$(CURDIR)/.clients/agents/node_modules/.bin/copilot" .venv-lsp/bin/python -m pytest -q -rs -p no:cacheprovider -o asyncio_default_fixture_loop_scope=function tests/lsp | tee .lsp.log; grep -q ' passed' .lsp.log && ! grep -Eq 'skipped|failed|error' .lsp.log
	@rm -f .lsp.log
	@test -e .clients/editing/node_modules/.bin/yaml-language-server || npm install --silent --no-audit --no-fund --prefix .clients/editing yaml-language-server@1.19.2
	.venv-lsp/bin/python lab/bench/editing.py

cases: $(VENV)/.ready
	EQUIPAGE_UPDATE_CASES=1 $(PY) -m pytest -q tests/test_cases.py tests/cli/test_consoles.py tests/docs/test_docs.py packages/*/tests/test_pages_of_*.py

stubs: $(VENV)/.ready
	$(PY) tools/faces.py

conformance: $(VENV)/.ready
	$(PY) requirements/report.py

bench: $(VENV)/.ready
	@test -e .clients/editing/node_modules/.bin/yaml-language-server || npm install --silent --no-audit --no-fund --prefix .clients/editing yaml-language-server@1.19.2
	$(PY) lab/bench/run.py $(if $(ROWS),--rows "$(ROWS)")

# mutmut says what is changed; what tries the changes is ours. So it has an environment of its own.
mutants:
	$(PYTHON) -m venv .venv-mutants
	.venv-mutants/bin/python $(PIP) mutmut==3.8.1 pytest hypothesis jsonschema pyyaml . ./packages/equipage-serve
	.venv-mutants/bin/python lab/mutants $(PART)

# So many inputs for each surface, which are 26.
INPUTS ?= 100000
fuzz: $(VENV)/.ready
	$(PY) tests/fuzz/run.py --inputs $(INPUTS)
	EQUIPAGE_FUZZ_WITHOUT=yaml.cyaml $(PY) tests/fuzz/run.py --inputs $(INPUTS) --surface yaml
	$(PY) tests/fuzz/changes.py --changes 10000
	EQUIPAGE_COLD_RUNS=500 $(PY) -m pytest -q -n 2 -p no:cacheprovider tests/security/test_cold_threads.py

# The clients are installed with npm into .clients, or into the folder CLIENTS; some minutes.
clients: $(VENV)/.ready
	$(PY) lab/clients $(if $(CLIENTS),--clients "$(CLIENTS)") $(if $(SAID),--remember "$(SAID)") $(TREES)

# Other linters on the same trees. SAID is what `lab/clients --remember` wrote about them.
peers: $(VENV)/.ready
	$(PY) lab/clients/peers.py "$(SAID)" $(TREES)

# Official clients and the official suite have environments of their own, in .clients; they need npm.
clients-under-fault: $(VENV)/.ready
	$(PY) tools/faults/clients.py

conformance-suite: $(VENV)/.ready
	$(PY) tools/faults/conformance.py

# The steps of the GitHub Action, installed from a clone into an environment of their own.
action: $(VENV)/.ready
	EQUIPAGE_ACTION=1 $(PY) -m pytest -q -p no:cacheprovider tests/docs/test_integrations.py -k install_step

soak: $(VENV)/.ready
	$(PY) tools/faults/soak.py

# The tools people would pick instead, installed into .peers; ten minutes. Writes docs/comparison.md.
comparison: $(VENV)/.ready
	$(PY) lab/comparison

# The same small loader with other libraries, installed into .peers; a minute. Writes docs/loaders.md.
loaders: $(VENV)/.ready
	$(PY) lab/loaders

# The pages that are made from the code, which are kept in the repository.
pages: $(VENV)/.ready
	$(PY) docs/build.py --pages

# The site, and then a look at it: links, widths, contrast. Needs npm and Debian's chromium.
docs: $(VENV)/.ready
	@test -d .clients/browser/node_modules/playwright-core || npm install --silent --no-audit --no-fund --prefix .clients/browser playwright-core@1.65.0
	$(PY) $(PIP) --editable ".[docs]"
	$(PY) docs/build.py
	$(PY) docs/inspect_site.py

pins: $(VENV)/.ready
	$(PY) $(UV)
	$(PY) tools/pins.py

# The distributions with what went into them; twice, to show that the bytes depend on the commit
# alone. `release` does both and looks into them.
dist reproducible release: $(VENV)/.ready
	$(PY) $(UV)
	$(PY) tools/release.py $@

clean:
	rm -rf dist .venv .venv-3.* .venv-lsp .venv-yaml .venv-mutants .clients .peers .mutants lab/bench/.venv-* lab/bench/data site .mypy_cache .ruff_cache .pytest_cache .coverage*
