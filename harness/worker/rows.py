"""The rows of a run: what it trains on, validates on and is tested on."""

from dataclasses import dataclass
from pathlib import Path

from harness import plugins
from harness.spec.planned import PlannedRun
from harness.spec.spec import Data
from tasks.contract import Row
from tasks.data.files import DataError
from tasks.data.sets import DataSet, divide, load_test, training_set


@dataclass(frozen=True)
class Rows:
    """Rows by their use; `validation` is empty where it is drawn from the training rows later."""

    train: tuple[Row, ...]
    validation: tuple[Row, ...]
    tests: dict[str, tuple[Row, ...]]


def load(planned: PlannedRun) -> Rows:
    """Load the rows of a run, as many as its spec says.

    Raises:
        DataError: A file is missing, not what it should be, or not what it was at planning.
    """
    spec = planned.spec
    folder = None if planned.data_folder is None else Path(planned.data_folder)
    group = plugins.group(spec.group)
    sets = {
        name: _unchanged(load_test(name, plugins.benchmark(name), folder), data)
        for name, data in spec.tests.items()
    }
    if spec.fold is None:
        file = None if planned.train_file is None else Path(planned.train_file)
        benchmarks = [plugins.benchmark(name) for name in group.benchmarks]
        training = training_set(spec.group, group, benchmarks, folder, file)
        train = _unchanged(training, spec.train_data).rows
        validation: tuple[Row, ...] = ()
        tests = {name: test.rows for name, test in sets.items()}
    else:
        division = divide(sets, group.folds, spec.fold, spec.seeds.split)
        train, validation = division.train, division.validation
        tests = dict(division.tests)
    limited = {name: rows[: spec.limit] for name, rows in tests.items()}
    return Rows(train[: spec.train_limit], validation, limited)


def _unchanged(loaded: DataSet, planned: Data) -> DataSet:
    if loaded.sha256 != planned.sha256:
        raise DataError(
            f"{loaded.title}: its SHA-256 is {loaded.sha256}, that of the run is {planned.sha256}. "
            "Put the data back, or rerun the command to plan with the new data."
        )
    return loaded
