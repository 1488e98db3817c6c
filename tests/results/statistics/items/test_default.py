"""The default test on items goes by what the answers are, never by what they say."""

import numpy as np
import pytest

from results.statistics.items import NAMED, default
from results.statistics.items.verdicts import Answers, Average, Items

rng = np.random.default_rng(11)


def verdicts(seeds: int, clusters: bool) -> Items:
    values = (rng.random((seeds, 40)) < 0.6).astype(float)
    return Items(tuple(range(seeds)), values, np.arange(40) // 2 if clusters else None)


def two(seeds: int, clusters: bool) -> tuple[Answers, Answers]:
    first, second = ({name: verdicts(seeds, clusters) for name in "xy"} for _ in range(2))
    return first, second


@pytest.mark.parametrize(
    ("seeds", "clusters", "average", "name"),
    [
        (1, False, "micro", "mcnemar"),
        (1, False, "macro", "sign-flip"),
        (1, True, "micro", "sign-flip"),
        (2, False, "micro", "sign-flip"),
    ],
)
def test_single_verdicts_of_one_run_each_are_mcnemars(
    seeds: int, clusters: bool, average: Average, name: str
) -> None:
    a, b = two(seeds, clusters)
    assert default(a, b, average) == NAMED[name](a, b, average, "two-sided")


@pytest.mark.parametrize("name", NAMED)
def test_every_named_test_only_turns_its_sign_when_the_methods_are_exchanged(name: str) -> None:
    a, b = two(1 if name == "mcnemar" else 3, clusters=False)
    one, other = (NAMED[name](x, y, "micro", "two-sided") for x, y in ((a, b), (b, a)))
    assert one.difference == pytest.approx(-other.difference)  # type: ignore[union-attr]
    assert one.p == pytest.approx(other.p, abs=0.03)  # type: ignore[union-attr]
