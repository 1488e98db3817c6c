"""From the stored verdicts of runs to the numbers that tests over items take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from results.analysis.series import Series
from results.record import Run, Verdicts
from results.statistics.items.verdicts import Answers, Items
from results.statistics.test import Undefined

ByRun = Mapping[str, Mapping[str, Verdicts]]
"""Verdicts by run id and benchmark."""


OTHER_ITEMS = Undefined("its seeds were asked other items", withheld=True)


@dataclass(frozen=True)
class Judged:
    """What the runs of a method scored on each item, and which rows they were asked."""

    answers: Answers
    rows: Mapping[str, tuple[str, ...]]
    """Of each benchmark the hash of its rows, fold by fold."""

    @property
    def digest(self) -> str:
        """Hash all of it."""
        found = sha256()
        for name, items in sorted(self.answers.items()):
            told = name, self.rows[name], items.seeds, items.values.shape, items.clusters is None
            found.update(repr(told).encode() + items.values.tobytes())
            if items.clusters is not None:
                found.update(items.clusters.tobytes())
        return found.hexdigest()


def judged(
    series: Series, folds: Sequence[int | None], benchmarks: Sequence[str], found: ByRun
) -> Judged | Undefined | None:
    """Put together the verdicts of a method, its seeds as rows, its folds one after the other.

    None if a run lacks them; undefined if its seeds were asked other rows.
    """
    runs = [[by_fold.get(fold) for fold in folds] for by_fold in series.by_seed.values()]
    parts = {name: [_of_seed(seed, name, found) for seed in runs] for name in benchmarks}
    if not all(all(seeds) for seeds in parts.values()):
        return None
    rows = {name: {_rows(seed) for seed in seeds} for name, seeds in parts.items()}
    if any(len(one) > 1 for one in rows.values()):
        return OTHER_ITEMS
    seeds = tuple(series.by_seed)
    return Judged(
        {name: _items(seeds, of_seeds) for name, of_seeds in parts.items()},
        {name: one.pop() for name, one in rows.items()},
    )


def _of_seed(runs: Sequence[Run | None], benchmark: str, found: ByRun) -> list[Verdicts]:
    """Give the verdicts of a seed, a part for each fold; nothing if one is missing."""
    parts = [found.get(run.run_id, {}).get(benchmark) if run else None for run in runs]
    return [part for part in parts if part] if all(parts) else []


def _rows(parts: Sequence[Verdicts]) -> tuple[str, ...]:
    return tuple(part.rows for part in parts)


def _items(seeds: tuple[int, ...], of_seeds: Sequence[Sequence[Verdicts]]) -> Items:
    values = [np.concatenate(list(map(_right, parts))) for parts in of_seeds]
    return Items(seeds, np.array(values, float), _clusters(of_seeds[0]))


def _right(part: Verdicts) -> NDArray[np.uint8]:
    return np.unpackbits(np.frombuffer(part.right, np.uint8), count=part.n)


def _clusters(parts: Sequence[Verdicts]) -> NDArray[np.int64] | None:
    """Number the rows that share a prompt, apart in each fold; None where none does."""
    if all(part.clusters is None for part in parts):
        return None
    starts = np.cumsum([0, *(part.n for part in parts)])
    return np.concatenate(
        [
            start + (np.arange(part.n) if part.clusters is None else np.array(part.clusters))
            for start, part in zip(starts, parts, strict=False)
        ]
    )
