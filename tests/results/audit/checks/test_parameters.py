"""Percentages of trainable parameters against counts that are given."""

from dataclasses import replace
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from results.audit.checks.parameters import check, fits
from results.audit.counts import Counts, counts, from_json
from results.audit.table import Column, PrintedTable
from tests.results.audit.tables import said, table

# 1.5049 % of all with those that are added, 1.5279 % of the backbone's own.
COUNTS: Counts = from_json(
    {
        "small-1b": {"base": (0, 19_700), "lora": (5, 19_705), "lora:some-paper": (301, 20_001)},
        "large-8b": {"base": (0, 79_800), "lora:some-paper": (200, 80_000)},
    }
)
PARAMETERS = [Column("Param (%)", "parameters")]


def printed(percent: str, method: str = "LoRA (ours)", paper: str = "some") -> PrintedTable:
    one = table(PARAMETERS, {method: percent}, group="Small 1B", paper=paper)
    return replace(one, rows=(*one.rows, replace(one.rows[0], group="Large-8B", cells=(None,))))


def test_the_papers_configuration_passes_over_all_or_over_the_backbones_own() -> None:
    for percent in ("1.50", "1.5", "1.53", "1.528"):
        assert list(check(printed(percent), COUNTS)) == []


def test_a_unit_of_the_last_digit_beside_it_is_notable() -> None:
    (found,) = check(printed("1.49"), COUNTS)
    assert found.grade == "notable"
    assert "301 of 20,001 = 1.505 %" in found.arithmetic


def test_another_percentage_is_inconsistent_and_a_backbone_that_fits_is_named() -> None:
    (found,) = check(printed("0.25"), COUNTS)
    assert said([found]) == [("inconsistent", "Small 1B, LoRA (ours), parameters")]
    assert found.question == "Is this the percentage on Large-8B?"


def test_without_a_paper_any_configuration_passes_and_none_is_notable() -> None:
    assert list(check(printed("0.03", paper=""), COUNTS)) == []
    (found,) = check(printed("0.50", paper=""), COUNTS)
    assert found.grade == "notable"


def test_of_an_unknown_method_nothing_is_asked() -> None:
    assert list(check(printed("9.99", method="Our method"), COUNTS)) == []


def test_every_committed_count_fits_its_own_percentage_rounded_and_truncated() -> None:
    for named in counts().values():
        for count in named.values():
            for whole in (count.total, count.base):
                exact = Decimal(100 * count.trainable) / Decimal(whole)
                for how in (ROUND_FLOOR, ROUND_HALF_EVEN):
                    assert fits(exact.quantize(Decimal("0.001"), how), count)


def test_the_papers_names_of_methods_and_backbones_are_known() -> None:
    assert "lora:dypam-paper" in counts()["lora", "llama323b"]
    assert list(check(table(PARAMETERS, {"IA$^3$": "0.02"}, group="Qwen3 8B"), counts())) == []
