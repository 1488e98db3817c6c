"""The rows of a run: what it trains on, validates on and is tested on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from harness import plugins
from harness.errors import UserError
from harness.spec.planned import PlannedRun
from harness.spec.spec import Data
from harness.worker.kept import kept, stamps
from tasks.contract import Row
from tasks.data.contamination import contaminated, normalise
from tasks.data.files import locate
from tasks.data.sets import DataSet, divide, load_test, training_set


@dataclass(frozen=True)
class Rows:
    """Rows by their use; `validation` is empty where it is drawn from the training rows later."""

    train: tuple[Row, ...]
    validation: tuple[Row, ...]
    tests: dict[str, tuple[Row, ...]]


def load(planned: PlannedRun) -> Rows:
    """Load the rows of a run, as many as its spec says.

    What was read for an earlier run is taken again while its files are unchanged.

    Raises:
        DataError: A file is missing, or not what it should be.
        UserError: The rows are not those of the plan.
    """
    spec = planned.spec
    sources = Sources.of(planned)
    sets = _read_once(sources, stamps(sources.files())) if sources.ours else _read(sources)
    for name, data in spec.tests.items():
        _require_unchanged(sets.tests[name], data)
    if sets.training:
        _require_unchanged(sets.training, spec.train_data)
    # Without folds the rows are those of any seed, and what is kept of them is too.
    fold = None if spec.fold is None else (spec.fold, spec.seeds.split)
    return _divided(sets, spec.group, fold, (spec.limit, spec.train_limit))


@kept(64, rows=2)
def in_training(train: Sequence[Row], tested: Sequence[Row]) -> frozenset[int]:
    """Find the places of the tested rows whose question the training rows hold."""
    return contaminated(_normalised(train), [row.question for row in tested])


@kept(2)
def _normalised(train: Sequence[Row]) -> frozenset[str]:
    return frozenset(normalise(row.question) for row in train)


class Sources(NamedTuple):
    """Where the sets of a run come from; `file` is a training file of the user's, if any."""

    group: str
    benchmarks: tuple[str, ...]
    folds: bool
    folder: Path | None
    file: Path | None

    @classmethod
    def of(cls, planned: PlannedRun) -> "Sources":
        """Name the sources of a planned run."""
        spec, folder, file = planned.spec, planned.data_folder, planned.train_file
        return cls(
            spec.group,
            tuple(spec.tests),
            spec.fold is not None,
            None if folder is None else Path(folder),
            None if file is None else Path(file),
        )

    @property
    def ours(self) -> bool:
        """Whether no guest has a part in it, whose code may change from run to run."""
        named = (*self.benchmarks, *self.group.split("+"))
        guests = [name for name in named if plugins.is_guest("tasks", name)]
        return not guests and not plugins.is_guest("groups", self.group)

    def files(self) -> Iterator[Path]:
        """Find the files that are there, of which one for each set is read."""
        if self.file:
            yield self.file
        if self.folder:
            offered = [plugins.benchmark(name).files for name in self.benchmarks]
            for file in (
                *plugins.group(self.group).train,
                *(f for files in offered for f in files),
            ):
                if path := locate(file, self.folder):
                    yield path


@dataclass(frozen=True, eq=False)
class Sets:
    """The sets of a run, whole; none to train on in a group with folds."""

    tests: Mapping[str, DataSet]
    training: DataSet | None


def _read(sources: Sources) -> Sets:
    group = plugins.group(sources.group)
    tests = {
        name: load_test(name, plugins.benchmark(name), sources.folder)
        for name in sources.benchmarks
    }
    if sources.folds:
        return Sets(tests, None)
    members = [plugins.benchmark(name) for name in group.benchmarks]
    return Sets(tests, training_set(sources.group, group, members, sources.folder, sources.file))


@lru_cache(3)
def _read_once(sources: Sources, stamped: tuple[object, ...]) -> Sets:
    return _read(sources)


@lru_cache(8)
def _divided(
    sets: Sets,
    group: str,
    fold: tuple[int, int] | None,
    limits: tuple[int | None, int | None],
) -> Rows:
    if fold is None:
        assert sets.training
        train, validation = sets.training.rows, tuple[Row, ...]()
        tests = {name: data.rows for name, data in sets.tests.items()}
    else:
        division = divide(sets.tests, plugins.group(group).folds, *fold)
        train, validation = division.train, division.validation
        tests = dict(division.tests)
    tested, trained = limits
    return Rows(train[:trained], validation, {name: rows[:tested] for name, rows in tests.items()})


def _require_unchanged(loaded: DataSet, planned: Data) -> None:
    if loaded.sha256 != planned.sha256:
        raise UserError(
            f"{loaded.title}: its SHA-256 is {loaded.sha256}, that of the run is {planned.sha256}. "
            "Put the data back, or rerun the command to plan with the new data."
        )
