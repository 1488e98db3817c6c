"""Two methods side by side."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from results.analysis.pairwise import compare
from results.analysis.testing.tests import Testing
from results.errors import ResultsError
from results.record import Run
from results.reports.pairwise import markdown
from results.reports.to_json import to_json
from results.statistics.test import Test, Undefined

Make = Callable[..., Run]


WELCH = Testing(test="welch")


@pytest.fixture
def runs(make: Make) -> list[Run]:
    """Make three methods, so that the third could be mistaken for a partner."""
    rights = {"dypam": [80, 82], "lora": [50, 52], "vera": [99, 98]}
    return [
        make(method, seed=seed, correct={"gsm8k": right})
        for method, all_right in rights.items()
        for seed, right in enumerate(all_right)
    ]


def test_two_methods_are_tested_against_each_other_whoever_else_is_best(runs: list[Run]) -> None:
    (one,) = compare(runs, "dypam", "lora", testing=WELCH)
    contrast = one.contrasts[0]
    # By hand: both variances 2e-4, squared error 2e-4, so t = 0.3 / sqrt(2e-4), df 2; there
    # p = 1 - t / sqrt(t^2 + 2), and the 97.5 % point is 4.30265.
    assert isinstance(contrast.test, Test)
    assert contrast.test.statistic == pytest.approx(0.3 / 2e-4**0.5)
    assert contrast.test.p == pytest.approx(1 - 0.3 / (0.09 + 4e-4) ** 0.5)
    assert contrast.test.interval == pytest.approx((0.3 - 0.0608487, 0.3 + 0.0608487), abs=1e-6)


def test_the_order_of_the_names_is_the_sign_of_the_difference(runs: list[Run]) -> None:
    (one,), (other,) = compare(runs, "dypam", "lora"), compare(runs, "lora", "dypam")
    assert one.contrasts[0].difference == pytest.approx(0.3)
    assert other.contrasts[0].difference == pytest.approx(-0.3)


def test_every_benchmark_and_both_averages_are_compared(runs: list[Run]) -> None:
    (one,) = compare(runs, "dypam", "lora")
    assert [contrast.column for contrast in one.contrasts] == ["gsm8k", "micro", "macro"]


def test_conditions_and_backbones_are_compared_apart(make: Make) -> None:
    places = [("a", "tiny"), ("a", "llama"), ("b", "tiny")]
    runs = [
        make(method, setting=setting, backbone=backbone)
        for method in ("dypam", "lora")
        for setting, backbone in places
    ]
    found = [(one.conditions.setting, one.backbone) for one in compare(runs, "dypam", "lora")]
    assert sorted(found) == sorted(places)


def test_unknown_methods_are_all_named_with_the_nearest(runs: list[Run]) -> None:
    with pytest.raises(ResultsError) as refused:
        compare(runs, "dypan", "lorra")
    assert "Did you mean 'dypam'?" in str(refused.value)
    assert "Did you mean 'lora'?" in str(refused.value)


def test_a_method_is_not_compared_with_itself(runs: list[Run]) -> None:
    with pytest.raises(ResultsError, match="cannot be compared with itself"):
        compare(runs, "lora", "lora")


def test_methods_that_never_met_are_refused(make: Make) -> None:
    with pytest.raises(ResultsError, match="no finished runs on the same backbone"):
        compare([make("dypam"), make("lora", setting="another")], "dypam", "lora")


def test_markdown_shows_points_interval_p_and_seeds(runs: list[Run]) -> None:
    text = markdown(compare(runs, "dypam", "lora", testing=WELCH))
    assert "81.00 ± 1.41 | 51.00 ± 1.41 |     +30.00 | +23.92 to +36.08 | 0.00221 |" in text
    assert "sample data" in text
    assert "p (chosen): Welch's two-sided t-test, for new training runs on these items." in text
    assert "of this pair alone, not adjusted" in text


def test_one_seed_shows_the_difference_and_why_there_is_no_p(make: Make) -> None:
    runs = [make("dypam", correct={"gsm8k": 60}), make("lora", correct={"gsm8k": 45})]
    (one,) = compare(runs, "dypam", "lora")
    assert one.contrasts[0].test == Undefined("one seed, and no verdicts of its items are stored")
    assert "+15.00 |             - | undefined |" in markdown([one])
    assert "Over seeds: undefined: one seed" in markdown([one])


def test_a_missing_seed_is_told(runs: list[Run]) -> None:
    (one,) = compare(
        [run for run in runs if (run.method, run.seed) != ("lora", 1)], "dypam", "lora"
    )
    assert one.notes == ("lora: seed 1 is missing.",)
    assert "lora: seed 1 is missing." in markdown([one])


def test_json_holds_the_numbers_unrounded(runs: list[Run]) -> None:
    (one,) = json.loads(to_json(compare(runs, "dypam", "lora")))
    assert one["contrasts"][0]["first"]["by_seed"] == {"0": 0.8, "1": 0.82}
    assert one["conditions"]["marks"] == ["sample data"]


def test_a_difference_that_rounds_to_zero_has_no_minus(make: Make) -> None:
    # Shares of 1/3 and 1/3 + 1e-7 differ by 1e-5 points.
    scores = [
        tuple(replace(one, value=value) for one in make().scores) for value in (1 / 3, 1 / 3 + 1e-7)
    ]
    (one,) = compare([make(name, scores=s) for name, s in zip("ab", scores, strict=True)], "a", "b")
    assert (one.contrasts[0].difference or 0) < 0
    assert "+0.00" in markdown([one])
    assert "-0.00" not in markdown([one])
