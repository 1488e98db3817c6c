# make run    set up and run the main job        make test   set up and pass the tests
# make demo   six methods with three seeds of math, 12 minutes on two busy cores, then the leaderboard over them
# make lint   what CI checks besides the tests   make bench  the speed figures, as ratios
# make gpu    what only a machine with a GPU can tell, into benchmarks/gpu.md (PART=tiny: one part)
# make chaos  what a grid survives, an hour at a time; figures add up in ./chaos
# make cluster  the executors ray and slurm on real clusters, started on this machine
# make parts  the long tests, and those that need bitsandbytes or programs that root gets from Debian

PYTHON ?= python3
BIN := .venv/bin
INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable
PARTS := texlive-latex-base texlive-latex-recommended poppler-utils postgresql chromium slurmctld slurmd slurm-client munge

.PHONY: run demo test parts lint bench gpu chaos cluster programs clean

run: .venv/installed
	$(BIN)/harness run --methods dypam,lora --tasks math

# Rows are limited, which every page and table says.
demo: .venv/installed
	@mkdir -p demo
	env -u HARNESS_DATA $(BIN)/harness run --methods base,lora,dora,ia3,dypam,rosa,smoa --tasks math --seeds 3 \
		--limit 30 --train-limit 600 --store demo/harness.db --runs demo/runs
	$(BIN)/harness leaderboard serve --store demo/harness.db

test: .venv/installed
	$(BIN)/pytest

parts: programs
	$(BIN)/pytest -m parts

cluster: programs
	$(BIN)/pytest -m parts tests/harness/scheduling/executors

programs: .venv/installed
	@if ! command -v pdflatex >/dev/null || ! command -v pdftotext >/dev/null \
		|| ! command -v chromium >/dev/null || ! command -v slurmctld >/dev/null \
		|| ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then \
		[ "$$(id -u)" = 0 ] || { echo "Please install $(PARTS)."; exit 1; }; \
		apt-get update -q && apt-get install -y -q --no-install-recommends $(PARTS); \
	fi
	$(INSTALL) ".[dev,quantize,ray,slurm,track]"

lint: .venv/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/installed
	$(BIN)/python -m benchmarks

gpu: .venv/installed
	$(BIN)/python -m benchmarks gpu $(PART)

chaos: .venv/installed
	env -u HARNESS_DATA $(BIN)/python -m benchmarks chaos chaos

clean:
	rm -rf .venv runs harness.db demo chaos benchmarks/gpu/results

# A changed lock makes a new environment, so that nothing of the old one stays behind.
.venv/installed: pyproject.toml constraints.txt
	rm -rf .venv
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(INSTALL) ".[dev]"
	touch $@
