"""By which version and commit of the harness runs were made."""

from collections.abc import Iterable

from results.analysis.series import unique
from results.record import Run


def versions(runs: Iterable[Run]) -> tuple[str, ...]:
    """Give each version once; commit and version change no identity of an environment."""
    return unique([version] for run in runs if (version := _version(run)))


CHANGED = "the harness had uncommitted changes"


def changed(run: Run) -> tuple[str, ...]:
    """Say so if the files of the harness differed from their commit when a run was made."""
    harness = run.environment.get("harness") or {}
    return (CHANGED,) if harness.get("dirty") else ()


def _version(run: Run) -> str:
    """Write version and commit as far as they are known.

    A wheel of an older version knows neither.
    """
    harness = run.environment.get("harness") or {}
    commit = harness.get("commit", "")[:10]
    differing = " with changes" if commit and changed(run) else ""
    parts = [harness.get("version", ""), f"commit {commit}{differing}" if commit else ""]
    return ", ".join(filter(None, parts))
