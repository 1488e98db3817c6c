# make run    set up and run the main job        make test   set up and pass the tests
# make lint   what CI checks besides the tests   make bench  the speed figures, as ratios
# make gpu    what only a machine with a GPU can tell, into benchmarks/gpu.md (PART=tiny: one part)
# make parts  the long tests, and those that need bitsandbytes or programs that root gets from Debian

PYTHON ?= python3
BIN := .venv/bin
INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable
PARTS := texlive-latex-base texlive-latex-recommended poppler-utils postgresql chromium

.PHONY: run test parts lint bench gpu clean

run: .venv/installed
	$(BIN)/harness run --methods dypam,lora --tasks math

test: .venv/installed
	$(BIN)/pytest

parts: .venv/installed
	@if ! command -v pdflatex >/dev/null || ! command -v pdftotext >/dev/null \
		|| ! command -v chromium >/dev/null \
		|| ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then \
		[ "$$(id -u)" = 0 ] || { echo "Please install $(PARTS)."; exit 1; }; \
		apt-get update -q && apt-get install -y -q --no-install-recommends $(PARTS); \
	fi
	$(INSTALL) ".[dev,quantize,browser]"
	$(BIN)/pytest -m parts

lint: .venv/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/installed
	$(BIN)/python -m benchmarks

gpu: .venv/installed
	$(BIN)/python -m benchmarks gpu $(PART)

clean:
	rm -rf .venv runs harness.db benchmarks/gpu/results

# A changed lock makes a new environment, so that nothing of the old one stays behind.
.venv/installed: pyproject.toml constraints.txt
	rm -rf .venv
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(INSTALL) ".[dev]"
	touch $@
