"""The folder of a build, which replaces what an earlier build wrote there, and nothing else."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from results.errors import ResultsError

LIST = "files.txt"
"""In the folder: the names of the files that builds wrote, a line each."""

STAGE = ".building"
"""In the folder while a build writes; what a killed one leaves is removed by the next."""


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """Give a folder to write all files into before `place` puts them below `out`.

    Raises:
        ResultsError: There are files in `out`, and no build wrote into it.
    """
    if not (out / LIST).exists() and _visible(out):
        raise ResultsError(
            f"{out} holds files, and no build wrote into it.\n"
            "  Please name a folder that is new or empty, or one of an earlier build."
        )
    stage = out / STAGE
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    try:
        yield stage
    finally:
        shutil.rmtree(stage)


def place(stage: Path, out: Path, names: Sequence[str]) -> None:
    """Move files from `stage` to `out` in the order of `names`, then remove those of before.

    Whoever looks meanwhile, or whatever ends it, each file is an old or a new one. If a file comes
    after those that it links to, no link leads nowhere.
    """
    before = _listed(out)
    # Listed before they are there: a build that is killed here leaves no file without an owner.
    _write_list(stage, out, before.union(names))
    for name in names:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (stage / name).replace(out / name)
    _remove(out, before.difference(names))
    _write_list(stage, out, names)


def _visible(out: Path) -> bool:
    return out.exists() and any(not one.name.startswith(".") for one in out.iterdir())


def _listed(out: Path) -> set[str]:
    path = out / LIST
    return set(path.read_text(encoding="utf-8").splitlines()) if path.exists() else set()


def _write_list(stage: Path, out: Path, names: Iterable[str]) -> None:
    partial = stage / LIST
    partial.write_text("".join(f"{name}\n" for name in sorted(names)), encoding="utf-8")
    partial.replace(out / LIST)


def _remove(out: Path, names: Iterable[str]) -> None:
    """Remove files that are below `out`, whatever a list names, and folders that this empties."""
    for path in [one for one in out.rglob("*") if one.relative_to(out).as_posix() in names]:
        path.unlink()
        for folder in path.relative_to(out).parents[:-1]:
            if not any((out / folder).iterdir()):
                (out / folder).rmdir()
