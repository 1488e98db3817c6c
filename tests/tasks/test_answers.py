"""Extraction and judging, against the rules of LLM-Adapters' evaluate.py.

What each output gives was worked out by hand from the two regular expressions of that script: all
numbers `-?\\d+\\.?\\d*` after deleting commas, the last one counts; the first of `A|B|C|D|E`.
"""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks import addsub, aqua, gsm8k, mawps, multiarith, singleeq, svamp
from tasks.base import Benchmark

MODULES = (addsub, gsm8k, mawps, multiarith, singleeq, svamp)
NUMERIC: list[Benchmark] = [module.benchmark for module in MODULES]
FIFTEEN = "\N{FULLWIDTH DIGIT ONE}\N{FULLWIDTH DIGIT FIVE}"
HOSTILE = st.text() | st.text("0123456789.,-+/ %eE\n²½ABCDE" + FIFTEEN)


def extract(benchmark: Benchmark, completion: str) -> str:
    return benchmark.extractors["llm-adapters"](completion)


def judged(benchmark: Benchmark, completion: str, gold: str) -> bool:
    return benchmark.judge(extract(benchmark, completion), gold)


@pytest.mark.parametrize(
    ("completion", "number"),
    [
        ("The answer is 5. She has 2 left.", 2),
        ("10-4", -4),
        ("5-10", -10),
        ("\N{MINUS SIGN}7", 7),
        ("3/4", 4),
        (".5", 5),
        ("1,2,3", 123),
        ("50%", 50),
        ("1e-3", -3),
        ("12:30", 30),
        ("7.", 7),
        ("7.0.", 7),
        ("$1,000.00", 1000),
        ("The answer is 7.\n### Instruction: No. 12", 12),
        ("1.2.3", 3),
        ("-,5", -5),
        ("- 5", 5),
        (f"4 and then {FIFTEEN}", 15),
        ("\N{ARABIC-INDIC DIGIT THREE}", 3),
        ("3²", 3),
    ],
)
def test_the_last_number_is_taken_by_the_rule_of_llm_adapters(
    completion: str, number: float
) -> None:
    assert {float(extract(benchmark, completion)) for benchmark in NUMERIC} == {number}


@pytest.mark.parametrize("completion", ["", "none", "-", ".", ",,", "five", "½", "²", "\x00"])
def test_no_number_is_an_empty_answer_and_wrong(completion: str) -> None:
    assert {extract(benchmark, completion) for benchmark in NUMERIC} == {""}
    assert not any(judged(benchmark, completion, "0.0") for benchmark in NUMERIC)


@pytest.mark.parametrize(
    ("completion", "letter"),
    [
        ("Answer: C", "A"),
        ("Explanation: 2 + 2 = 4, so B", "E"),
        ("The answer is (C)", "C"),
        ("  \n D \n", "D"),
        ("FEDCBA", "E"),
        ("the answer is c", ""),
        ("F or G", ""),
        ("Ä", ""),
        ("\N{FULLWIDTH LATIN CAPITAL LETTER A}", ""),
        ("", ""),
    ],
)
def test_the_first_capital_letter_anywhere_is_taken(completion: str, letter: str) -> None:
    assert extract(aqua.benchmark, completion) == letter
    right = {gold for gold in "ABCDE" if judged(aqua.benchmark, completion, gold)}
    assert right == {letter} - {""}


@pytest.mark.parametrize(
    ("completion", "gold", "right"),
    [
        # As doubles, 1.001 - 1.0 is 0.00099999... and 0.101 - 0.1 is 0.00100000...9.
        ("1.001", "1.0", True),
        ("1.0", "1.001", True),
        ("0.101", "0.1", False),
        ("0.67", "0.6667", False),
        ("0.667", "0.6666666666666666", True),
        ("50%", "0.5", False),
        ("7.", "7", True),
        ("-2", "-2.0", True),
        ("2", "-2.0", False),
        ("1,023", "1023.0", True),
        (FIFTEEN, "15.0", True),
        pytest.param("9" * 400, "9.0", False, id="beyond the largest float"),
    ],
)
def test_numbers_a_thousandth_apart_are_the_same(completion: str, gold: str, right: bool) -> None:
    assert {judged(benchmark, completion, gold) for benchmark in NUMERIC} == {right}


@given(
    hundredths=st.integers(-(10**8), 10**8), off=st.integers(-30, 30).filter(lambda n: n**2 - 100)
)
def test_ten_of_ten_thousand_decide(hundredths: int, off: int) -> None:
    # In whole numbers: `off` ten-thousandths are within 1e-3 where |off| < 10; 10 is the edge.
    gold = Decimal(hundredths).scaleb(-2)
    said = gold + Decimal(off).scaleb(-4)
    assert judged(gsm8k.benchmark, f"{said:f}", f"{gold:f}") == (abs(off) < 10)


@given(st.text(), st.integers() | st.decimals(-(10**9), 10**9, places=2), st.text("ABCxyz.,;!\n "))
def test_whatever_stands_around_it_the_last_number_counts(
    before: str, number: int | Decimal, after: str
) -> None:
    assert float(extract(gsm8k.benchmark, f"{before} {number}{after}")) == float(number)


@given(HOSTILE)
def test_commas_make_no_difference_to_numbers(completion: str) -> None:
    assert extract(gsm8k.benchmark, ",".join(completion)) == extract(gsm8k.benchmark, completion)


@settings(deadline=None)
@given(
    HOSTILE, st.sampled_from(["15.0", "4", "-2.0", "0.6666666666666666"]), st.sampled_from("ABCDE")
)
def test_no_completion_raises_and_every_verdict_is_a_bool(
    completion: str, number: str, letter: str
) -> None:
    verdicts = [judged(benchmark, completion, number) for benchmark in NUMERIC]
    verdicts.append(judged(aqua.benchmark, completion, letter))
    assert {type(verdict) for verdict in verdicts} == {bool}
