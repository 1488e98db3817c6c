"""Losses wait on the device, and the journal gets them in order, up to one that is not finite."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from harness.worker.journal import Journal
from harness.worker.training import losses
from harness.worker.training.divergence import DivergedError
from harness.worker.training.losses import Losses


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses, "SECONDS", 1000.0)


def steps(path: Path) -> list[Any]:
    return [json.loads(line).get("step") for line in path.read_text().splitlines()]


def test_twenty_steps_are_read_at_once_and_the_rest_at_the_end(tmp_path: Path) -> None:
    path, seen = tmp_path / "events.jsonl", []
    with Journal(path) as journal, Losses(journal) as waiting:
        for step in range(1, 46):
            waiting.add({"loss": torch.tensor(2.0)}, step=step)
            seen.append(len(steps(path)))
    assert seen == [0] * 19 + [20] * 20 + [40] * 6
    assert steps(path) == list(range(1, 46))


def test_after_a_second_they_are_read_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses, "SECONDS", 0.0)
    path = tmp_path / "events.jsonl"
    with Journal(path) as journal, Losses(journal) as waiting:
        waiting.add({"loss": torch.tensor(2.0)}, step=1)
        assert steps(path) == [1]


def test_an_event_has_the_time_of_its_step_and_not_that_of_its_reading(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with Journal(path) as journal, Losses(journal) as waiting:
        waiting.add({"loss": torch.tensor(2.0)}, step=1, time=7.0)
    assert json.loads(path.read_text())["time"] == 7.0


def taken(path: Path, numbers: list[float], error: Exception | None = None) -> None:
    """Take steps whose auxiliary losses are given, and end with an error."""
    with Journal(path) as journal, Losses(journal) as waiting:
        for step, number in enumerate(numbers, 1):
            found = {"loss": torch.tensor(2.0), "auxiliary_loss": torch.tensor(number)}
            waiting.add(found, step=step)
        if error:
            raise error


@pytest.mark.parametrize("broken", [1, 7, 19])
def test_the_first_loss_that_is_not_finite_is_named_however_late_it_is_read(
    broken: int, tmp_path: Path
) -> None:
    path = tmp_path / "events.jsonl"
    numbers = [2.0] * (broken - 1) + [float("nan")] * (20 - broken)
    with pytest.raises(DivergedError) as error:
        taken(path, numbers)
    assert (error.value.step, error.value.reason) == (broken, "the auxiliary loss is nan")
    assert steps(path) == list(range(1, broken + 1))


def test_an_error_that_comes_of_an_infinite_loss_is_a_divergence(tmp_path: Path) -> None:
    with pytest.raises(DivergedError, match="step 2: the auxiliary loss is inf"):
        taken(tmp_path / "events.jsonl", [2.0, float("inf")], RuntimeError("no inverse"))


def test_an_error_of_another_kind_stays_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with pytest.raises(RuntimeError, match="out of memory"):
        taken(path, [2.0, 2.0], RuntimeError("out of memory"))
    assert steps(path) == [1, 2]
