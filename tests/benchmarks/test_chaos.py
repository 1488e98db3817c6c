"""Chaos in small, as `make chaos` plays it in full: real grids on `tiny`, and nothing is lost."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from benchmarks.chaos import all_methods, damages, disks, kills, parents, surroundings, users
from benchmarks.chaos.campaign import main
from benchmarks.chaos.grid import SMALL, Grid, slots
from benchmarks.chaos.rounds import Kept, Part, Round, go_on, table
from harness.scheduling.executors.contract import Executor


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Grid:
    return Grid(SMALL, tmp_path_factory.mktemp("undisturbed"))


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with slots() as one:
        yield one


@pytest.mark.parts
def test_nothing_is_lost_where_runs_and_workers_are_killed(
    small: Grid, executor: Executor, tmp_path: Path
) -> None:
    done = kills.of_runs(small, executor, 17)(Random(1), tmp_path)
    assert not done.lost
    assert done.counts["kills"] > 3


@pytest.mark.parts
def test_nothing_is_lost_where_the_command_is_killed(small: Grid, tmp_path: Path) -> None:
    done = kills.of_commands(small, 3)(Random(1), tmp_path)
    assert not done.lost
    assert done.counts["kills"]


@pytest.mark.parts
def test_a_grid_that_is_disturbed_in_every_way_loses_nothing(small: Grid, tmp_path: Path) -> None:
    done = all_methods.disturbed(small, 4, pause=1.0)(Random(1), tmp_path)
    assert not done.lost
    assert done.counts["disturbances"]


@pytest.mark.parts
def test_two_commands_finish_no_cell_twice(small: Grid, tmp_path: Path) -> None:
    assert parents.of_a_grid(small)(Random(1), tmp_path).lost == []


@pytest.mark.parts
def test_damaged_files_are_mended_named_or_refused(
    small: Grid, executor: Executor, tmp_path: Path
) -> None:
    places = damages.Places(small, tmp_path / "killed")
    done = damages.of_files(places, executor, 3)(Random(1), tmp_path)
    assert not done.lost
    assert done.counts["damages"] == 3


@pytest.mark.parts
def test_a_clock_that_is_set_back_loses_nothing(small: Grid, tmp_path: Path) -> None:
    assert surroundings.clock(small)(Random(1), tmp_path).lost == []


@pytest.mark.parts
def test_a_locked_store_loses_nothing(small: Grid, tmp_path: Path) -> None:
    assert surroundings.locked_store(small, 5)(Random(1), tmp_path).lost == []


@pytest.mark.parts
@pytest.mark.skipif(bool(disks.cannot()), reason=disks.cannot())
def test_a_full_disk_loses_nothing(small: Grid, tmp_path: Path) -> None:
    assert disks.full(small)(Random(1), tmp_path).lost == []


@pytest.mark.parts
@pytest.mark.skipif(bool(users.cannot()), reason=users.cannot())
def test_two_users_lose_nothing(small: Grid) -> None:
    with TemporaryDirectory() as place:  # other users cannot reach the folders of pytest
        assert users.two_users(small)(Random(1), Path(place)).lost == []


def test_rounds_go_on_where_they_stopped_and_add_up(tmp_path: Path) -> None:
    def play(random: Random, place: Path) -> Round:
        done = Round()
        done.counts.update({"kills": 2, f"drawn {random.random()}": 1})
        return done

    seconds = iter(range(100))
    known = {"runs": Part("kills", 6, play)}
    for _ in range(3):
        go_on(Kept(tmp_path), known, 2, now=lambda: next(seconds), say=lambda _: None)
    counts = Kept(tmp_path).counts("runs")
    assert counts["kills"] == 6
    assert len([one for one in counts if one.startswith("drawn")]) == 3  # no round is drawn twice
    assert "| `runs`: kills | 6 | 6 | 0 | 0 |" in table(Kept(tmp_path), known)


def test_what_was_lost_stays_with_its_folder(tmp_path: Path) -> None:
    def play(_: Random, place: Path) -> Round:
        (place / "evidence").touch()
        done = Round(lost=["a score"])
        done.counts["kills"] = 1
        return done

    go_on(Kept(tmp_path), {"runs": Part("kills", 1, play)}, 60, say=lambda _: None)
    assert Kept(tmp_path).lost == ["runs, runs-1: a score"]
    assert (tmp_path / "runs-1" / "evidence").exists()


def test_a_part_of_another_name_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), "run"]) == 2
    assert "runs" in capsys.readouterr().err
