"""A stored score that is infinite or NaN breaks no command."""

from collections.abc import Callable, Iterator
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from results.record import POOLED, Run, Score
from results.store import Reader, Store

Command = Callable[..., Any]
Make = Callable[..., Run]

COMMANDS = (
    *(f"table --format {name}" for name in ("markdown", "latex", "csv", "json")),
    *("table --clean --costs", "table --own-recipes", "table --extractors"),
    *("compare lora dypam", "compare lora dypam --json"),
    *("history", "history --json --costs"),
)

SCORES = (
    Score("gsm8k", "accuracy", "strict", True, 0.5, 100),
    Score("gsm8k", "accuracy", "llm-adapters", False, 0.5, 100),
    Score("gsm8k", "clean accuracy", "strict", False, 0.5, 90),
    Score("gsm8k", "option likelihood", "", True, 0.5, 100),
    Score("dolly", "perplexity", "", True, 7.5, 500),
    Score("dolly", "bleu", "", True, 30.0, 50, signature="s"),
    Score(POOLED, "bleu", "", True, 30.0, 50, signature="s"),
)


def scored(number: int, broken: int | None, value: float) -> tuple[Score, ...]:
    """Give the scores of a seed; of each the one at `broken` is `value`."""
    return tuple(
        Score(**vars(one) | {"value": value if place == broken else one.value + number / 100})
        for place, one in enumerate(SCORES)
    )


def runs(make: Make, value: float) -> Iterator[Run]:
    """Make two methods with three seeds, of which one seed of one method is broken.

    Each score is broken in a group of its own, and all of them in another.
    """
    for place in range(len(SCORES)):
        for method in ("lora", "dypam"):
            for seed in range(3):
                broken = place if (method, seed) == ("lora", 1) else None
                scores = scored(seed, broken, value)
                yield make(method, seed, group=f"group-{place}", scores=scores)


@pytest.mark.parametrize("value", [inf, -inf, nan], ids=str)
def test_no_command_fails(harness: Command, make: Make, tmp_path: Path, value: float) -> None:
    store = Store(tmp_path / "harness.db")
    for run in runs(make, value):
        store.add(run)
    for command in COMMANDS:
        done = harness(tmp_path, *command.split())
        assert done.returncode == 0, (command, done.stderr)


@pytest.mark.parametrize("value", [inf, -inf])
def test_an_infinite_score_comes_back(place: str, make: Make, value: float) -> None:
    run = make(scores=scored(0, 0, value))
    Store(place).add(run)
    assert Reader(place).runs() == [run]


def test_a_score_that_is_not_a_number_is_left_out(place: str, make: Make) -> None:
    run = make(scores=scored(0, 0, nan))
    Store(place).add(run)
    (found,) = Reader(place).runs()
    assert found.scores == run.scores[1:]
