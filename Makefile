# Everything that a fresh machine needs is done by the targets themselves; the environment lives in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test extension workbench editor check bench docs clean

help:
	@echo "make demo   install llm-lint into .venv and lint examples/"
	@echo "make test   install what the tests need and run them all"
	@echo "make extension  test and package the VS Code extension: vscode-client/dist/llm-lint.vsix"
	@echo "make workbench  run the extension in the real VS Code, as a web page in Chromium; what is seen is kept in .cache/e2e"
	@echo "make editor  start that VS Code on examples/ and print its address"
	@echo "make check  ruff, mypy, pyright, that Python 3.10 suffices, and the same kinds of checks for TypeScript"
	@echo "make bench  the speed promises, as ratios measured in one run"
	@echo "make docs   write the generated pages again"
	@echo "make clean  remove .venv"

# Each stamp is an installed state; a change of pyproject.toml makes it again.
$(VENV)/stamps/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "llm-lint needs Python 3.10 or newer; name one with `make PYTHON=python3.12 ...`")'
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(@D) && touch $@

$(VENV)/stamps/install: $(VENV)/stamps/venv pyproject.toml
	$(PIP) --editable .
	@touch $@

$(VENV)/stamps/test: $(VENV)/stamps/install
	$(PIP) --editable '.[test]'
	@touch $@

$(VENV)/stamps/lint: $(VENV)/stamps/test
	$(PIP) --editable '.[lint]'
	@touch $@

$(VENV)/stamps/npm: $(VENV)/stamps/venv package.json package-lock.json vscode-client/package.json .npmrc
	@command -v npm > /dev/null || { echo "the VS Code extension needs Node.js 20 or newer, with npm"; exit 1; }
	npm ci
	@touch $@

$(VENV)/stamps/editors: $(VENV)/stamps/venv tests/editors/install.sh
	sh tests/editors/install.sh
	@touch $@

# Faults are what the demo is about, so that finding them (exit 1) is its success.
demo: $(VENV)/stamps/install
	@$(BIN)/llm-lint check --output-format full examples || test $$? -eq 1

test: $(VENV)/stamps/test $(VENV)/stamps/editors extension workbench
	$(BIN)/python -m pytest --numprocesses auto --dist loadgroup

extension: $(VENV)/stamps/test $(VENV)/stamps/npm
	npm run test
	npm run package

# The status is 3 where Chromium and VS Code can't be installed, and the reason is printed.
workbench: extension
	@vscode-client/e2e/install.sh && npm run e2e || test $$? -eq 3

# That Node.js is the one of the newest VS Code: it runs TypeScript as it is.
editor: extension
	@vscode-client/e2e/install.sh && .cache/node vscode-client/e2e/serve.ts

check: $(VENV)/stamps/lint $(VENV)/stamps/npm
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/vermin --target=3.10- --violations --quiet --no-tips llm_lsp rules scripts benchmarks vscode-client/launcher
	$(BIN)/mypy
	$(BIN)/pyright
	npm run check

bench: $(VENV)/stamps/test
	$(BIN)/python -m benchmarks.run
	$(BIN)/python -m benchmarks.facts
	$(BIN)/python -m benchmarks.server
	$(BIN)/python -m benchmarks.probe

docs: $(VENV)/stamps/install
	$(BIN)/python scripts/docs.py

clean:
	rm -rf $(VENV) node_modules vscode-client/dist vscode-client/bundled
