"""Finding test questions in training texts.

The counts on the published files are those of the notes that came with the data, made by other
programs: rows for the MAWPS training set and `math_data.json`, different questions for Auto-CoT.
"""

import gzip
import json
import os
import string
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.data import sets
from tasks.data.contamination import (
    Findings,
    Overlap,
    Report,
    contaminated,
    mask,
    normalise,
    report,
)
from tasks.groups.math import group

LONG = "a b c d e f g h i j k l m"
"""Thirteen words."""

words = st.text(string.ascii_letters + string.digits, min_size=1, max_size=5)
gaps = st.text(string.whitespace + string.punctuation, min_size=1, max_size=3)
questions = st.lists(words, min_size=1, max_size=14).map(" ".join)
benchmarks = st.dictionaries(words, st.lists(questions, max_size=4), max_size=3)


def findings(training: list[str], *questions: str) -> Findings:
    return report(training, {"set": questions}).benchmarks["set"]


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("  How MANY\tpens\n?", "how many pens"),
        ("Tom 's pens, Tom's pens", "tom s pens tom s pens"),
        ("$1,234.50 + 3/4", "1 234 50 3 4"),
        ("snake_case", "snake case"),
        ("\uff14\uff12 \ufb01sh, 1\u00bd", "42 fish 11 2"),
        ("cafe\u0301", "caf\u00e9"),
        ("?!", ""),
    ],
)
def test_normalising_keeps_letters_and_digits(text: str, normalised: str) -> None:
    assert normalise(text) == normalised


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("5 pens", "# pens"),
        ("1,234.50 dollars", "# dollars"),
        ("3 1/2 cups and 3.5 cups", "# cups and # cups"),
        ("a 4th box, 20cm wide", "a #th box #cm wide"),
        ("two pens", "two pens"),
    ],
)
def test_every_number_is_masked_once(text: str, masked: str) -> None:
    assert mask(normalise(text)) == masked


def test_numbers_that_differ_match_only_when_masked() -> None:
    found = findings(["Tom has 2 pens."], "Tom has 1,200 pens.", "Ann has 2 pens.")
    assert (found.exact, found.masked, found.ngram) == ((), (0,), ())


def test_thirteen_shared_words_are_found_and_twelve_are_not() -> None:
    twelve = LONG.removesuffix(" m")
    found = findings([f"x {LONG} y"], f"p {LONG} q", f"r {twelve} s")
    assert (found.exact, found.masked, found.ngram) == ((), (), (0,))


def test_a_question_of_fewer_words_is_found_only_where_it_is_the_whole_text() -> None:
    assert findings(["who is it now"], "who is it", "and now").ngram == ()
    assert findings(["who is it"], "who is it", "and now").ngram == (0,)


def test_the_template_of_a_benchmark_is_no_finding() -> None:
    training = [f"{LONG}: what is red?"]
    assert findings(training, f"{LONG}: what is blue?", f"{LONG}: who is there?").ngram == ()


def test_a_repeated_question_is_found_at_each_of_its_places() -> None:
    found = findings([LONG.upper()], LONG, "else", f"{LONG}?")
    assert found == Findings(n=3, exact=(0, 2), masked=(0, 2), ngram=(0, 2))


def test_a_benchmark_of_one_question_is_not_all_template() -> None:
    assert findings([f"x {LONG} y"], LONG).ngram == (0,)


def test_overlaps_count_different_questions_and_rows() -> None:
    tests = {"one": ["A?", "a", "b"], "two": ["c", "A"], "three": ["d"]}
    assert report([], tests).overlaps == (
        Overlap("one", "two", questions=1, first_rows=2, second_rows=1),
    )


def test_an_empty_benchmark_has_no_findings() -> None:
    assert findings(["text"]) == Findings(n=0, exact=(), masked=(), ngram=())


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text())
def test_masking_leaves_no_digit(text: str) -> None:
    assert not any(c.isdecimal() for c in mask(normalise(text)))


@given(st.lists(words, min_size=1), st.data())
def test_case_space_and_punctuation_between_words_hide_no_match(
    spoken: list[str], data: st.DataObject
) -> None:
    ends = data.draw(st.tuples(*[gaps] * len(spoken)))
    disguised = "".join(w.swapcase() + end for w, end in zip(spoken, ends, strict=True))
    assert contaminated([disguised], [" ".join(spoken)]) == {0}


