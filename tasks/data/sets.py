"""The rows that a benchmark tests on and a group trains on: published, substitute or sample."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from tasks.base import Benchmark, DataFile, Group, Kind, Row
from tasks.data.files import TEST_FIELDS, TRAIN_FIELDS, DataError, locate, read
from tasks.samples.rows import test_rows, training_rows


@dataclass(frozen=True)
class DataSet:
    """Rows with their identity.

    Attributes:
        title: What it is, for messages and tables.
        kind: Published, substitute or sample.
        sha256: Of the file's uncompressed content, or of the generated rows.
        verified: False where there is no hash on record to check a file against.
        rows: All rows, in file order.
    """

    title: str
    kind: Kind
    sha256: str
    verified: bool
    rows: tuple[Row, ...]


def load_test(name: str, benchmark: Benchmark, folder: Path | None) -> DataSet:
    """Load the test set of the benchmark `name`: its sample where there is no data folder.

    Raises:
        DataError: The file is missing or not what it should be.
    """
    if folder is None:
        return _sample(f"{benchmark.title} sample", test_rows(name, benchmark))
    path = locate(benchmark.file, folder)
    if path is None:
        raise DataError(_missing([benchmark.file], folder))
    return _from_file(benchmark.file, path, TEST_FIELDS)


def load_training(
    name: str, group: Group, benchmarks: Iterable[Benchmark], folder: Path | None
) -> DataSet:
    """Load the training set of the group `name`: its sample where there is no data folder.

    Raises:
        DataError: No training file of the group is there, or it is not what it should be.
    """
    if folder is None:
        rows = training_rows(name, benchmarks, group.sample_rows)
        return _sample(f"{group.title} training sample", rows)
    for file in group.train:
        path = locate(file, folder)
        if path is not None:
            return _from_file(file, path, TRAIN_FIELDS)
    raise DataError(_missing(group.train, folder))


def _from_file(file: DataFile, path: Path, required: tuple[str, ...]) -> DataSet:
    rows, digest = read(file, path, required)
    return DataSet(file.title, file.kind, digest, file.sha256 is not None, rows)


def _sample(title: str, rows: tuple[Row, ...]) -> DataSet:
    written = json.dumps([asdict(row) for row in rows], sort_keys=True)
    return DataSet(title, "sample", sha256(written.encode()).hexdigest(), True, rows)


def _missing(files: Iterable[DataFile], folder: Path) -> str:
    tried = "\n".join(
        f"  {file.title}: {' or '.join(file.places)} (or with .gz), from {file.source}"
        for file in files
    )
    return f"{folder}: none of these files is there:\n{tried}"
