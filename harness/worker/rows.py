"""The rows of a run: what it trains on, validates on and is tested on."""

from dataclasses import dataclass
from pathlib import Path

from harness import plugins
from harness.spec.planned import PlannedRun
from harness.spec.spec import Data
from tasks.contract import Row
from tasks.data.files import DataError
from tasks.data.sets import DataSet, divide, load_own, load_test, load_training


@dataclass(frozen=True)
class Rows:
    """Rows by their use; no validation rows where they are still to be drawn from the training."""

    train: tuple[Row, ...]
    validation: tuple[Row, ...]
    tests: dict[str, tuple[Row, ...]]


def load(job: PlannedRun) -> Rows:
    """Load the rows of a run, as many as its spec says.

    Raises:
        DataError: A file is missing, not what it should be, or not what it was at planning.
    """
    spec = job.spec
    folder = None if job.data_folder is None else Path(job.data_folder)
    sets = {
        name: _unchanged(load_test(name, plugins.benchmark(name), folder), planned)
        for name, planned in spec.tests.items()
    }
    if spec.fold is None:
        file = None if job.train_file is None else Path(job.train_file)
        train = _unchanged(training_set(spec.group, folder, file), spec.train_data).rows
        validation: tuple[Row, ...] = ()
        tests = {name: one.rows for name, one in sets.items()}
    else:
        count = plugins.group(spec.group).folds
        division = divide(sets, count, spec.fold, spec.seeds.split)
        train, validation = division.train, division.validation
        tests = dict(division.tests)
    limited = {name: rows[: spec.limit] for name, rows in tests.items()}
    return Rows(train[: spec.train_limit], validation, limited)


def training_set(name: str, folder: Path | None, file: Path | None) -> DataSet:
    """Load what the group `name` trains on: the user's file if there is one, else its own set.

    Raises:
        DataError: It is missing, not what it should be, or holds the test sets.
    """
    group = plugins.group(name)
    if file is not None:
        return load_own(file, group)
    benchmarks = [plugins.benchmark(one) for one in group.benchmarks]
    return load_training(name, group, benchmarks, folder)


def _unchanged(found: DataSet, planned: Data) -> DataSet:
    if found.sha256 != planned.sha256:
        raise DataError(
            f"{found.title}: its SHA-256 is {found.sha256}, that of the run is {planned.sha256}. "
            "Put the data back, or run anew."
        )
    return found
