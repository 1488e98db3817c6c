"""The texts of real runs as sums of parts, and the tests that `compare` makes of them."""

from collections.abc import Callable
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import pytest

from harness.commands.segments import segments
from results.record import POOLED, Run
from results.store import Reader
from tasks.metrics.parts import SCORES

Command = Callable[..., Any]

METRICS = ("bleu", "rouge-l", "perplexity")


pytestmark = pytest.mark.parts
"""Two real runs; test_parts.py holds the sums of texts to sacreBLEU."""


@pytest.fixture(scope="module")
def place(program: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run two methods once; at this learning rate they come to other texts."""
    folder = tmp_path_factory.mktemp("texts")
    grid = ["run", "--methods", "lora,vera", "--tasks", "dialogue", "--limit", "8", "--slots", "1"]
    recipe = ("train.epochs=2", "train.batch_size=4", "train.lr=1e-2")
    fields = [f"--set={field}" for field in (*recipe, "protocol.max_new_tokens=24")]
    done = program(folder, *grid, "--train-limit", "40", *fields)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def runs(place: Path, monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    monkeypatch.chdir(place)  # the store names run folders as the command did
    return Reader("harness.db").runs()


@pytest.mark.parametrize("metric", METRICS)
def test_the_summed_parts_of_a_run_score_what_the_run_scored(runs: list[Run], metric: str) -> None:
    for run in runs:
        found = segments(run, "convai2", metric)
        assert found is not None
        assert len(found.parts) == 8
        stored = run.headline(metric)["convai2"].value
        expected = log(stored) if metric == "perplexity" else stored
        assert expected > 0
        assert SCORES[metric](found.parts.sum(axis=0)) == pytest.approx(expected, rel=1e-12)
        assert run.headline(metric)[POOLED].value == stored


@pytest.mark.parametrize("metric", METRICS)
def test_runs_of_the_same_rows_have_the_same_hash_of_rows(runs: list[Run], metric: str) -> None:
    hashes = {found.rows for run in runs if (found := segments(run, "convai2", metric))}
    assert len(hashes) == 1


@pytest.mark.parametrize("metric", METRICS)
def test_a_run_whose_folder_is_gone_has_no_segments(runs: list[Run], metric: str) -> None:
    assert segments(replace(runs[0], folder="gone"), "convai2", metric) is None


def test_compare_tests_texts_and_says_what_that_compares(harness: Command, place: Path) -> None:
    done = harness(place, "compare", "lora", "vera")
    assert done.returncode == 0, done.stderr
    printed = done.stdout
    named = "Paired two-sided approximate randomisation{}, for new items and these trained models."
    assert printed.count(named.format("")) == 2
    assert printed.count(named.format(" of logarithms")) == 1
    assert printed.count(
        "With one seed, a test compares two trained models, not two methods."
    ) == len(METRICS)
    # Rows of texts are not right or wrong, so none is gained.
    assert "Gained and lost" not in printed
