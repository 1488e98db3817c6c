"""Signs of degenerate output; repetition against a definition that tries every period."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tasks.metrics.degeneration import Degeneration, degeneration, repeats

WELL = Degeneration(completions=100, empty=0.0, cut=0.0, repeating=0.0)


def periodic(text: str) -> bool:
    """Whether the last 4 periods, or 32 characters, of some period are equal one period apart."""
    text = " " + " ".join(text.split())
    for period in range(1, len(text) // 4 + 1):
        end = text[-max(32, 4 * period) :]
        if len(end) == max(32, 4 * period) and end[period:] == end[:-period]:
            return True
    return False


def looped(before: str, unit: str, copies: int, after: str) -> str:
    return before + unit * copies + after


LOOPS = st.builds(
    looped,
    st.text("ab ", max_size=9),
    st.text("ab \n", min_size=1, max_size=12),
    st.integers(1, 9),
    st.text("ab ", max_size=3),
)


@given(LOOPS | st.text())
@example("ab" * 15 + "a")
@example("ab" * 16)
@example("abaa" * 8)
@example("abcdefghij" * 3 + "abcdefghi")
@example("abcdefghij" * 4)
def test_repetition_is_found_where_trying_every_period_finds_it(text: str) -> None:
    assert repeats(text) == periodic(text)


@pytest.mark.parametrize(
    "text",
    [
        "!" * 256,
        "The answer is 5. " * 4,
        "Step 1: add 2 and 3.\n" * 5 + "Step 1: add",
        "I like dogs. " + "No, no, no. " * 10,
        "\N{CJK UNIFIED IDEOGRAPH-662F}" * 40,
        "one two three four\n one  two three four one two\nthree four one two three four ",
    ],
)
def test_loops_of_signs_words_and_lines_are_repetition(text: str) -> None:
    assert repeats(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n" * 100,
        "very, very, very, very good",
        "def f():\n    {\n        {\n            {\n            }\n        }\n    }\n}",
        "1 + 1 = 2. 2 + 2 = 4. 3 + 3 = 6. 4 + 4 = 8. 5 + 5 = 10. The answer is 10.",
        "The answer is 5. " * 3,
        "The answer is 5. " * 9 + "So it is 5, and all is well that ends well.",
    ],
)
def test_what_ends_otherwise_is_no_repetition(text: str) -> None:
    assert not repeats(text)


def test_a_long_text_takes_no_longer_a_character() -> None:
    # Periods by the thousand fail late: a search of quadratic time would take hours here.
    assert not repeats("b" + ("a" * 999 + "c") * 2 + "a" * 20 + "b" * 100 + "ac" * 8 + "x" * 31)
    assert not repeats(("a" * 20 + "b") * 10_000 + "b" + ("a" * 20 + "b") * 3)


def test_shares_are_of_all_completions() -> None:
    found = degeneration(
        completions=["true", " \n", "", "It is false. " * 4],
        ended=[True, True, False, False],
        extracted=["true", "", "", "false"],
        gold=["true", "true", "true", "false"],
    )
    # `false` is first in the alphabet of two answers given once; empty answers are none.
    assert found == Degeneration(4, 0.5, 0.5, 0.25, "false", 0.25, 0.25)


def test_without_answers_there_is_no_most_frequent_one() -> None:
    assert degeneration(["a", "b"], [True, True]) == Degeneration(2, 0.0, 0.0, 0.0)
    found = degeneration(["a"] * 50, [True] * 50, [""] * 50, ["1"] * 50)
    assert (found.answer, found.sentences()) == ("", ())


def test_nothing_is_said_where_all_is_well() -> None:
    assert WELL.sentences() == ()
    assert Degeneration(100, 0.01, 0.1, 0.05, "true", 0.94, 0.62).sentences() == ()


def test_every_sign_has_its_sentence() -> None:
    assert Degeneration(3270, 0.12, 0.8, 0.4, "true", 1.0, 0.6217).sentences() == (
        "empty: 12 %",
        "cut at the limit: 80 %",
        "repeats itself: 40 %",
        "always the same answer: true (100 %)",
    )


@pytest.mark.parametrize(
    ("rows", "answered", "gold", "said"),
    [(20, 19, 12, True), (19, 19, 12, False), (100, 94, 62, False), (100, 97, 95, False)],
    ids=["same", "few rows", "varied", "so is the gold"],
)
def test_the_same_answer_is_a_sign_on_enough_rows_of_varied_gold(
    rows: int, answered: int, gold: int, said: bool
) -> None:
    labels = [["true"] * count + ["false"] * (rows - count) for count in (answered, gold)]
    found = degeneration(["text"] * rows, [True] * rows, *labels)
    assert bool(found.sentences()) == said


@given(
    st.lists(
        st.tuples(st.text("ab ", max_size=3), st.booleans(), st.sampled_from("xy")), min_size=1
    )
)
def test_the_order_of_rows_is_no_matter(rows: list[tuple[str, bool, str]]) -> None:
    columns, mirrored = zip(*rows, strict=True), zip(*rows[::-1], strict=True)
    there, back = degeneration(*columns), degeneration(*mirrored)
    assert there == back
