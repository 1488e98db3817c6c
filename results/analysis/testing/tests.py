"""Which test is made of two methods in a column: the default, or the one chosen for this table.

What the default is depends on how many seeds there are, and never on the numbers that they gave.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from results.analysis.runs.selection import require_finished
from results.analysis.testing.evidence import (
    NO_VERDICTS,
    NOT_STORED,
    OF_FOLDS,
    Evidence,
    Lookup,
    Texts,
    nowhere,
)
from results.analysis.testing.folds import over_folds
from results.analysis.testing.kept_tests import Keep, at_once
from results.errors import ResultsError, unknown
from results.record import Run
from results.statistics import items, seeds
from results.statistics.benchmarks import wilcoxon
from results.statistics.components import crossed
from results.statistics.items import ItemTest
from results.statistics.items.randomization import randomization
from results.statistics.multiplicity import Correction
from results.statistics.seeds import SeedTest
from results.statistics.seeds.welch import welch
from results.statistics.test import Alternative, Claim, Test, Undefined


@dataclass(frozen=True)
class Testing:
    """What is tested, and how many tests are read together."""

    # Not a class of tests, as pytest would conclude from the name.
    __test__ = False

    test: str = ""
    """By name; empty for the default."""
    correction: Correction = "holm"
    against: str = ""
    """The method that is tested against each other one; empty to test all pairs."""
    alternative: Alternative = "two-sided"
    """`greater`: that the declared method is better."""
    margin: float | None = None
    """In points: whether differences are smaller is tested too."""
    verdicts: Lookup = field(default=nowhere, compare=False)
    """Where tests over items find verdicts."""
    texts: Texts | None = field(default=None, compare=False)
    """Where they find texts; None where no texts are tested."""
    keep: Keep = field(default=at_once, compare=False)
    """Where they are kept."""

    @property
    def chosen(self) -> bool:
        """Whether anything of the test is not the default."""
        return replace(self, margin=None) != DEFAULT


DEFAULT = Testing()


@dataclass(frozen=True)
class Named:
    """A test as captions name it, what it generalises to, and the columns that it was made in."""

    name: str
    claim: Claim
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Made:
    """The tests of a table, for its notes."""

    named: tuple[Named, ...]
    correction: Correction
    alternative: Alternative
    chosen: bool
    """Whether a user chose anything of it; all is the default otherwise."""
    declared: str
    """The method that is tested against each other one; empty where all pairs are tested."""


Make = Callable[[Evidence, Evidence, Alternative], Test | Undefined]
"""Make a test of the first minus the second; `greater` tests whether the first is."""


def made(testing: Testing, first: Evidence, second: Evidence) -> Test | Undefined:
    """Make the chosen test, or the default one."""
    make = NAMED[testing.test] if testing.test else default
    return make(first, second, testing.alternative)


def reads_items(testing: Testing, every: Iterable[Evidence]) -> bool:
    """Tell whether tests among these are over items, by name or since one has a single seed."""
    if testing.test:
        return testing.test == "crossed" or testing.test in items.NAMED
    return any(len(one.by_seed) == 1 for one in every)


def check(testing: Testing, runs: Sequence[Run]) -> None:
    """Refuse a test that there is not, and a side of a difference that nobody declared.

    Raises:
        ResultsError: It is refused, or the declared method has no finished run.
    """
    if testing.test and testing.test not in NAMED:
        raise ResultsError(unknown("test", testing.test, NAMED))
    if testing.alternative == "greater" and not testing.against:
        raise ResultsError("A one-sided test needs a declared method: name it with --against.")
    if testing.against:
        require_finished(runs, testing.against)


def named(tests: Iterable[tuple[str, Test | Undefined]]) -> tuple[Named, ...]:
    """Sort columns by the test that was made in them."""
    found: dict[tuple[str, Claim], dict[str, None]] = {}
    for column, test in tests:
        if isinstance(test, Test):
            found.setdefault((test.name, test.claim), {})[column] = None
    return tuple(Named(*key, tuple(columns)) for key, columns in found.items())


def default(first: Evidence, second: Evidence, alternative: Alternative) -> Test | Undefined:
    """Make Welch's test from three seeds on, and a test over items with one."""
    fewest = min(len(first.by_seed), len(second.by_seed))
    if fewest >= seeds.FEWEST:
        return welch(first.by_seed, second.by_seed, alternative)
    if fewest > 1:
        return too_few("two seeds, and a test over seeds needs three", first)
    test = over_items(first, second, alternative)
    if isinstance(test, Undefined) and test in (NOT_STORED, NO_VERDICTS, OF_FOLDS):
        return too_few(f"one seed, and {test.reason}", first)
    return test


def too_few(reason: str, evidence: Evidence) -> Undefined:
    """Say that there are too few seeds, and name the test over folds where there are folds."""
    return Undefined(
        f"{reason} (--test folds tests the folds)" if evidence.folded().any else reason
    )


def _seeds(test: SeedTest) -> Make:
    return lambda first, second, alternative: test(first.by_seed, second.by_seed, alternative)


def _items(test: ItemTest) -> Make:
    def make(first: Evidence, second: Evidence, alternative: Alternative) -> Test | Undefined:
        a, b = first.judged(), second.judged()
        if isinstance(a, Undefined):
            return a
        if isinstance(b, Undefined):
            return b
        if a.rows != b.rows:
            return Undefined("other items", withheld=True)
        if first.score and test is not items.default:
            return NO_VERDICTS
        if first.score:
            return randomization(first.score, a.answers, b.answers, first.average, alternative)
        return test(a.answers, b.answers, first.average, alternative)

    return make


def _folds(first: Evidence, second: Evidence, alternative: Alternative) -> Test | Undefined:
    return over_folds(first.folded(), second.folded(), alternative)


def _benchmarks(first: Evidence, second: Evidence, alternative: Alternative) -> Test | Undefined:
    a, b = first.by_benchmark(), second.by_benchmark()
    if len(a) < 2:  # noqa: PLR2004 - one benchmark is no sample of benchmarks
        return Undefined("a test over benchmarks is of an average of several")
    return wilcoxon(a, b, alternative)


over_items = _items(items.default)
"""Test these trained models over new items."""

over_both = _items(crossed)
"""Test two methods over new training runs and new items."""

NAMED: Mapping[str, Make] = {
    **{name: _seeds(test) for name, test in seeds.NAMED.items()},
    "folds": _folds,
    "crossed": over_both,
    **{name: _items(test) for name, test in items.NAMED.items()},
    "wilcoxon": _benchmarks,
}
"""The tests that a user can choose."""
