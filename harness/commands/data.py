"""The commands of `harness data`: status, verify, fetch and contamination."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from rich.progress import DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from harness import plugins
from harness.commands.report import Report, table
from harness.errors import UserError
from harness.planning.faults import Faults
from harness.planning.parse import Tasks, parse_tasks
from harness.scheduling.progress import console
from tasks.contract import Benchmark, DataFile, Group, Row
from tasks.data import contamination
from tasks.data.fetch import UnreachableHostError
from tasks.data.fetch import fetch as fetch_file
from tasks.data.files import TRAIN_FIELDS, DataError, locate, read, uncompressed
from tasks.data.sets import columns_of, load_own, load_test, load_training, required


@dataclass(frozen=True)
class KnownFile:
    """A data file with its use.

    Attributes:
        use: The benchmark that is tested on it, or the group that is trained on it.
        file: The file.
        benchmark: The benchmark; None if the file is to train on.
    """

    use: str
    file: DataFile
    benchmark: Benchmark | None


def status(folder: Path | None, *, wide: bool = False) -> Report:
    """Report for each known data file whether it is there, and for each group whether it can run.

    Where the files come from is only in JSON and in the `wide` table.

    Raises:
        UserError: There is no such folder.
    """
    if folder is None:
        return _samples_only()
    _check_folder(folder)
    known_files = _known_files(_all_tasks())
    files = [
        {
            "file": known.file.title,
            "for": known.use,
            "there": _presence(known.file, folder),
            "rows": known.file.rows,
            "kind": known.file.kind,
            "licence": known.file.licence,
        }
        for known in known_files
    ]
    full = [
        {
            **row,
            "source": known.file.source,
            "places": known.file.places,
            "sha256": known.file.sha256,
            "address": known.file.address,
        }
        for row, known in zip(files, known_files, strict=True)
    ]
    groups = [{"group": name, "can run": _readiness(name, folder)} for name in plugins.groups()]
    shown = [{**row, "source": one["source"]} for row, one in zip(files, full, strict=True)]
    return Report(
        f"{table(shown if wide else files, wide=wide)}\n\n{table(groups, wide=wide)}",
        {"files": full, "groups": groups},
        notes=plugins.notes("tasks", "groups"),
    )


def verify(folder: Path | None) -> Report:
    """Check each known data file that is there: every row, the number of rows, the SHA-256.

    Raises:
        UserError: There is no such folder, or no known file in it.
    """
    if folder is None:
        return _samples_only()
    _check_folder(folder)
    rows = [
        {"file": known.file.title, "for": known.use, "verdict": _verdict(known, path)}
        for known in _known_files(_all_tasks())
        if (path := locate(known.file, folder))
    ]
    if not rows:
        raise UserError(f"{folder}: none of the known data files is there.")
    return Report(table(rows), rows, all(row["verdict"].startswith("right") for row in rows))


def fetch(tasks: str, folder: Path | None) -> Report:
    """Fetch the missing published files of groups and benchmarks, and report each outcome.

    Raises:
        UserError: No folder is given, or there is no such group or benchmark.
    """
    if folder is None:
        raise UserError("Where to? Name a folder with --data DIR or HARNESS_DATA.")
    unreachable: set[str | None] = set()
    rows = [
        {"file": known.file.title, "outcome": _fetched(known.file, folder, unreachable)}
        for known in _known_files(parse_tasks(tasks))
        if known.file.kind == "published"
    ]
    sound = all(not row["outcome"].startswith("not ") for row in rows)
    return Report("\n".join(f"{row['file']}: {row['outcome']}" for row in rows), rows, sound)


def contaminated(tasks: str, folder: Path | None, train_data: Path | None) -> Report:
    """Report which test rows are in the training set of their group, and what benchmarks share.

    Raises:
        UserError: There is no such group, benchmark or folder, or no test set in the folder.
        DataError: A data file is not what it should be.
    """
    _check_folder(folder)
    faults = Faults()
    found = faults.each(
        lambda one: (one.group, *_contaminated(one, folder, train_data)), parse_tasks(tasks)
    )
    faults.raise_if_any()
    text = "\n\n".join(text for _, text, _ in found)
    return Report(text, {group: asdict(report) for group, _, report in found})


def _contaminated(
    tasks: Tasks, folder: Path | None, train_data: Path | None
) -> tuple[str, contamination.Report]:
    name, group = tasks.group, plugins.group(tasks.group)
    benchmarks = {test: plugins.benchmark(test) for test in tasks.benchmarks}
    questions = {
        test: [row.question for row in load_test(test, benchmark, folder).rows]
        for test, benchmark in benchmarks.items()
        if folder is None or _is_there(benchmark.files, folder)
    }
    if not questions:
        raise UserError(f"{folder}: no test set of {name} is there.")
    if train_data is not None:
        columns = columns_of(benchmarks.values())
        training = load_own(train_data, group, to_train=False, columns=columns).rows
    else:
        training = _training_rows(name, group, folder)
    report = contamination.report((row.question for row in training), questions)
    return _contamination_text(name, len(training), report), report


def _training_rows(name: str, group: Group, folder: Path | None) -> tuple[Row, ...]:
    if group.folds:
        return ()  # It trains on its own rows, and its folds keep duplicates together.
    benchmarks = [plugins.benchmark(test) for test in group.benchmarks]
    return load_training(name, group, benchmarks, folder).rows


def _contamination_text(name: str, training_rows: int, report: contamination.Report) -> str:
    texts = []
    if training_rows:
        counts = [
            {
                "benchmark": test,
                "rows": findings.n,
                "exact": len(findings.exact),
                "numbers masked": len(findings.masked),
                "13-gram": len(findings.ngram),
            }
            for test, findings in report.benchmarks.items()
        ]
        head = f"Test rows of {name} found among {training_rows} training rows:"
        texts.append(f"{head}\n\n{table(counts)}")
    if report.overlaps:
        shared = [asdict(overlap) for overlap in report.overlaps]
        texts.append(f"Questions that two benchmarks share:\n\n{table(shared)}")
    return "\n\n".join(texts) or f"No two benchmarks of {name} share a question."


def _all_tasks() -> list[Tasks]:
    return [Tasks(name, plugins.group(name).benchmarks) for name in plugins.groups()]


def _known_files(several: Iterable[Tasks]) -> list[KnownFile]:
    """List the files to test and to train on; a file of several groups is listed once."""
    files: dict[DataFile, KnownFile] = {}
    for tasks in several:
        for test in tasks.benchmarks:
            benchmark = plugins.benchmark(test)
            for file in benchmark.files:
                files.setdefault(file, KnownFile(test, file, benchmark))
        for file in plugins.group(tasks.group).train:
            files.setdefault(file, KnownFile(f"{tasks.group} training", file, None))
    return list(files.values())


def _is_there(files: Sequence[DataFile], folder: Path) -> bool:
    return any(locate(file, folder) for file in files)


def _readiness(name: str, folder: Path) -> str:
    group = plugins.group(name)
    missing = [
        test for test in group.benchmarks if not _is_there(plugins.benchmark(test).files, folder)
    ]
    if group.train and not _is_there(group.train, folder):
        missing.append("a training set")
    return f"without {', '.join(missing)}" if missing else "yes"


def _presence(file: DataFile, folder: Path) -> str:
    path = locate(file, folder)
    if path is None:
        return "absent"
    place = str(path.relative_to(folder) if path.is_relative_to(folder) else path)
    try:
        is_on_record = file.sha256 in (None, sha256(uncompressed(path)).hexdigest())
    except DataError as error:
        return str(error)
    return place if is_on_record else f"{place}, but with another SHA-256"


def _verdict(known: KnownFile, path: Path) -> str:
    file, benchmark = known.file, known.benchmark
    try:
        if benchmark is None:
            rows, digest = read(file, path, TRAIN_FIELDS)
        else:
            rows, digest = read(file, path, required(benchmark), benchmark.check_gold)
    except DataError as error:
        return str(error)
    checked = "SHA-256 as on record" if file.sha256 else f"no SHA-256 on record, here {digest}"
    return f"right: {len(rows)} rows, {checked}"


def _fetched(file: DataFile, folder: Path, unreachable: set[str | None]) -> str:
    """Fetch a file, unless its host was not reached before; add a host that is not reached."""
    columns = (TextColumn("{task.description}"), DownloadColumn(), TimeRemainingColumn())
    host = urlsplit(file.address or "").hostname
    with Progress(*columns, console=console()) as display:
        task = display.add_task(file.title, total=None)

        def progress(done: int, total: int | None) -> None:
            display.update(task, completed=done, total=total)

        try:
            return f"at {fetch_file(file, folder, progress, ask=host not in unreachable)}"
        except DataError as error:
            if isinstance(error, UnreachableHostError):
                unreachable.add(host)
            return f"not fetched: {error}"


def _check_folder(folder: Path | None) -> None:
    if folder is not None and not folder.is_dir():
        raise UserError(f"{folder}: no such folder. Name that of the data with --data.")


def _samples_only() -> Report:
    text = "No data folder is given (--data or HARNESS_DATA): runs use generated samples."
    return Report(text, [])
