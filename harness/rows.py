"""The rows of a run: what it trains on, validates on and is tested on."""

from dataclasses import dataclass
from pathlib import Path

from harness import plugins
from harness.runfolder import Job
from harness.spec import Data
from tasks.base import Row
from tasks.data.files import DataError
from tasks.data.sets import DataSet, divide, load_own, load_test, load_training


@dataclass(frozen=True)
class Rows:
    """Rows by their use; no validation rows where they are still to be drawn from the training."""

    train: tuple[Row, ...]
    validation: tuple[Row, ...]
    tests: dict[str, tuple[Row, ...]]


def load(job: Job) -> Rows:
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
        train = _unchanged(_training(job, folder), spec.train_data).rows
        validation: tuple[Row, ...] = ()
        tests = {name: one.rows for name, one in sets.items()}
    else:
        count = plugins.group(spec.group).folds
        division = divide(sets, count, spec.fold, spec.seeds.split)
        train, validation = division.train, division.validation
        tests = dict(division.tests)
    limited = {name: rows[: spec.limit] for name, rows in tests.items()}
    return Rows(train[: spec.train_limit], validation, limited)


def _training(job: Job, folder: Path | None) -> DataSet:
    group = plugins.group(job.spec.group)
    if job.train_file is not None:
        return load_own(Path(job.train_file), group)
    benchmarks = [plugins.benchmark(name) for name in group.benchmarks]
    return load_training(job.spec.group, group, benchmarks, folder)


def _unchanged(found: DataSet, planned: Data) -> DataSet:
    if found.sha256 != planned.sha256:
        raise DataError(
            f"{found.title}: its SHA-256 is {found.sha256}, that of the run is {planned.sha256}. "
            "Put the data back, or run anew."
        )
    return found
