"""Comparisons of one method on two backbones or under two protocols, as far as they compare."""

from collections.abc import Callable
from typing import Any

import pytest

from results.analysis.matches import Across
from results.analysis.pairwise import compare
from results.errors import ResultsError
from results.record import Run, Score
from results.reports.pairwise import markdown
from results.statistics.test import Test, Undefined

Make = Callable[..., Run]

BACKBONES = Across(backbones=("tiny", "llama"))
PROTOCOLS = Across(protocols=("paper", "chat"))


def perplexity(value: float) -> tuple[Score, ...]:
    return (Score("dolly", "perplexity", "", True, value, 9),)


@pytest.fixture
def on_two(make: Make) -> list[Run]:
    return [
        make("lora", seed, {"gsm8k": right + seed}, backbone=backbone)
        for backbone, right in {"tiny": 50, "llama": 80}.items()
        for seed in range(3)
    ]


def under_two(make: Make, **changes: Any) -> list[Run]:
    """Make runs under two protocols; `changes` are of the spec of the second."""
    return [
        make(
            "lora",
            seed,
            {"gsm8k": right + seed},
            protocol=protocol,
            setting=protocol,
            spec={"train": {"lr": 0.001}, "protocol": {"name": protocol}, "limit": None, **spec},
        )
        for protocol, right, spec in (("paper/2", 50, {}), ("chat/1", 80, changes))
        for seed in range(3)
    ]


def test_one_method_is_compared_on_two_backbones(on_two: list[Run]) -> None:
    (one,) = compare(on_two, "lora", "lora", across=BACKBONES)
    assert one.methods == ("lora on tiny", "lora on llama")
    assert one.contrasts[0].difference == pytest.approx(-0.3)
    assert isinstance(one.contrasts[0].test, Test)
    assert markdown([one]).startswith("lora on tiny minus lora on llama: math")


def test_perplexities_of_two_backbones_are_withheld_with_the_reason(make: Make) -> None:
    runs = [
        make("lora", seed, scores=perplexity(value + seed), backbone=backbone)
        for backbone, value in {"tiny": 9.0, "llama": 7.0}.items()
        for seed in range(3)
    ]
    (one,) = compare(runs, "lora", "lora", across=BACKBONES)
    contrast = one.contrasts[0]
    assert contrast.difference is None
    assert isinstance(contrast.test, Undefined)
    assert contrast.test.withheld
    assert "withheld: the backbones may split texts into other tokens" in markdown([one])


def test_one_method_is_compared_under_two_protocols_and_the_text_says_so(make: Make) -> None:
    (one,) = compare(under_two(make), "lora", "lora", across=PROTOCOLS)
    assert one.methods == ("lora, paper/2", "lora, chat/1")
    assert one.contrasts[0].difference == pytest.approx(-0.3)
    text = markdown([one])
    assert "protocol paper/2 against chat/1" in text
    assert "The difference is one of protocols, too" in text


def test_protocols_with_other_data_or_limits_are_refused_with_what_differs(make: Make) -> None:
    with pytest.raises(ResultsError, match="Besides the protocol they differ in: limit"):
        compare(under_two(make, limit=50), "lora", "lora", across=PROTOCOLS)


def test_a_backbone_or_protocol_that_no_run_has_is_answered_with_the_known(
    on_two: list[Run],
) -> None:
    with pytest.raises(ResultsError, match=r"'lama' is not .* Did you mean 'llama'"):
        compare(on_two, "lora", "lora", across=Across(backbones=("tiny", "lama")))
    with pytest.raises(ResultsError, match="Known: paper"):
        compare(on_two, "lora", "lora", across=PROTOCOLS)


def test_two_settings_of_one_method_are_compared_by_their_own_recipes(make: Make) -> None:
    runs = [
        make(
            "lora",
            seed,
            {"gsm8k": right + seed},
            recipe=f"lr {lr}",
            series=f"lr {lr}",
            spec={"train": {"lr": lr}},
        )
        for lr, right in {0.001: 50, 0.0002: 60}.items()
        for seed in range(3)
    ]
    (one,) = compare(runs, "lora[train.lr=2e-4]", "lora[train.lr=1e-3]")
    assert one.methods == ("lora[train.lr=0.0002]", "lora[train.lr=0.001]")
    assert one.contrasts[0].difference == pytest.approx(0.1)
