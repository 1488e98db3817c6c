"""The tests of one column on one backbone: they are made, adjusted and summed up together."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Generic, TypeVar

from results.analysis.metrics import Metric
from results.analysis.testing.evidence import Evidence, Interval
from results.analysis.testing.kept_tests import kept, seen
from results.analysis.testing.tests import Testing, made, reads_items
from results.statistics.multiplicity import adjust, every_one
from results.statistics.rank_sets import rank_sets, top_band
from results.statistics.sample import Sample
from results.statistics.test import ALPHA, Test, Undefined

Key = TypeVar("Key", bound=Hashable)
MISSING = Undefined("seeds are missing", withheld=True)

Pair = tuple[Key, Key]


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
class Family(Generic[Key]):
    """Tests that are read together, such as those of a column on one backbone."""

    name: str
    tests: Mapping[Pair[Key], Test | Undefined]
    """Of the first of a pair minus the second; each pair is there in one order."""
    adjusted: Mapping[Pair[Key], float]
    """The p of each test that was made, adjusted for the others; empty if none was."""

    def test(self, first: Key, second: Key) -> Test | Undefined:
        """Give the test of the first minus the second, with its adjusted p if it has one."""
        if (first, second) in self.tests:
            return self._adjusted((first, second))
        return opposite(self._adjusted((second, first)))

    def _adjusted(self, pair: Pair[Key]) -> Test | Undefined:
        test = self.tests[pair]
        if isinstance(test, Undefined):
            return test
        return replace(test, adjusted=self.adjusted.get(pair), family=self.name)


@dataclass(frozen=True)
class Ranks:
    """The ranks that a method may have, as far as the tests tell."""

    first: int
    last: int
    top_band: bool
    """Whether it holds rank 1."""


def tested(
    metric: Metric, candidates: Mapping[Key, Candidate], testing: Testing, family: str
) -> Family[Key]:
    """Test pairs of trained methods, and adjust every p for the others.

    All pairs, or those of the declared method, of which there are none if there is no such method.
    """
    present = {
        key: one for key, one in candidates.items() if one.trained and one.sample.mean is not None
    }
    pairs = [pair for pair in combinations(present, 2) if _wanted(pair, candidates, testing)]
    found = dict(zip(pairs, _made(metric, present, pairs, testing), strict=True))
    return Family(family, found, _adjusted(found, testing))


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


def against_all(metric: Metric, key: Key, family: Family[Key]) -> float | Undefined | None:
    """Give the p of "better than every other": the largest of its unadjusted ones.

    1 if it is not better than one of them; None without any other.
    """
    # Of several reasons the first is told, that of a test in which it comes first above others.
    pairs = sorted((pair for pair in family.tests if key in pair), key=lambda pair: pair[0] != key)
    tests = {pair: family.tests[pair] for pair in pairs}
    undefined = [test for test in tests.values() if isinstance(test, Undefined)]
    if undefined or not tests:
        return undefined[0] if undefined else None
    made = {pair: test for pair, test in tests.items() if isinstance(test, Test)}
    if any(_winner(metric, pair, test) != key for pair, test in made.items()):
        return 1.0
    return every_one([test.p for test in made.values()])


def rank_sets_of(metric: Metric, family: Family[Key]) -> dict[Key, Ranks]:
    """Give the ranks that each method may have, as far as tests of all pairs tell.

    A pair that was not tested is not told apart; a method without any test has no ranks.
    """
    keys = list(dict.fromkeys(key for pair in family.tests for key in pair))
    made = {pair: test for pair, test in family.tests.items() if isinstance(test, Test)}
    won = {
        (_winner(metric, pair, test), key)
        for pair, test in made.items()
        if family.adjusted.get(pair, test.p) < ALPHA
        for key in pair
    }
    found = rank_sets([[a != b and (a, b) in won for b in keys] for a in keys])
    top = top_band(found)
    told = {key for pair in made for key in pair}
    return {
        key: Ranks(*ends, place in top)
        for place, (key, ends) in enumerate(zip(keys, found, strict=True))
        if key in told
    }


def _winner(metric: Metric, pair: Pair[Key], test: Test) -> Key | None:
    """Tell which of two is better on average, as far as their test goes; None if they are equal."""
    merit = metric.merit(test.difference)
    return pair[merit < 0] if merit else None


def _wanted(pair: tuple[Key, Key], candidates: Mapping[Key, Candidate], testing: Testing) -> bool:
    return not testing.against or any(candidates[key].declared for key in pair)


def _made(
    metric: Metric, present: Mapping[Key, Candidate], pairs: Sequence[Pair[Key]], testing: Testing
) -> Iterable[Test | Undefined]:
    outcomes = (_test(metric, present[a], present[b], testing) for a, b in pairs)
    keys = list(dict.fromkeys(key for pair in pairs for key in pair))
    if not reads_items(testing, [present[key].evidence for key in keys]):
        return outcomes
    every = [
        [one.complete, one.declared, seen(one.evidence)] for one in (present[key] for key in keys)
    ]
    which = [[keys.index(key) for key in pair] for pair in pairs]
    looked_at = [testing.test, testing.alternative, metric.name, every, which]
    return kept(testing.keep, looked_at, lambda: outcomes)


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


def _adjusted(
    found: Mapping[Pair[Key], Test | Undefined], testing: Testing
) -> dict[Pair[Key], float]:
    ps = {pair: test.p for pair, test in found.items() if isinstance(test, Test)}
    if testing.correction == "none":
        return {}
    return dict(zip(ps, adjust(list(ps.values()), testing.correction), strict=True))
