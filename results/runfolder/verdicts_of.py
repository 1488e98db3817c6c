"""From run folders to packed verdicts: what tests over items need to know of a run."""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha256

from results.record import Verdicts
from results.runfolder import files
from results.runfolder.folder import RunFolder


def verdicts_of(folder: RunFolder) -> tuple[Verdicts, ...]:
    """Read which rows of each judged benchmark the headline extractor found right.

    Nothing of a run that did not finish.

    Raises:
        RunFolderError: A file is damaged.
    """
    result = folder.result()
    with files.naming(folder.path):
        return tuple(
            _verdicts(folder, score.benchmark, score.extractor)
            for score in (result.scores if result else ())
            if score.headline and score.extractor and folder.has_verdicts(score.benchmark)
        )


def _verdicts(folder: RunFolder, benchmark: str, extractor: str) -> Verdicts:
    judged = sorted(folder.verdicts(benchmark), key=lambda one: one.id)
    return Verdicts(
        benchmark=benchmark,
        rows=_identity(folder.spec()["tests"][benchmark]["sha256"], [one.id for one in judged]),
        n=len(judged),
        right=_packed(one.correct[extractor] for one in judged),
        clusters=_clusters(_prompts(folder, benchmark)),
    )


def _identity(data: str, ids: Sequence[int]) -> str:
    return sha256(json.dumps([data, ids]).encode()).hexdigest()[:16]


def _packed(right: Iterable[bool]) -> bytes:
    digits = "".join("1" if one else "0" for one in right)
    size = -(-len(digits) // 8)
    return int(digits.ljust(8 * size, "0") or "0", 2).to_bytes(size)


def _prompts(folder: RunFolder, benchmark: str) -> list[str]:
    """List the prompts in the order of the row ids; empty texts where they were not kept."""
    if not folder.has_generations(benchmark):
        return []
    return [one.prompt for one in sorted(folder.generations(benchmark), key=lambda one: one.id)]


def _clusters(prompts: Sequence[str]) -> tuple[int, ...] | None:
    """Number each row like the first one of its prompt."""
    first: dict[str, int] = {}
    found = tuple(first.setdefault(prompt, place) for place, prompt in enumerate(prompts))
    return found if all(prompts) and len(first) < len(prompts) else None
