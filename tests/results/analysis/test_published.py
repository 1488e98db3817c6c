"""A paper's numbers beside the user's: what is set beside what, and what is said of it."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from results.analysis.published import Beside, beside
from results.analysis.table import tables
from results.audit import papers
from results.record import Run, Score
from results.reports import published as report
from results.reports.to_json import to_json

Make = Callable[..., Run]

KNOWN = {"gsm8k": 1319}
DYPAM = papers.paper("dypam", KNOWN)
# DyPAM, mathematics, LLaMA 3.2 3B: LoRA has 33.21 on GSM8K, with 1.12 % of the parameters.
AS_PUBLISHED = {
    "backbone": "meta-llama/Llama-3.2-3B",
    "marks": (),
    "protocol": "paper/2",
    "trainable_parameters": 112,
    "total_parameters": 10_000,
}


def runs(make: Make, percents: Sequence[float], **changes: Any) -> list[Run]:
    facts = AS_PUBLISHED | changes
    method = facts.pop("method", "lora:dypam-paper")
    return [
        make(method, seed=seed, correct={"gsm8k": percent}, **facts)
        for seed, percent in enumerate(percents)
    ]


def told(found: Sequence[Beside]) -> list[tuple[str, str]]:
    return [(one.verdict, one.reason) for one in found]


def test_runs_around_the_published_number_reproduce_it(make: Make) -> None:
    [found] = beside(tables(runs(make, [33.0, 33.4, 33.2, 33.1, 33.5])), DYPAM)
    assert (found.figure.table, found.figure.method) == ("DyPAM, tab:main_math", "LoRA")
    assert found.figure.value == pytest.approx(0.3321)
    assert found.verdict == "reproduces"
    assert found.gap == pytest.approx(0.3324 - 0.3321)
    # SD 0.207 points; t(4) = 2.776; sqrt(1 + 1/5) = 1.0954; half a digit is 0.005.
    assert found.interval == pytest.approx((0.0003 - 0.00636, 0.0003 + 0.00636), abs=2e-5)


def test_runs_elsewhere_do_not_reproduce_it(make: Make) -> None:
    [found] = beside(tables(runs(make, [43.0, 43.4, 43.2])), DYPAM)
    assert told([found]) == [("does not reproduce", "")]


def test_runs_far_apart_cannot_tell(make: Make) -> None:
    # The 95 % interval of 33.21 % of 1,319 items is 2.5 points to each side.
    [found] = beside(tables(runs(make, [31.0, 33.0, 35.0])), DYPAM)
    assert told([found]) == [("cannot be told", "the seeds lie too far apart")]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"marks": ("sample data",)}, "other data here: sample data"),
        ({"protocol": "chat/1"}, "protocol chat/1 here, paper there"),
        ({"conditions": {"recipe": {"lr": 0.1}}}, "recipe or batches are not the default"),
        ({"trainable_parameters": 28}, "0.28 % trainable here, 1.12 % there"),
    ],
)
def test_what_was_done_otherwise_cannot_be_told(
    make: Make, changes: dict[str, Any], reason: str
) -> None:
    [found] = beside(tables(runs(make, [43.0, 43.4, 43.2], **changes)), DYPAM)
    assert told([found]) == [("cannot be told", reason)]


@pytest.mark.parametrize(
    ("percents", "reason"), [([43.0], "one seed"), ([43.0, 43.0], "no spread over seeds")]
)
def test_without_spread_there_is_no_interval(
    make: Make, percents: Sequence[float], reason: str
) -> None:
    [found] = beside(tables(runs(make, percents)), DYPAM)
    assert (found.interval, found.reason) == (None, reason)


@pytest.mark.parametrize(
    "changes",
    [{"backbone": "tiny"}, {"method": "lora:rosa-paper"}, {"method": "dora"}, {"method": "base"}],
)
def test_what_the_paper_does_not_print_stands_beside_nothing(
    make: Make, changes: dict[str, Any]
) -> None:
    assert beside(tables(runs(make, [33.0, 33.4], **changes)), DYPAM) == []


def test_an_average_is_compared_over_the_same_benchmarks_only(make: Make) -> None:
    seven = ("multiarith", "gsm8k", "addsub", "aqua", "singleeq", "svamp", "mawps")
    some = [make(seed=seed, correct={"gsm8k": 33 + seed}, **AS_PUBLISHED) for seed in (1, 2)]
    every = [
        make(seed=seed, correct=dict.fromkeys(seven, 50 + seed), minute=1, **AS_PUBLISHED)
        for seed in (1, 2)
    ]
    assert [one.column for one in beside(tables(some), DYPAM)] == ["gsm8k"]
    assert [one.column for one in beside(tables(every), DYPAM)] == [*seven, "micro", "macro"]


def test_texts_are_set_beside_texts(make: Make) -> None:
    # HyCAM, Llama 2 7B, iCliniq: HyCAM has PPL 7.546 and BLEU 0.053.
    def scores(shift: float) -> tuple[Score, ...]:
        perplexity = Score("icliniq", "perplexity (hycam)", "", True, 7.5 + shift, 100)
        return perplexity, Score("icliniq", "bleu", "", True, 5.3 + shift, 100)

    changes = {**AS_PUBLISHED, "backbone": "meta-llama/Llama-2-7b-hf", "protocol": "hycam/1"}
    all_runs = [
        make("hycam", seed=seed, group="multitask", scores=scores(seed / 10), **changes)
        for seed in range(3)
    ]
    found = beside(tables(all_runs), papers.paper("hycam", KNOWN))
    assert [(one.metric.name, one.figure.value) for one in found] == [
        ("perplexity (hycam)", 7.546),
        ("bleu", pytest.approx(5.3)),
    ]
    assert {one.verdict for one in found} == {"cannot be told"}
    text = report.markdown(papers.paper("hycam", KNOWN), found)
    assert "x 1.007" in text  # 7.6 / 7.546


def test_the_report_marks_the_numbers_and_says_why(make: Make) -> None:
    found = beside(tables(runs(make, [33.0, 33.4, 33.2, 33.1, 33.5])), DYPAM)
    text = report.markdown(DYPAM, found)
    assert "Gaps to DyPAM, tab:main_math (‡)." in text
    assert "| gsm8k  | 33.24 |     5 | 33.21 | +0.03 | -0.61 to +0.67 | yes" in text
    assert "Of 1: reproduce: 1." in text
    assert '"verdict": "reproduces"' in to_json(found)
