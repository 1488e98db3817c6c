"""Environments of different stacks are eras: runs of two share a table only on request."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from results.record import Run

POOLED = "pooled"
"""The environment of runs that were pooled over several."""

DIGITS = 8
"""Of the id of an environment."""


def pooled(runs: Iterable[Run]) -> list[Run]:
    """Let the runs of a setting be of one environment; each says by a mark of which it is.

    Runs of a setting that is of one environment stay as they are.
    """
    found = list(runs)
    eras = defaultdict(set)
    for run in found:
        eras[run.group, run.setting].add(run.environment_id)
    return [
        _pooled(run) if len(eras[run.group, run.setting] - {""}) > 1 and run.environment_id else run
        for run in found
    ]


def _pooled(run: Run) -> Run:
    facts = ", ".join(f"{k} {v}" for k, v in run.environment.items() if isinstance(v, str | int))
    mark = f"pools the environment {run.environment_id[:DIGITS]}" + (f" ({facts})" if facts else "")
    return replace(run, environment_id=POOLED, marks=(*run.marks, mark))
