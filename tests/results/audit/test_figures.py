"""The numbers of the papers, one by one."""

from collections import Counter

import pytest

from results.audit.figures import Figure, figures
from results.audit.papers import paper

MATH = ("addsub", "aqua", "gsm8k", "mawps", "multiarith", "singleeq", "svamp")
COMMONSENSE = (
    *("arcchallenge", "arceasy", "boolq", "hellaswag"),
    *("obqa", "piqa", "siqa", "winogrande"),
)
KNOWN = dict.fromkeys([*MATH, *COMMONSENSE], 1)


def found(name: str) -> list[Figure]:
    return list(figures(paper(name, KNOWN)))


def test_all_numbers_of_the_main_tables_are_there_and_none_of_the_others() -> None:
    # 30 rows of 7 benchmarks and 2 averages, and of 8 and 2; of RoSA 27 of 8 and 1, 9 of 7 and 1.
    assert len(found("dypam")) == 30 * 9 + 30 * 10
    assert len(found("rosa")) == 27 * 9 + 9 * 8
    # Backbones and sets: 5 + 5 + 2 and 5, each of 5 methods and 3 metrics.
    assert len(found("hycam")) == (12 + 5) * 15


def test_averages_of_two_groups_are_two_numbers() -> None:
    micro = [one for one in found("dypam") if one.column == "micro" and one.method == "LoRA"]
    by_benchmarks = Counter(one.benchmarks for one in micro)
    assert by_benchmarks == {MATH: 3, COMMONSENSE: 3}
    assert len({one.place for one in micro}) == 6


def test_values_are_in_the_unit_of_scores() -> None:
    one = next(one for one in found("dypam") if one.column == "gsm8k")
    assert (one.value, one.half_digit) == pytest.approx((0.3321, 0.00005))
    assert one.trainable == pytest.approx((1.12, 0.01))
    # The size of the test set is that which the paper states: sqrt(0.3321 x 0.6679 / 1319).
    assert one.error == pytest.approx(0.012968, abs=1e-6)
    bleu = next(one for one in found("hycam") if one.metric == "bleu")
    assert (bleu.value, bleu.half_digit, bleu.error) == (pytest.approx(17.1), 0.05, None)


def test_a_set_of_texts_is_compared_with_itself_and_all_with_all() -> None:
    columns = {one.column: one.benchmarks for one in found("hycam")}
    sets = ("autocot", "codealpaca", "dolly", "icliniq", "webgpt")
    assert columns == {**dict.fromkeys(sets, ()), "all": sets}
