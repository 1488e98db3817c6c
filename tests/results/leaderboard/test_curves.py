"""Training curves, of events written by hand."""

from collections.abc import Callable, Iterable
from math import inf, nan
from pathlib import Path

import pytest

from results.leaderboard.source import Source
from results.leaderboard.values.charted.curves import (
    POINTS,
    Curves,
    curves_page,
    losses_of,
    windows,
)
from results.leaderboard.view import View
from results.record import Run
from results.runfolder.folder import RunFolder
from results.runfolder.values import Event
from results.store import Store

Write = Callable[[str, Iterable[Event]], RunFolder]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def of(name: str, events: Iterable[Event]) -> RunFolder:
        folder = RunFolder(tmp_path / name)
        folder.path.mkdir()
        lines = (f"{one.model_dump_json(exclude_none=True)}\n" for one in events)
        folder.events.write_text("".join(lines))
        return folder

    return of


def steps(losses: Iterable[float], of: int, validated: dict[int, float]) -> Iterable[Event]:
    for step, loss in enumerate(losses, 1):
        yield Event(time=step, step=step, of=of, loss=loss, tokens=100 * step)
        if step in validated:
            yield Event(time=step, step=step, validation_loss=validated[step])


@pytest.fixture
def chart(
    tmp_path: Path, write: Write, make: Callable[..., Run], source: Callable[..., Source]
) -> Callable[[dict[int, Iterable[Event]]], Curves]:
    """Make the chart of a method by the events of its seeds; no events, no folder."""

    def of(by_seed: dict[int, Iterable[Event]]) -> Curves:
        store = Store(str(tmp_path / "harness.db"))
        for seed, events in by_seed.items():
            there = list(events)
            folder = write(str(seed), there).path if there else tmp_path / "gone"
            store.add(make("lora", seed, folder=str(folder)))
        (found,) = curves_page(source(str(tmp_path / "harness.db")).open(), View()).charts
        return found

    return of


def test_a_band_goes_from_the_lowest_to_the_highest_seed(
    chart: Callable[[dict[int, Iterable[Event]]], Curves],
) -> None:
    (curve,) = chart(
        {1: steps([4, 2], 2, {2: 3.0}), 2: steps([5, 3], 2, {2: 2.0}), 3: steps([9, 1], 2, {2: 1})}
    ).curves
    assert [(p.step, p.mean, p.low, p.high, p.tokens) for p in curve.loss] == [
        (1, 6.0, 4.0, 9.0, 100),
        (2, 2.0, 1.0, 3.0, 200),
    ]
    assert [(p.step, p.mean, p.low, p.high) for p in curve.validation_loss] == [(2, 2.0, 1.0, 3.0)]
    assert curve.seeds == (1, 2, 3)


def test_a_run_whose_folder_is_gone_is_left_out_and_named(
    chart: Callable[[dict[int, Iterable[Event]]], Curves],
) -> None:
    (curve,) = chart({1: steps([4, 2], 2, {2: 3.0}), 2: []}).curves
    assert curve.seeds == (1,)
    (missing,) = curve.missing
    assert missing.name.endswith("seed 2")
    assert missing.why == "its run folder is not where the store says"


def test_a_seed_that_did_not_finish_is_named(
    tmp_path: Path, make: Callable[..., Run], source: Callable[..., Source]
) -> None:
    store = Store(str(tmp_path / "harness.db"))
    store.add(make("lora", 1))
    store.add(make("lora", 2, status="diverged", scores=(), reason="loss nan at step 3"))
    (chart,) = curves_page(source(str(tmp_path / "harness.db")).open(), View()).charts
    assert [(one.name, one.why) for one in chart.curves[0].missing][1:] == [("seed 2", "diverged")]


def test_a_curve_ends_where_the_shortest_run_does(
    chart: Callable[[dict[int, Iterable[Event]]], Curves],
) -> None:
    found = chart({1: steps([4, 3, 2], 3, {1: 3, 3: 2}), 2: steps([4], 3, {1: 5})})
    (curve,) = found.curves
    assert [point.step for point in curve.loss] == [1]
    assert [point.mean for point in curve.validation_loss] == [4.0]
    assert found.lowest == 4.0


def test_a_long_training_is_averaged_over_windows_of_steps(write: Write) -> None:
    total = 3 * POINTS
    found = windows(losses_of(write("run", steps(map(float, range(1, total + 1)), total, {}))))
    assert len(found) == POINTS
    assert found[:2] == ((3, 2.0), (6, 5.0))  # the means of 1, 2, 3 and of 4, 5, 6


def test_of_several_attempts_the_last_counts(write: Write) -> None:
    first, second = steps([9, 8, 7], 3, {2: 8.0}), steps([3, 2, 1], 3, {3: 1.5})
    found = losses_of(write("run", [*first, *second]))
    assert found.loss == ((1, 3.0), (2, 2.0), (3, 1.0))
    assert found.validation_loss == ((3, 1.5),)


def test_a_training_that_went_on_from_a_checkpoint_has_each_step_once(write: Write) -> None:
    # Killed in its fourth step and resumed after its second, whose validation it took again.
    cut = steps([9, 8, 7, 6], 5, {2: 8.5})
    resumed = [*steps([9, 8, 7, 6, 5], 5, {2: 8.5, 5: 5.5})][2:]
    found = losses_of(write("run", [*cut, *resumed]))
    assert found.loss == ((1, 9.0), (2, 8.0), (3, 7.0), (4, 6.0), (5, 5.0))
    assert found.validation_loss == ((2, 8.5), (5, 5.5))


@pytest.mark.parametrize(("loss", "told"), [(nan, "nan from step 2 on"), (inf, "inf from step 2")])
def test_a_loss_that_is_not_finite_is_told_and_not_drawn(
    write: Write, loss: float, told: str
) -> None:
    found = losses_of(write("run", steps([4, loss], 2, {})))
    assert found.loss == ((1, 4.0),)
    assert found.broken_off.startswith(told)


def test_a_file_that_grew_is_read_again(write: Write) -> None:
    folder = write("run", steps([4], 2, {}))
    assert len(losses_of(folder).loss) == 1
    with folder.events.open("a") as file:
        file.write(Event(time=2, step=2, of=2, loss=3.0).model_dump_json() + "\n")
    assert len(losses_of(folder).loss) == 2
