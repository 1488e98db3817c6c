"""Items of a run, and those of two runs side by side."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.analysis.items import (
    Item,
    Pair,
    agreement,
    disagreeing,
    of_kinds,
    pairs,
    score_pairs,
)
from results.record import Score

Make = Callable[..., Item]


@pytest.mark.parametrize(
    ("found", "gold", "ended", "kinds"),
    [
        ("7", "7", True, {"right"}),
        ("8", "7", True, {"wrong"}),
        ("", "7", True, {"wrong", "unparsed"}),
        ("8", "7", False, {"wrong", "cut"}),
    ],
)
def test_an_answer_in_which_nothing_was_found_is_wrong_too(
    found: str, gold: str, ended: bool, kinds: set[str], item: Make
) -> None:
    assert item(found=found, gold=gold, ended=ended).kinds == kinds


def test_a_text_that_is_compared_is_neither_right_nor_wrong_nor_unparsed(item: Make) -> None:
    text = item(extracted={}, correct={}, extractor="")
    assert (text.verdict, text.kinds, text.found) == ("", set(), None)


def test_several_kinds_keep_the_items_of_which_all_hold(item: Make) -> None:
    items = [item(found="8"), item(found="8", ended=False), item(found="7", ended=False)]
    assert of_kinds(items, ["wrong", "cut"]) == [items[1]]
    assert of_kinds(items, []) == items


def test_rows_are_paired_by_benchmark_and_id_and_kept_where_verdicts_differ(item: Make) -> None:
    first = [item(id=0), item(id=1), item(id=2), item(id=1, benchmark="aqua")]
    second = [item(id=1, found="8"), item(id=0), item(id=1, benchmark="aqua"), item(id=9)]
    both = pairs(first, second)
    assert [(one.first.benchmark, one.first.id) for one in both] == [
        ("gsm8k", 0),
        ("gsm8k", 1),
        ("aqua", 1),
    ]
    assert [one.first.id for one in disagreeing(both)] == [1]


CHANGES: dict[str, dict[str, Any]] = {
    "bit-equal": {},
    "same answer": {"answer": "So it is 7.", "judged": "So it is 7.", "tokens": (1, 2)},
    "another likelihood": {"likelihoods": {"7": -1.5, "8": -2.0}},
    "different": {"found": "9"},
    "another choice": {"likelihoods": {"7": -2.0, "8": -1.0}},
}
EXPECTED = {
    "bit-equal": (1, 0, ()),
    "same answer": (0, 1, ()),
    "another likelihood": (0, 1, ()),
    "different": (0, 0, (0,)),
    "another choice": (0, 0, (0,)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_two_answers_are_bit_equal_or_the_same_or_different(name: str, item: Make) -> None:
    before = item(likelihoods={"7": -1.0, "8": -2.0})
    after = item(**{"likelihoods": {"7": -1.0, "8": -2.0}, **CHANGES[name]})
    if name == "different":
        after = replace(after, tokens=(5,))
    found = agreement("gsm8k", [Pair(before, after)])
    assert (found.bit_equal, found.same_answer, found.different) == EXPECTED[name]


def test_a_text_is_the_same_answer_only_if_it_is_the_same_text(item: Make) -> None:
    text = item(extracted={}, correct={}, extractor="", likelihoods={"reference": -3.0})
    moved = replace(text, likelihoods={"reference": -3.5})
    other = replace(text, answer="Something else.", tokens=(1,))
    assert agreement("dolly", [Pair(text, moved)]).same_answer == 1
    assert agreement("dolly", [Pair(text, other)]).different == (0,)


@given(values=st.lists(st.floats(), max_size=5))
def test_a_run_is_bit_equal_to_itself_even_where_a_likelihood_is_nan(
    values: list[float], item: Make
) -> None:
    items = [item(id=n, likelihoods={"7": value}) for n, value in enumerate(values)]
    twins = [item(id=n, likelihoods={"7": value}) for n, value in enumerate(values)]
    found = agreement("gsm8k", pairs(items, twins))
    assert (found.bit_equal, found.same_answer, found.different) == (len(values), 0, ())


def test_headline_scores_are_paired_and_one_that_is_gone_is_none() -> None:
    before = [Score("gsm8k", "accuracy", "strict", True, 0.5, 2)]
    after = [
        Score("gsm8k", "accuracy", "strict", True, 1.0, 2),
        Score("aqua", "accuracy", "strict", True, 0.0, 2),
        Score("aqua", "accuracy", "other", False, 0.5, 2),
    ]
    found = [(one.benchmark, one.before, one.after) for one in score_pairs(before, after)]
    assert found == [("gsm8k", 0.5, 1.0), ("aqua", None, 0.0)]
