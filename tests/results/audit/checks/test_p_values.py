"""p-values against those of SciPy's tests from means, standard deviations and seeds."""

from collections.abc import Callable
from decimal import Decimal
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind_from_stats

from results.audit.checks.p_values import check
from results.audit.finding import Finding
from results.audit.table import Column, PrintedTable
from tests.results.audit.tables import said, table

COLUMNS = [Column("micro", "micro"), Column("p", "p", of=0)]
Pair = tuple[float, float]
Sides = Literal["two-sided", "greater", "less"]


def compared(best: str, p: str, rival: str, **declared: object) -> PrintedTable:
    lines = {"DyPAM": f"{best} {p}", "LoRA": f"{rival} -", "OFT": "10.00+-0.10 -"}
    return table(COLUMNS, lines, **{"seeds": 5, **declared})


def scipy_p(means: Pair, sds: Pair, sides: Sides = "two-sided") -> float:
    found = ttest_ind_from_stats(
        means[0], sds[0], 5, means[1], sds[1], 5, equal_var=False, alternative=sides
    )
    return float(found.pvalue)


@pytest.mark.parametrize("sides", ["two-sided", "greater", "less"])
def test_what_welchs_test_gives_passes(sides: Sides) -> None:
    p = scipy_p((84.24, 82.57), (0.80, 1.10), sides)
    assert list(check(compared("84.24+-0.80", f"{p:.3f}", "82.57+-1.10"))) == []


@given(
    st.decimals(60, 70, places=2),
    st.decimals(60, 70, places=2),
    st.decimals("0.05", 3, places=2),
    st.decimals("0.05", 3, places=2),
    st.sampled_from(["two-sided", "greater", "less"]),
)
def test_what_welchs_test_gives_passes_always(
    a: Decimal, b: Decimal, sd_a: Decimal, sd_b: Decimal, sides: Sides
) -> None:
    p = scipy_p((float(a), float(b)), (float(sd_a), float(sd_b)), sides)
    assert list(check(compared(f"{a}+-{sd_a}", f"{p:.4f}", f"{b}+-{sd_b}", against="LoRA"))) == []


def test_a_p_value_that_no_test_gives_is_inconsistent() -> None:
    # Welch's two-sided p is 0.027; with the seeds paired it is at most 0.066, and adjusted for
    # two comparisons 0.06.
    assert 0.02 < scipy_p((84.24, 82.57), (0.80, 1.10)) < 0.03
    (found,) = check(compared("84.24+-0.80", "0.400", "82.57+-1.10"))
    assert (found.grade, found.where) == ("inconsistent", "DyPAM, micro")
    assert "two-sided" in found.arithmetic


@pytest.mark.parametrize("p", ["0.001", "0.050"])
def test_one_that_a_paired_or_an_adjusted_test_may_give_is_notable(p: str) -> None:
    (found,) = check(compared("84.24+-0.80", p, "82.57+-1.10"))
    assert found.grade == "notable"
    assert "paired over seeds or adjusted" in found.question


def test_a_p_said_to_be_less_needs_one_that_is() -> None:
    assert list(check(compared("84.24+-0.80", "<0.05", "82.57+-1.10"))) == []
    (found,) = check(compared("84.24+-0.80", "<0.05", "84.20+-1.10"))
    assert "p < 0.05 is printed" in found.arithmetic


def star(stars_mean: str | None) -> list[Finding]:
    lines = {"DyPAM": "84.24+-0.80!", "LoRA": "84.20+-1.10"}
    level = None if stars_mean is None else Decimal(stars_mean)
    return list(check(table(COLUMNS[:1], lines, seeds=5, star=level)))


def test_a_star_claims_the_p_that_it_stands_for() -> None:
    assert said(star("0.05")) == [("inconsistent", "DyPAM, micro")]
    assert star(None) == []


Made = Callable[[], PrintedTable]


@pytest.mark.parametrize(
    "made",
    [
        lambda: compared("84.24", "0.400", "82.57+-1.10"),
        lambda: compared("84.24+-0.80", "0.400", "82.57"),
        lambda: compared("84.24+-0.80", "0.400", "82.57+-1.10", seeds=None),
        lambda: compared("84.24+-0.80", "0.400", "82.57+-1.10", seeds=1),
        lambda: compared("84.24+-0.80", "0.400", "82.57+-1.10", against="DoRA"),
    ],
)
def test_without_both_deviations_and_the_seeds_nothing_is_asked(made: Made) -> None:
    assert list(check(made())) == []


def test_without_a_declared_deviation_it_is_notable() -> None:
    (found,) = check(compared("84.24+-0.80", "0.400", "82.57+-1.10", sd_declared=False))
    assert found.grade == "notable"
