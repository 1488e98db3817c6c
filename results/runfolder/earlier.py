"""What the last attempt at a run has of those before it: answers, and where these were made."""

from contextlib import suppress
from itertools import takewhile

from results.runfolder import attempts
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.values import Environment

MADE = {"generate": "generations", "likelihood": "likelihoods"}
"""The folder of what a phase makes."""

DIGITS = 8
"""Of the identity of an environment that is named."""


def seconds(folder: RunFolder) -> dict[str, float]:
    """Sum up by phase what was spent on answers and likelihoods, if any of them are kept."""
    phases = [phase for phase, made in MADE.items() if any((folder.path / made).glob("*"))]
    before = attempts.attempts(folder)[:-1]
    spent = {phase: sum(one.seconds.get(phase, 0.0) for one in before) for phase in phases}
    return {phase: total for phase, total in spent.items() if total}


def peak_memory_bytes(folder: RunFolder) -> int:
    """Give the most memory that was held since the last attempt that had too little of it."""
    before = reversed(attempts.attempts(folder)[:-1])
    since = takewhile(lambda one: one.kind != "memory", before)
    return max((one.peak_memory_bytes for one in since), default=0)


def begun(folder: RunFolder, now: Environment) -> Environment:
    """Say of an environment in which others the run was begun, if any of its work is kept."""
    before: Environment | None = None
    with suppress(RunFolderError):  # of a damaged file nothing is known
        before = folder.environment()
    if before is None or not _is_any_kept(folder):
        return now
    others = {*(before.begun or "").split("; "), _named(before)} - {"", _named(now)}
    return now.model_copy(update={"begun": "; ".join(sorted(others)) or None})


def _named(environment: Environment) -> str:
    alone = environment.model_copy(update={"begun": None})
    return f"on {alone.device} by torch {alone.torch} (environment {alone.identity[:DIGITS]})"


def _is_any_kept(folder: RunFolder) -> bool:
    kept = ("training.json", "checkpoints/*", *(f"{made}/*" for made in MADE.values()))
    return any(one for pattern in kept for one in folder.path.glob(pattern))
