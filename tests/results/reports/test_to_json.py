"""Whatever is printed with `--json` is strict JSON."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from results.record import Run, Score
from results.reports.to_json import to_json


def strictly(text: str) -> Any:
    """Read JSON as RFC 8259 defines it, which has no NaN."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize(
    ("value", "written"),
    [("nan", "NaN"), ("inf", "Infinity"), ("-inf", "-Infinity")],
)
def test_a_score_that_is_not_finite_is_written_as_a_text(
    value: str, written: str, make: Callable[..., Run]
) -> None:
    run = make(scores=(Score("dolly", "perplexity", "", True, float(value), 9),))
    assert strictly(to_json(run))["scores"][0]["value"] == written


def test_a_text_that_looks_like_such_a_number_stays_a_text(make: Callable[..., Run]) -> None:
    run = make(reason="NaN, Infinity: the loss is nan", scores=())
    assert strictly(to_json([run]))[0]["reason"] == "NaN, Infinity: the loss is nan"
