"""How many seeds or items a difference needs."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pytest

from results.analysis.planning import plan
from results.analysis.testing.tests import DEFAULT, Testing
from results.errors import ResultsError
from results.record import Run, Score, Verdicts
from results.reports.planning import markdown
from results.statistics.planning import Needed, items_needed, seeds_needed
from results.statistics.test import Undefined

Make = Callable[..., Run]


@pytest.fixture
def runs(make: Make) -> list[Run]:
    return [
        make(name, seed, {"gsm8k": right})
        for name, rights in {"a": [50, 52, 54], "b": [60, 61, 62], "c": [70]}.items()
        for seed, right in enumerate(rights)
    ]


def test_the_number_of_seeds_is_from_the_pooled_spread_of_the_methods(runs: list[Run]) -> None:
    (one,) = plan(runs, [], 2.0, DEFAULT)
    assert one.seeds_now == (3, 3, 1)
    need = one.needs[0]
    # Variances 4 and 1 of two degrees of freedom each: SD sqrt(2.5) points.
    assert need.sd == pytest.approx(0.025**0.5 / 10)
    assert need.seeds == seeds_needed(0.02, [[0.50, 0.52, 0.54], [0.60, 0.61, 0.62]])
    assert isinstance(need.seeds, Needed)
    assert need.seeds.low < need.seeds.n < need.seeds.high


def test_only_the_named_methods_count(runs: list[Run]) -> None:
    (one,) = plan(runs, ["b"], 2.0, DEFAULT)
    assert (one.methods, one.needs[0].sd) == (("b",), pytest.approx(0.01))
    with pytest.raises(ResultsError, match="'d' is not a known method"):
        plan(runs, ["d"], 2.0, DEFAULT)


def test_one_seed_alone_says_nothing_of_the_spread(runs: list[Run]) -> None:
    (one,) = plan(runs, ["c"], 2.0, DEFAULT)
    assert one.needs[0].seeds == Undefined("one seed")
    assert "Seeds: undefined: one seed." in markdown([one])


def test_a_difference_in_points_is_not_planned_for_a_perplexity(make: Make) -> None:
    scores = (Score("dolly", "perplexity", "", True, 7.0, 9),)
    (one,) = plan([make("a", scores=scores)], [], 1.0, DEFAULT)
    assert "withheld: a difference in points is none of a ratio" in markdown([one])


def test_the_number_of_items_is_from_the_pair_that_differs_most(make: Make) -> None:
    rights = {"a": [1] * 50 + [0] * 50, "b": [1] * 40 + [0] * 60, "c": [0] * 45 + [1] * 55}
    runs, verdicts = [], {}
    for name, bits in rights.items():
        run = make(name, correct={"gsm8k": sum(bits)})
        kept = Verdicts("gsm8k", "r", 100, np.packbits(bits).tobytes(), None)
        runs.append(run)
        verdicts[run.run_id] = {"gsm8k": kept}

    def lookup(found: Iterable[Run]) -> Mapping[str, Mapping[str, Verdicts]]:
        return verdicts

    (one,) = plan(runs, [], 5.0, Testing(verdicts=lookup))
    # a and b differ on 10 items; a and c on 95, b and c too, but b more often to one side.
    most = np.subtract(rights["a"], rights["c"])
    assert one.needs[0].items == items_needed(0.05, most.astype(float).tolist())
    assert one.needs[0].items_now == 100
