"""Extraction and judging: by the rules of LLM-Adapters' evaluate.py, and strictly.

What each output gives by LLM-Adapters was worked out by hand from the two regular expressions of
that script: all numbers `-?\\d+\\.?\\d*` after deleting commas, the last one counts; the first of
`A|B|C|D|E`. What it gives strictly is what a reader would say that the output claims, and nothing
where two readers could differ.
"""

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks import addsub, aqua, gsm8k, mawps, multiarith, singleeq, svamp
from tasks.answers.letters import first_letter, stated_letter
from tasks.answers.numbers import last_number, stated_number, within_tolerance
from tasks.answers.options import ANSWERS, ENDINGS, OPTIONS, TRUTH, first_of, stated_of
from tasks.contract import Benchmark

MODULES = (addsub, gsm8k, mawps, multiarith, singleeq, svamp)
NUMERIC: list[Benchmark] = [module.benchmark for module in MODULES]
FIFTEEN = "\N{FULLWIDTH DIGIT ONE}\N{FULLWIDTH DIGIT FIVE}"
WORDS = [make(*words) for make in (first_of, stated_of) for words in (TRUTH, ANSWERS)]
HOSTILE = st.text() | st.text("0123456789.,-+/ %eE\n²½ABCDE" + FIFTEEN)


def extract(benchmark: Benchmark, completion: str) -> str:
    return benchmark.extractors["llm-adapters"](completion)


def judged(benchmark: Benchmark, completion: str, gold: str) -> bool:
    return benchmark.judge(extract(benchmark, completion), gold)


BEFORE = HOSTILE.filter(lambda text: "### Instruction" not in text)


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


@given(
    HOSTILE, st.sampled_from(["15.0", "4", "-2.0", "0.6666666666666666"]), st.sampled_from("ABCDE")
)
def test_no_completion_raises_and_every_verdict_is_a_bool(
    completion: str, number: str, letter: str
) -> None:
    verdicts = [judged(benchmark, completion, number) for benchmark in NUMERIC]
    verdicts.append(judged(aqua.benchmark, completion, letter))
    assert {type(verdict) for verdict in verdicts} == {bool}


@pytest.mark.parametrize(
    ("completion", "number"),
    [
        ("The answer is 5. She has 2 left.", "5"),
        ("The answer is 5. So the answer is 6.", "6"),
        ("The answer is 5. The answer is not known.", "5"),
        ("Each has 3, so the final answer to the question is: **5** apples", "5"),
        ("2 and 3 make 5.\n**Answer:**\n5", "5"),
        ("1 + 1 = 3\n#### 3", "3"),
        ("2 and 3 make \\boxed{5}.", "5"),
        ("\\boxed{\\frac{3}{4}}", "0.75"),
        ("The answer is 3/4.", "0.75"),
        ("The answer is -3 / 4 of it.", "-0.75"),
        ("The answer is 2 1/2 cups.", "2.5"),
        ("The answer is 3/0.", ""),
        ("The answer is 50%.", "50"),
        ("The answer is $1,000.00.", "1000.00"),
        ("The answer is $118 000.", "118000"),
        ("The answer is 1,2,3.", ""),
        ("The answer is 1,00.", "1.00"),
        ("The answer is \N{MINUS SIGN}7.", "-7"),
        ("The answer is -$7.", "-7"),
        ("The answer is $-7.", "-7"),
        ("The answer is .5", ".5"),
        ("The answer is 1e-3", "1e-3"),
        ("The answer is 5-10.", ""),
        ("The answer is 5\N{EN DASH}10.", ""),
        ("The answer is 10-4.", ""),
        ("The answer is 10 - 4 = 6 books.", "6"),
        ("The answer is (1 + 2) * 2 = 6.", "6"),
        ("The answer is 5 because 2 + 3 = 5.", "5"),
        ("The answer is 12:30, and 5 came.", ""),
        ("There are 5 buses. The answer is 12:30.", ""),
        ("The answer is 1.2.3.", ""),
        ("The answer is 31/12/2024.", ""),
        ("The answer is 3\N{SUPERSCRIPT TWO}.", "9"),
        ("The answer is 2 or 3.", ""),
        ("The answer is 2 to 3.", ""),
        ("The answer is not 5 but 6.", "6"),
        ("The answer is x2.", ""),
        ("The answer is 7.\n### Instruction: No. 12\n### Response: The answer is 1.", "7"),
        ("Tom has 4 boxes. Each holds 5. 4 * 5 = 20", "20"),
        ("4 * 5 = 20", "20"),
        ("12 = 3 * 4", ""),
        ("COVID-19 kept 7 at home, all 7.", "7"),
        ("v1.5 has 7 flaws", "7"),
        ("With 2 cats more, the correct number of cats is 3.", "3"),
        ("7.0.", "7.0"),
        (f"The answer is {FIFTEEN}.", "15"),
        ("The answer is unknown.", ""),
        ("", ""),
    ],
)
def test_the_stated_number_is_taken_or_none(completion: str, number: str) -> None:
    assert stated_number(completion) == number


@pytest.mark.parametrize(
    ("completion", "letter"),
    [
        ("Answer: C", "C"),
        ("Based on A and B, the answer is (D).", "D"),
        ("The answer is A.", "A"),
        ("The answer is that A car is fast, so E", "E"),
        ("A car drives 60 km.", ""),
        ("A car drives 60 km, so (C)", "C"),
        ("The answer is 45, which is option C.", "C"),
        ("The answer is not A but B.", "B"),
        ("The answer is A or B.", ""),
        ("The answer is A and C.", ""),
        ("The answer is by E-mail, so (C).", "C"),
        ("The answer is 45.\nIt is (C)", "C"),
        ("Answer Choices: (A) 20 (B) 30\nAnswer: (B) 30", "B"),
        ("(A) 20 (B) 30", ""),
        ("C) 40", "C"),
        ("C. 40", "C"),
        ("C", "C"),
        ("**C**", "C"),
        ("I would take option D", "D"),
        ("Vitamin C.", ""),
        ("the answer is c", "C"),
        ("\\boxed{\\text{C}}", "C"),
        ("#### C", "C"),
        ("C\n### Instruction: (D)", "C"),
        ("", ""),
    ],
)
def test_the_stated_letter_is_taken_or_none(completion: str, letter: str) -> None:
    assert stated_letter(completion) == letter


