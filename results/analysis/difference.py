"""Two runs side by side: in what they differ, and what that did to scores and items."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from results.analysis.items import Pair, ScorePair, score_pairs
from results.fields import flat
from results.record import Run, Verdicts

Facts = Mapping[str, tuple[Any, Any]]
"""What differs: of each field the first and the second value, None where there is none."""


@dataclass(frozen=True)
class Flips:
    """The items of a benchmark that one of two runs alone answers right."""

    benchmark: str
    n: int
    first: int
    """How many only the first answers right."""
    second: int
    """How many only the second answers right."""


@dataclass(frozen=True)
class Difference:
    """In what two runs differ."""

    first: Run
    second: Run
    spec: Facts
    environment: Facts
    scores: tuple[ScorePair, ...]
    flips: tuple[Flips, ...]
    """Of the benchmarks of which both answered, and were judged on, the same rows."""
    items: tuple[Pair, ...]
    """The items with both answers, where both run folders are there."""


def difference(
    runs: tuple[Run, Run],
    verdicts: tuple[Mapping[str, Verdicts], Mapping[str, Verdicts]],
    items: tuple[Pair, ...] = (),
) -> Difference:
    """Compare two runs; `verdicts` are theirs, by benchmark."""
    first, second = runs
    return Difference(
        first,
        second,
        _differing(first.spec, second.spec),
        _differing(first.environment, second.environment),
        score_pairs(first.scores, second.scores),
        tuple(_flips(*verdicts)),
        items,
    )


def _differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> Facts:
    one, other = dict(flat(first)), dict(flat(second))
    return {
        name: (one.get(name), other.get(name))
        for name in one | other
        if one.get(name) != other.get(name)
    }


def _flips(first: Mapping[str, Verdicts], second: Mapping[str, Verdicts]) -> Iterator[Flips]:
    for name, one in first.items():
        other = second.get(name)
        if other and other.rows == one.rows:
            a, b = int.from_bytes(one.right), int.from_bytes(other.right)
            yield Flips(name, one.n, (a & ~b).bit_count(), (b & ~a).bit_count())
