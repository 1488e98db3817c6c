"""Whether a result still is what the worker wrote and follows from the files beside it."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from results.runfolder import files, sums
from results.runfolder.values import Result

RESULT = "result.json"
FOLLOWED = ("spec.json", "run.json", "environment.json", "training.json", "method.json")
MADE = ("adapter", "generations", "likelihoods", "verdicts")


def sealed(folder: Path, result: Result) -> Result:
    """Give a result the sums of the files that it follows from, and of itself.

    Verdicts are made again with a result; sums of all other files are those of when they were
    written, so that a file that was changed since does not count as the run's own.
    """
    known = {**sums.read(folder), **result.sha256}
    noted = {
        name: known[name] if name in known and not _is_judged(name) else sums.of(folder / name)
        for name in _names(folder)
    }
    whole = result.model_copy(update={"sha256": noted})
    own = _own(json.loads(whole.model_dump_json()))
    return result.model_copy(update={"sha256": {**noted, RESULT: own}})


def edited(folder: Path, *, adapter: bool = False) -> list[str]:
    """Name the files of a finished run that are not those of the run, or from which it follows not.

    Args:
        folder: Of the run.
        adapter: Whether to look at the weights too, which takes long and moves no score.
    """
    written = files.read_object(folder / RESULT)
    noted = dict(written.get("sha256", {}))
    own = noted.pop(RESULT, "")
    changed = [
        name
        for name in noted
        if (adapter or not name.startswith("adapter/")) and sums.differs(folder, name, noted)
    ]
    counted = not any(map(_is_judged, changed))
    if (own and own != _own(written)) or (counted and any(_miscounted(folder, written))):
        changed.append(RESULT)
    return changed


def _miscounted(folder: Path, written: dict[str, Any]) -> Iterator[bool]:
    """Count the right answers again, for each score that is a share of them."""
    for score in written["scores"]:
        path = folder / "verdicts" / f"{score['benchmark']}.jsonl"
        if score["metric"] == "accuracy" and path.is_file():
            # Verdicts that cannot be read are named where they are stored.
            with suppress(files.RunFolderError), files.naming(path):
                judged = [one["correct"][score["extractor"]] for one in files.read_lines(path)]
                yield len(judged) != score["n"] or sum(judged) != round(score["value"] * score["n"])


def _names(folder: Path) -> list[str]:
    below = (path for kind in MADE for path in sorted((folder / kind).rglob("*")))
    # The card is written after the result.
    found = [path for path in below if path.name != "README.md"]
    paths = [*(folder / name for name in FOLLOWED), *found]
    return [str(path.relative_to(folder)) for path in paths if path.is_file()]


def _is_judged(name: str) -> bool:
    return name.startswith("verdicts/")


def _own(written: dict[str, Any]) -> str:
    """Hash a result without its sum of itself."""
    others = {name: one for name, one in written["sha256"].items() if name != RESULT}
    text = json.dumps({**written, "sha256": others}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