@given(st.lists(questions, max_size=3), benchmarks)
def test_exact_findings_are_masked_and_ngram_findings_too(
    training: list[str], tests: dict[str, list[str]]
) -> None:
    copied = [text for texts in tests.values() for text in texts[:2]]
    for name, found in report([*training, *copied], tests).benchmarks.items():
        everything = set(range(len(tests[name])))
        assert found.n == len(everything)
        assert set(range(min(2, found.n))) <= set(found.exact)
        assert set(found.exact) <= set(found.masked) <= everything
        assert set(found.exact) <= set(found.ngram) <= everything


@given(st.lists(questions, max_size=3), benchmarks)
def test_the_quick_search_agrees_with_the_report(
    training: list[str], tests: dict[str, list[str]]
) -> None:
    training = [*training, *(texts[-1] for texts in tests.values() if texts)]
    found = report(training, tests).benchmarks
    assert {name: contaminated(training, texts) for name, texts in tests.items()} == {
        name: frozenset(f.exact) for name, f in found.items()
    }


@given(st.lists(questions, max_size=3), st.lists(questions, max_size=3), benchmarks)
def test_more_training_texts_hide_nothing(
    some: list[str], more: list[str], tests: dict[str, list[str]]
) -> None:
    fewer, all_of_them = report(some, tests), report([*more, *some], tests)
    for name, found in fewer.benchmarks.items():
        for kind in ("exact", "masked", "ngram"):
            assert set(getattr(found, kind)) <= set(getattr(all_of_them.benchmarks[name], kind))


@pytest.fixture(scope="module")
def data() -> Path:
    if not os.environ.get("HARNESS_DATA"):
        pytest.skip("HARNESS_DATA names no folder with the published data")
    return Path(os.environ["HARNESS_DATA"])


@cache
def published(folder: Path) -> dict[str, list[str]]:
    files = {name: import_module(f"tasks.{name}").benchmark for name in group.benchmarks}
    loaded = {name: sets.load_test(name, file, folder) for name, file in files.items()}
    return {name: [row.instruction for row in found.rows] for name, found in loaded.items()}


@cache
def found_in(path: str, field: str, folder: Path) -> Report:
    file = folder / path
    if not file.is_file():
        pytest.skip(f"the data folder has no {path}")
    content = file.read_bytes()
    rows = json.loads(gzip.decompress(content) if file.suffix == ".gz" else content)
    return report([row[field] for row in rows], published(folder))


@pytest.mark.parametrize("field", ["original_text", "segmented_text"])
def test_test_rows_in_the_training_set_of_mawps(data: Path, field: str) -> None:
    found = found_in("original/mawps/trainset.json", field, data).benchmarks
    assert {name: len(f.exact) for name, f in found.items()} == {
        "multiarith": 452,
        "gsm8k": 0,
        "addsub": 327,
        "aqua": 0,
        "singleeq": 416,
        "svamp": 0,
        "mawps": 28,
    }


def test_test_rows_in_the_leaky_training_file(data: Path) -> None:
    found = found_in("leaky/llm_adapters_math_data.json", "instruction", data).benchmarks
    assert len(found["gsm8k"].exact) == 1055


def test_different_test_questions_in_auto_cot(data: Path) -> None:
    found = found_in("multitask/auto_cot/auto_cot.json.gz", "instruction", data).benchmarks
    tests = published(data)
    different = {n: len({normalise(tests[n][i]) for i in f.exact}) for n, f in found.items()}
    assert different == {
        "multiarith": 460,
        "gsm8k": 537,
        "addsub": 281,
        "aqua": 85,
        "singleeq": 397,
        "svamp": 621,
        "mawps": 106,
    }


def test_questions_that_the_math_benchmarks_share(data: Path) -> None:
    """The notes count rows of MAWPS (49, 58, 65) and questions of AddSub and SingleEq (111)."""
    shared = {(o.first, o.second): o for o in report([], published(data)).overlaps}
    assert {pair: (o.questions, o.second_rows) for pair, o in shared.items()} == {
        ("multiarith", "mawps"): (49, 49),
        ("addsub", "singleeq"): (111, 112),
        ("addsub", "mawps"): (58, 58),
        ("singleeq", "mawps"): (62, 65),
    }
