"""The rows that a benchmark tests on and a group trains on: published, substitute or sample."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import chain, zip_longest
from pathlib import Path

from tasks.contract import Benchmark, Columns, DataFile, Group, Kind, Row
from tasks.data.files import (
    TEST_FIELDS,
    TRAIN_FIELDS,
    DataError,
    locate,
    read,
    read_any,
    uncompressed,
)
from tasks.data.splits import split_fold
from tasks.samples.rows import test_rows, training_rows

LEAKY = {
    "1d06633b4db748b7cfa38f2891f8d7b17b3636717b3188dd382045b94cf999a7": (
        "LLM-Adapters' math_data.json, an 80 % copy of the test sets of mathematics"
    ),
}
"""Files that hold test rows and must not be trained on, by hash of their content."""


@dataclass(frozen=True)
class DataSet:
    """Rows with their identity.

    Attributes:
        title: What it is, for messages and tables.
        kind: Published, substitute, sample, or a file of the user's.
        sha256: Of the file's uncompressed content, or of the generated rows.
        verified: False where there is no hash on record to check a file against.
        rows: All rows, in file order.
    """

    title: str
    kind: Kind
    sha256: str
    verified: bool
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Division:
    """What is trained on, validated on and tested on in one fold."""

    train: tuple[Row, ...]
    validation: tuple[Row, ...]
    tests: Mapping[str, tuple[Row, ...]]


def required(benchmark: Benchmark) -> tuple[str, ...]:
    """Name the fields that a row of a benchmark must have."""
    return TEST_FIELDS if benchmark.extractors else TRAIN_FIELDS


def load_test(name: str, benchmark: Benchmark, folder: Path | None) -> DataSet:
    """Load the test set of the benchmark `name`: its sample where there is no data folder.

    A file of the user's is read with a data folder and without one.

    Raises:
        DataError: The file is missing or not what it should be.
    """
    if benchmark.file.kind == "own":
        own = Path(benchmark.file.places[0])
        rows, digest = read(benchmark.file, own, required(benchmark), benchmark.check_gold)
        return _identified(benchmark.files, benchmark.file, digest, rows)
    if folder is None:
        return _sample(f"{benchmark.title} sample", test_rows(name, benchmark))
    for file in benchmark.files:
        path = locate(file, folder)
        if path is not None:
            rows, digest = read(file, path, required(benchmark), benchmark.check_gold)
            return _identified(benchmark.files, file, digest, rows)
    raise DataError(_missing(benchmark.files, folder))


def load_training(
    name: str, group: Group, benchmarks: Iterable[Benchmark], folder: Path | None
) -> DataSet:
    """Load the training set of the group `name`: its sample where there is no data folder.

    Raises:
        DataError: No training file of the group is there, or it is not what it should be.
    """
    own = next((file for file in group.train if file.kind == "own"), None)
    if own is not None:
        return load_own(Path(own.places[0]), group, columns=own.columns)
    if folder is None:
        rows = training_rows(name, benchmarks, group.sample_rows)
        return _sample(f"{group.title} training sample", rows)
    for file in group.train:
        path = locate(file, folder)
        if path is not None:
            rows, digest = read(file, path, TRAIN_FIELDS)
            return _identified(group.train, file, digest, rows)
    raise DataError(_missing(group.train, folder))


def training_set(
    name: str,
    group: Group,
    benchmarks: Iterable[Benchmark],
    folder: Path | None,
    file: Path | None,
) -> DataSet:
    """Load what the group `name` trains on: the user's file if there is one, else its own set.

    Args:
        name: The name of the group, which its sample is drawn for.
        group: The group.
        benchmarks: Its benchmarks, whose forms the sample is drawn from.
        folder: The data folder; None for samples.
        file: The user's training file, if any.

    Raises:
        DataError: It is missing, is not what it should be, or holds test rows.
    """
    if file is None:
        return load_training(name, group, benchmarks, folder)
    return load_own(file, group, columns=columns_of(benchmarks))


def columns_of(benchmarks: Iterable[Benchmark]) -> Columns | None:
    """Return the columns that a file to train on may have, those of the first user's file."""
    named = (benchmark.file.columns for benchmark in benchmarks if benchmark.file.columns)
    return next(named, None)


def load_own(
    path: Path, group: Group, *, to_train: bool = True, columns: Columns | None = None
) -> DataSet:
    """Load a training file that the user names; it is a known one if its content is.

    Args:
        path: The file.
        group: Whose training sets are known.
        to_train: Whether it is to be trained on, or only looked at.
        columns: The columns that it may have, where the user names them.

    Raises:
        DataError: It is not what it should be, or it is to be trained on and holds test rows.
    """
    known_as = LEAKY.get(sha256(uncompressed(path)).hexdigest())
    if known_as and to_train:
        raise DataError(f"{path}: {known_as}: what is trained on it is tested on it too.")
    rows, digest = read_any(path, TRAIN_FIELDS if to_train else ("instruction",), columns)
    known = next((file for file in group.train if file.sha256 == digest), None)
    if known:
        return DataSet(known.title, known.kind, digest, True, rows)
    return DataSet(path.name, "own", digest, True, rows)


def pooled(group: Group, sets: Mapping[str, DataSet]) -> DataSet:
    """Describe what a group with folds trains on: the rows of all its sets together."""
    digests = json.dumps({name: data.sha256 for name, data in sorted(sets.items())})
    kinds = {data.kind for data in sets.values()}
    kind: Kind = next(k for k in ("sample", "own", "substitute", "published") if k in kinds)
    return DataSet(
        title=f"{group.title} rows of the other folds",
        kind=kind,
        sha256=sha256(digests.encode()).hexdigest(),
        verified=all(data.verified for data in sets.values()),
        rows=tuple(chain.from_iterable(data.rows for data in sets.values())),
    )


def divide(sets: Mapping[str, DataSet], count: int, fold: int, seed: int) -> Division:
    """Divide the rows of several sets for one of `count` folds, numbered from 0.

    The sets take turns in training and validation, so that the first rows are of all of them.
    """
    texts = {name: [row.question for row in data.rows] for name, data in sets.items()}
    parts = split_fold(texts, folds=count, fold=fold, seed=seed)

    def rows(name: str, places: Iterable[int]) -> tuple[Row, ...]:
        return tuple(sets[name].rows[place] for place in places)

    return Division(
        train=_in_turns([rows(name, part.train) for name, part in parts.items()]),
        validation=_in_turns([rows(name, part.validation) for name, part in parts.items()]),
        tests={name: rows(name, part.test) for name, part in parts.items()},
    )


def _in_turns(lists: list[tuple[Row, ...]]) -> tuple[Row, ...]:
    turns = chain.from_iterable(zip_longest(*lists))
    return tuple(row for row in turns if row is not None)


def _identified(
    files: Iterable[DataFile], file: DataFile, digest: str, rows: tuple[Row, ...]
) -> DataSet:
    """Name a set by its content, even if it lies in the place of another file."""
    known = next((other for other in files if other.sha256 == digest), file)
    verified = known.kind == "own" or known.sha256 is not None
    return DataSet(known.title, known.kind, digest, verified, rows)


def _sample(title: str, rows: tuple[Row, ...]) -> DataSet:
    written = json.dumps([asdict(row) for row in rows], sort_keys=True)
    return DataSet(title, "sample", sha256(written.encode()).hexdigest(), True, rows)


def _missing(files: Iterable[DataFile], folder: Path) -> str:
    tried = "\n".join(
        f"  {file.title}: {' or '.join(file.places)} (or with .gz), from {file.source}"
        for file in files
    )
    return f"{folder}: none of these files is there:\n{tried}"
