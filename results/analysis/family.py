"""The tests of one column on one backbone: they are made, adjusted and summed up together."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TypeVar

from results.analysis.evidence import Evidence, Interval
from results.analysis.metrics import Metric
from results.analysis.tests import Testing, made
from results.statistics.multiplicity import adjust, every_one
from results.statistics.rank_sets import rank_sets, top_band
from results.statistics.sample import Sample
from results.statistics.test import Test, Undefined

Key = TypeVar("Key", bound=Hashable)
MISSING = Undefined("seeds are missing", withheld=True)

Pairs = dict[tuple[Key, Key], Test | Undefined]
"""Of each pair the test of the first minus the second; both orders of a pair are there."""


@dataclass(frozen=True)
class Candidate:
    """A method to be ranked and tested in a column."""

    sample: Sample
    seeds: frozenset[int]
    """Those that must have a number."""
    evidence: Evidence
    """What tests look at."""
    interval: Interval | None = None
    """Of its mean."""
    label: str = ""
    trained: bool = True
    """Tests are made between trained methods only."""
    reasons: Mapping[int, str] = field(default_factory=dict)
    """Why a seed may have no number."""
    runs: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """The ids of the runs of each seed."""
    declared: bool = False
    """Whether it is the one that is tested against each other one."""

    @property
    def complete(self) -> bool:
        """Whether it has a number for every seed that must have one."""
        return self.seeds == self.sample.by_seed.keys()


@dataclass(frozen=True)
class Ranks:
    """The ranks that a method may have, as far as the tests tell."""

    first: int
    last: int
    top_band: bool
    """Whether it holds rank 1."""


def tested(
    metric: Metric, candidates: Mapping[Key, Candidate], testing: Testing, family: str
) -> Pairs[Key]:
    """Test pairs of trained methods, and adjust every p for the others.

    All pairs, or those of the declared method, of which there are none if there is no such method.
    """
    present = {
        key: one for key, one in candidates.items() if one.trained and one.sample.mean is not None
    }
    pairs = [pair for pair in combinations(present, 2) if _wanted(pair, candidates, testing)]
    found = {(a, b): _test(metric, present[a], present[b], testing) for a, b in pairs}
    adjusted = _adjusted(found, testing, family)
    return adjusted | {(b, a): opposite(test) for (a, b), test in adjusted.items()}


def opposite(test: Test | Undefined) -> Test | Undefined:
    """Turn a test of the first minus the second into that of the second minus the first."""
    if isinstance(test, Undefined):
        return test
    return replace(
        test,
        difference=-test.difference,
        interval=test.interval and (-test.interval[1], -test.interval[0]),
        statistic=None if test.statistic is None else -test.statistic,
        effect=None if test.effect is None else -test.effect,
        n=test.n[::-1],
    )


def better(metric: Metric, test: Test | Undefined | None) -> bool:
    """Tell whether the first is significantly better, by the adjusted p."""
    return isinstance(test, Test) and test.significant and metric.merit(test.difference) > 0


def against_all(metric: Metric, key: Key, pairs: Pairs[Key]) -> float | Undefined | None:
    """Give the p of "better than every other": the largest of its unadjusted ones.

    1 if it is not better than one of them; None without any other.
    """
    tests = [test for (first, _), test in pairs.items() if first == key]
    undefined = [test for test in tests if isinstance(test, Undefined)]
    if undefined or not tests:
        return undefined[0] if undefined else None
    made = [test for test in tests if isinstance(test, Test)]
    if any(metric.merit(test.difference) <= 0 for test in made):
        return 1.0
    return every_one([test.p for test in made])


def rank_sets_of(metric: Metric, pairs: Pairs[Key]) -> dict[Key, Ranks]:
    """Give the ranks that each method may have, as far as tests of all pairs tell.

    A pair that was not tested is not told apart; a method without any test has no ranks.
    """
    keys = list(dict.fromkeys(first for first, _ in pairs))
    found = rank_sets([[better(metric, pairs.get((a, b))) for b in keys] for a in keys])
    top = top_band(found)
    told = {key for pair, test in pairs.items() if isinstance(test, Test) for key in pair}
    return {
        key: Ranks(*ends, place in top)
        for place, (key, ends) in enumerate(zip(keys, found, strict=True))
        if key in told
    }


def _wanted(pair: tuple[Key, Key], candidates: Mapping[Key, Candidate], testing: Testing) -> bool:
    return not testing.against or any(candidates[key].declared for key in pair)


def _test(metric: Metric, a: Candidate, b: Candidate, testing: Testing) -> Test | Undefined:
    if not (a.complete and b.complete):
        return MISSING
    # That the first is better is, of a perplexity, that the second is greater.
    turned = testing.alternative == "greater" and (
        metric.lower_is_better != (b.declared and not a.declared)
    )
    first, second = (b, a) if turned else (a, b)
    test = made(testing, first.evidence, second.evidence)
    return opposite(test) if turned else test


def _adjusted(found: Pairs[Key], testing: Testing, family: str) -> Pairs[Key]:
    tests = {pair: test for pair, test in found.items() if isinstance(test, Test)}
    if testing.correction == "none":
        return found | {pair: replace(test, family=family) for pair, test in tests.items()}
    ps = adjust([test.p for test in tests.values()], testing.correction)
    return found | {
        pair: replace(test, adjusted=p, family=family)
        for (pair, test), p in zip(tests.items(), ps, strict=True)
    }
