"""Groups of other kinds than mathematics through the real command, on samples."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import plugins

Command = Callable[..., Any]

GROUPS = ("dialogue", "commonsense")


@pytest.fixture(scope="module")
def places(program: Command, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Run each group once."""
    found = {}
    for group in GROUPS:
        folder = tmp_path_factory.mktemp(group)
        grid = ["run", "--methods", "lora", "--tasks", group, "--limit", "2", "--slots", "1"]
        grid += ["--train-limit", "20", "--set", "train.epochs=1"]
        # An untrained model seldom ends an answer, and 256 tokens show no more than 24.
        done = program(folder, *grid, "--set", "protocol.max_new_tokens=24")
        assert done.returncode == 0, done.stderr
        (folder / "printed.txt").write_text(done.stdout)
        found[group] = folder
    return found


def scores(place: Path) -> list[dict[str, Any]]:
    (path,) = place.glob("runs/*/result.json")
    found: list[dict[str, Any]] = json.loads(path.read_text())["scores"]
    return found


def test_commonsense_has_accuracies_by_extraction_and_by_likelihood(
    places: dict[str, Path],
) -> None:
    benchmarks = plugins.group("commonsense").benchmarks
    shown = [
        (one["benchmark"], one["metric"])
        for one in scores(places["commonsense"])
        if one["headline"]
    ]
    assert sorted(shown) == sorted(
        (name, metric) for name in benchmarks for metric in ("accuracy", "option likelihood")
    )
    assert {one["n"] for one in scores(places["commonsense"]) if one["headline"]} == {2}


def test_the_likelihoods_of_a_row_are_those_of_the_options_that_it_offers(
    places: dict[str, Path],
) -> None:
    (path,) = places["commonsense"].glob("runs/*/likelihoods/winogrande.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["id"] for line in lines] == [0, 1]
    assert all(set(line["options"]) == {"option1", "option2"} for line in lines)
    assert all(value < 0 for line in lines for value in line["options"].values())


def test_dialogue_has_metrics_of_texts_per_set_and_over_all(places: dict[str, Path]) -> None:
    found = {(one["benchmark"], one["metric"]): one for one in scores(places["dialogue"])}
    for metric in ("bleu", "rouge-l", "perplexity"):
        assert found["convai2", metric]["headline"]
        assert found["all", metric]["value"] == found["convai2", metric]["value"]
    assert found["convai2", "bleu"]["n"] == 2
    assert found["convai2", "perplexity"]["n"] > 2  # tokens
    assert found["convai2", "perplexity"]["value"] > 1
    assert not found["convai2", "perplexity (hycam)"]["headline"]


@pytest.mark.parametrize("group", GROUPS)
def test_a_table_is_printed_of_each_metric_that_says_what_the_data_are(
    group: str, places: dict[str, Path]
) -> None:
    printed = (places[group] / "printed.txt").read_text()
    metrics = {one["metric"] for one in scores(places[group]) if one["headline"]}
    assert printed.count("SAMPLE DATA") >= len(metrics)
    assert "paper[max_new_tokens=24]" in printed
    for name in plugins.group(group).benchmarks:
        assert name in printed


def test_extractors_and_clean_averages_are_shown_of_what_has_answers(
    harness: Command, places: dict[str, Path]
) -> None:
    spread = harness(places["commonsense"], "table", "--extractors")
    assert spread.returncode == 0
    assert "strict" in spread.stdout
    clean = harness(places["commonsense"], "table", "--clean")
    assert "clean micro" in clean.stdout
    none = harness(places["dialogue"], "table", "--extractors")
    assert none.returncode == 2
    assert "has answers that are extracted" in none.stderr


def test_rescoring_gives_the_scores_of_the_run(harness: Command, places: dict[str, Path]) -> None:
    for place in places.values():
        before = scores(place)
        done = harness(place, "rescore")
        assert done.stdout == "1 run of runs rescored in harness.db.\n"
        assert scores(place) == before