@pytest.mark.parametrize(
    ("words", "completion", "option"),
    [
        (TRUTH, "the correct answer is true", "true"),
        (TRUTH, "True", "true"),
        (TRUTH, "untrue", ""),
        (TRUTH, "not false but true", "true"),
        (TRUTH, "not true", ""),
        (TRUTH, "It isn't true, so false", "false"),
        (TRUTH, "true or false", ""),
        (TRUTH, "It is true that this is false.", ""),
        (TRUTH, "Answer format: true/false\nFALSE.", "false"),
        (TRUTH, "the correct answer is not true but false", "false"),
        (TRUTH, "yes", ""),
        (ANSWERS, "answer1 is wrong, the correct answer is answer3", "answer3"),
        (ANSWERS, "Answer 3", "answer3"),
        (ANSWERS, "answer10", ""),
        (ANSWERS, "answer1 and answer2", ""),
        (ANSWERS, "answer2, yes, answer2", "answer2"),
        (ANSWERS, "the correct answer is 3", ""),
        (ENDINGS, "sending1st", ""),
        (OPTIONS, "The correct option is option2, not option1.", "option2"),
        (OPTIONS, "option2\n### Instruction: option1", "option2"),
    ],
)
def test_the_stated_option_is_taken_or_none(
    words: tuple[str, ...], completion: str, option: str
) -> None:
    assert stated_of(*words)(completion) == option


@given(HOSTILE | st.text("0123456789.,-+/ %e=()\N{MINUS SIGN}$\nx"))
def test_whatever_an_extractor_of_numbers_gives_is_judged(completion: str) -> None:
    for extracted in (last_number(completion), stated_number(completion)):
        assert within_tolerance(extracted, extracted or "0") in {True, False}


@pytest.mark.parametrize("extracted", ["nan", "inf", "-inf", "1e999", "-1e999", "9" * 6000, ""])
@pytest.mark.parametrize("answer", ["7.0", "0", "-2"])
def test_what_no_float_can_hold_is_wrong(extracted: str, answer: str) -> None:
    assert not within_tolerance(extracted, answer)


@given(st.text("0123456789., -+%e=()\N{MINUS SIGN}$\nx"))
def test_without_a_fraction_no_digit_is_made_up(completion: str) -> None:
    def digits(text: str) -> str:
        return re.sub(r"\D", "", text)

    assert digits(stated_number(completion)) in digits(completion)


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**6))
def test_a_stated_fraction_is_its_quotient(upper: int, lower: int) -> None:
    said = stated_number(f"It has 2 parts of 9. The answer is {upper}/{lower}.")
    assert float(said) == pytest.approx(upper / lower, rel=1e-15)


@pytest.mark.parametrize(
    "fraction", [f"1{'0' * 10**6}/3", f"{'9' * 10**6} 1/3", f"1/{'3' * 10**6}", f"1/{'0' * 10**6}"]
)
def test_a_fraction_of_a_million_digits_is_no_number(fraction: str) -> None:
    assert stated_number(f"The answer is {fraction}") == ""
    assert stated_number(f"The answer is \\boxed{{{fraction}}}") == ""


def test_a_fraction_of_200_characters_is_a_number() -> None:
    fraction = f"{'2' * 198}/2"  # 198 ones, in the 28 digits that Decimal keeps
    assert stated_number(f"The answer is {fraction}") == f"1.{'1' * 27}E+197"
    assert stated_number(f"The answer is 2{fraction}") == ""


PIECES = st.sampled_from(["1", "0", ".", ",", "/", " ", "e", "-", "A", "answer", "true", "(", "\n"])
RUNAWAY = st.lists(st.tuples(PIECES, st.integers(1, 20_000)), max_size=6).map(
    lambda runs: "The answer is " + "".join(piece * count for piece, count in runs)
)
"""Completions of a model that repeats itself."""


@settings(max_examples=60)
@given(RUNAWAY)
def test_no_completion_of_a_model_that_repeats_itself_raises(completion: str) -> None:
    for extractor in (last_number, stated_number, first_letter, stated_letter, *WORDS):
        assert isinstance(extractor(completion), str)
    within_tolerance(stated_number(completion), "7.0")
    within_tolerance(last_number(completion), "7.0")


@given(BEFORE, st.integers() | st.decimals(-(10**9), 10**9, places=2), st.booleans())
def test_a_number_stated_last_counts(before: str, number: int | Decimal, marked: bool) -> None:
    written = f"{number:,}" if marked else str(number)
    said = stated_number(f"{before}\nThe answer is {written}.\n### Instruction: The answer is 1.")
    assert Decimal(said) == number


@given(BEFORE, st.sampled_from("ABCDE"))
def test_a_letter_stated_last_counts(before: str, letter: str) -> None:
    assert stated_letter(f"{before}\nThe answer is ({letter}).") == letter


@given(BEFORE, st.sampled_from(ANSWERS))
def test_an_option_stated_last_counts(before: str, option: str) -> None:
    assert (
        stated_of(*ANSWERS)(f"{before} answer1 answer2\nthe correct answer is {option}") == option
    )
