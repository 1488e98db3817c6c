"""How many test rows are in the training set, as the clean scores of runs tell it."""

from collections.abc import Iterable

from results.analysis.columns import CLEAN, PLAIN
from results.record import Run


def in_training(runs: Iterable[Run]) -> dict[str, tuple[int, int]]:
    """Count the rows that are in the training set, and all rows, of each benchmark with any.

    The runs are of one table, so that each fold of a benchmark has the same rows in all of them.
    """
    counts: dict[str, dict[int | None, tuple[int, int]]] = {}
    for run in runs:
        clean = {score.benchmark: score.n for score in run.scores if score.metric == CLEAN}
        for name, score in run.headline(PLAIN).items() if clean else ():
            counts.setdefault(name, {})[run.fold] = score.n - clean.get(name, 0), score.n
    found = {
        name: (sum(shared for shared, _ in folds.values()), sum(n for _, n in folds.values()))
        for name, folds in counts.items()
    }
    return {name: (shared, n) for name, (shared, n) in found.items() if shared}
