"""By which version and commit of the harness runs were made."""

from collections.abc import Iterable

from results.analysis.series import unique
from results.record import Run


def versions(runs: Iterable[Run]) -> tuple[str, ...]:
    """Give each version once; commit and version change no identity of an environment."""
    return unique([version] for run in runs if (version := _version(run)))


def _version(run: Run) -> str:
    """Write version and commit as far as they are known.

    A wheel of an older version knows neither.
    """
    harness = run.environment.get("harness") or {}
    commit = harness.get("commit", "")[:10]
    changed = " with changes" if commit and harness.get("dirty") else ""
    parts = [harness.get("version", ""), f"commit {commit}{changed}" if commit else ""]
    return ", ".join(filter(None, parts))
