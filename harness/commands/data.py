"""What `harness data` does: which files are there, fetching, checking, contamination."""

from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from rich.progress import DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from harness import plugins
from harness.commands.catalogue import Listing, table
from harness.errors import UserError, unknown
from harness.scheduling.progress import console
from tasks.contract import Benchmark, DataFile, Group, Row
from tasks.data import contamination
from tasks.data.fetch import fetch as fetch_file
from tasks.data.files import TRAIN_FIELDS, DataError, locate, read, uncompressed
from tasks.data.sets import load_own, load_test, load_training, required


def status(folder: Path | None) -> Listing:
    """Say of every known data file whether it is there, and which groups can run."""
    if folder is None:
        return _no_folder()
    _check(folder)
    rows = [
        {
            "file": file.title,
            "for": use,
            "there": _presence(file, folder),
            "rows": file.rows,
            "kind": file.kind,
            "licence": file.licence,
            "source": file.source,
        }
        for use, file, _ in _files()
    ]
    groups = [{"group": name, "can run": _readiness(name, folder)} for name in _groups()]
    return Listing(f"{table(rows)}\n\n{table(groups)}", {"files": rows, "groups": groups})


def verify(folder: Path | None) -> Listing:
    """Read every known data file that is there: each row, the number of rows, the SHA-256."""
    if folder is None:
        return _no_folder()
    _check(folder)
    rows = [
        {"file": file.title, "for": use, "verdict": _verdict(file, path, benchmark)}
        for use, file, benchmark in _files()
        if (path := locate(file, folder))
    ]
    if not rows:
        raise UserError(f"{folder}: none of the known data files is there.")
    return Listing(table(rows), rows, all(row["verdict"].startswith("right") for row in rows))


def fetch(name: str, folder: Path | None) -> Listing:
    """Download the files of a group that are missing, and say how each ended."""
    if folder is None:
        raise UserError("Where to? Name a folder with --data DIR or HARNESS_DATA.")
    rows = [
        {"file": file.title, "outcome": _fetched(file, folder)}
        for _, file, _ in _files([_known_group(name)])
        if file.kind == "published"
    ]
    sound = all(not row["outcome"].startswith("not ") for row in rows)
    return Listing("\n".join(f"{row['file']}: {row['outcome']}" for row in rows), rows, sound)


def contaminated(name: str, folder: Path | None, train_data: Path | None) -> Listing:
    """Report which test rows of a group are in its training set, and what benchmarks share."""
    group = plugins.group(_known_group(name))
    _check(folder)
    benchmarks = {one: plugins.benchmark(one) for one in group.benchmarks}
    tests = {
        one: [row.question for row in load_test(one, benchmark, folder).rows]
        for one, benchmark in benchmarks.items()
        if folder is None or _found(benchmark, folder)
    }
    if not tests:
        raise UserError(f"{folder}: no test set of {name} is there.")
    training = _training(name, group, list(benchmarks.values()), folder, train_data)
    report = contamination.report((row.question for row in training), tests)
    found = [
        {
            "benchmark": one,
            "rows": findings.n,
            "exact": len(findings.exact),
            "numbers masked": len(findings.masked),
            "13-gram": len(findings.ngram),
        }
        for one, findings in report.benchmarks.items()
    ]
    shared = [asdict(overlap) for overlap in report.overlaps]
    texts = []
    if training:
        head = f"Test rows of {name} found among {len(training)} training rows:"
        texts.append(f"{head}\n\n{table(found)}")
    if shared:
        texts.append(f"Questions that two benchmarks share:\n\n{table(shared)}")
    none = f"No two benchmarks of {name} share a question."
    return Listing("\n\n".join(texts) or none, asdict(report))


def _training(
    name: str,
    group: Group,
    benchmarks: list[Benchmark],
    folder: Path | None,
    train_data: Path | None,
) -> tuple[Row, ...]:
    if train_data is not None:
        return load_own(train_data, group, to_train=False).rows
    if group.folds:
        return ()  # It trains on its own rows, and its folds keep duplicates together.
    return load_training(name, group, benchmarks, folder).rows


def _groups() -> list[str]:
    return plugins.names("groups")


def _known_group(name: str) -> str:
    if name not in _groups():
        raise UserError(unknown("group", name, _groups()))
    return name


def _files(groups: list[str] | None = None) -> list[tuple[str, DataFile, Benchmark | None]]:
    """List use, file and benchmark of every file of some groups, each file once."""
    found: dict[DataFile, tuple[str, DataFile, Benchmark | None]] = {}
    for name in groups or _groups():
        group = plugins.group(name)
        for one in group.benchmarks:
            benchmark = plugins.benchmark(one)
            for file in benchmark.files:
                found.setdefault(file, (one, file, benchmark))
        for file in group.train:
            found.setdefault(file, (f"{name} training", file, None))
    return list(found.values())


def _found(benchmark: Benchmark, folder: Path) -> bool:
    return any(locate(file, folder) for file in benchmark.files)


def _readiness(name: str, folder: Path) -> str:
    group = plugins.group(name)
    missing = [one for one in group.benchmarks if not _found(plugins.benchmark(one), folder)]
    if group.train and not any(locate(file, folder) for file in group.train):
        missing.append("a training set")
    return f"without {', '.join(missing)}" if missing else "yes"


def _presence(file: DataFile, folder: Path) -> str:
    path = locate(file, folder)
    if path is None:
        return "absent"
    place = str(path.relative_to(folder))
    try:
        same = file.sha256 in (None, sha256(uncompressed(path)).hexdigest())
    except DataError as error:
        return str(error)
    return place if same else f"{place}, but with another SHA-256"


def _verdict(file: DataFile, path: Path, benchmark: Benchmark | None) -> str:
    try:
        if benchmark is None:
            rows, digest = read(file, path, TRAIN_FIELDS)
        else:
            rows, digest = read(file, path, required(benchmark), benchmark.check_gold)
    except DataError as error:
        return str(error)
    checked = "SHA-256 as on record" if file.sha256 else f"no SHA-256 on record, here {digest}"
    return f"right: {len(rows)} rows, {checked}"


def _fetched(file: DataFile, folder: Path) -> str:
    columns = (TextColumn("{task.description}"), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console()) as display:
        task = display.add_task(file.title, total=None)

        def progress(done: int, of: int | None) -> None:
            display.update(task, completed=done, total=of)

        try:
            return f"at {fetch_file(file, folder, progress)}"
        except DataError as error:
            return f"not fetched: {error}"


def _check(folder: Path | None) -> None:
    if folder is not None and not folder.is_dir():
        raise UserError(f"{folder}: no such folder. Name that of the data with --data.")


def _no_folder() -> Listing:
    text = "No data folder is given (--data or HARNESS_DATA): runs use generated samples."
    return Listing(text, [])
