"""A benchmark of the rows of a user's file: what is read, how it is judged, what is refused."""

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.contract import Benchmark, Group, Row
from tasks.data.files import DataError
from tasks.data.sets import load_test, load_training, training_set
from tasks.from_file import benchmark_from

Make = Callable[..., Benchmark]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write rows and the file of a benchmark beside them, and make the benchmark."""

    def made(content: str | Sequence[Any], name: str = "rows.json", **words: Any) -> Benchmark:
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / "zoo.py").write_text('"""Zoo: questions about animals."""\n')
        return benchmark_from(str(tmp_path / "zoo.py"), name, **words)

    return made


def asked(*answers: object) -> list[dict[str, object]]:
    return [{"q": f"Question {n}?", "a": answer} for n, answer in enumerate(answers, 1)]


NAMES = {"question": "q", "answer": "a"}
WRITTEN = {
    "rows.json": '[{"q": "Legs, of a cat?", "a": 4}, {"q": "Of a hen?", "a": "2"}]',
    "rows.jsonl": '{"q": "Legs, of a cat?", "a": 4}\n{"q": "Of a hen?", "a": "2"}\n',
    "rows.csv": 'q,a\n"Legs, of a cat?",4\nOf a hen?,2\n',
    "EXCEL.CSV": '\ufeffq,a\r\n"Legs, of a cat?",4\r\nOf a hen?,2\r\n',
}


@pytest.mark.parametrize("name", WRITTEN)
def test_json_json_lines_and_csv_hold_the_same_rows(make: Make, name: str) -> None:
    benchmark = make(WRITTEN[name], name, kind="number", **NAMES)
    found = load_test("zoo", benchmark, None)
    assert found.rows == (Row(0, "Legs, of a cat?", "4", "4"), Row(1, "Of a hen?", "2", "2"))
    content = WRITTEN[name].encode()
    assert (found.kind, found.verified, found.title) == ("own", True, name)
    assert found.sha256 == sha256(content).hexdigest()


def test_a_users_file_is_read_with_a_data_folder_too(make: Make, tmp_path: Path) -> None:
    benchmark = make(asked(4), kind="number", **NAMES)
    assert load_test("zoo", benchmark, tmp_path / "elsewhere") == load_test("zoo", benchmark, None)


def test_the_title_is_what_the_docstring_begins_with(make: Make) -> None:
    assert make(asked(4), kind="number", **NAMES).title == "Zoo"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"question": "1?", "answer": "2"}, ("1?", "2", "2", "")),
        ({"instruction": "1?", "output": "2"}, ("1?", "2", "2", "")),
        ({"instruction": "1?", "input": "x", "label": "2"}, ("1?", "2", "2", "x")),
        ({"instruction": "1?", "output": "It is 2.", "answer": "2"}, ("1?", "2", "It is 2.", "")),
    ],
)
def test_columns_have_usual_names(make: Make, row: object, expected: tuple[str, ...]) -> None:
    (found,) = load_test("zoo", make([row], kind="number"), None).rows
    assert (found.instruction, found.answer, found.output, found.input) == expected


@pytest.mark.parametrize(
    ("kind", "gold", "completion", "extracted"),
    [
        ("number", 4, "It is 3 + 1 = 4 legs.", {"llm-adapters": "4", "strict": "4"}),
        ("letter", "B", "The answer is (B).", {"llm-adapters": "B", "strict": "B"}),
        ("options", "yes", "the answer is yes", {"llm-adapters": "yes", "strict": "yes"}),
    ],
)
def test_a_kind_chooses_extractors_and_judge(
    make: Make, kind: str, gold: object, completion: str, extracted: dict[str, str]
) -> None:
    benchmark = make(asked(gold, gold), kind=kind, **NAMES)
    found = {name: extract(completion) for name, extract in benchmark.extractors.items()}
    assert found == extracted
    assert all(benchmark.judge(answer, str(gold)) for answer in found.values())
    assert not benchmark.judge("", str(gold))
    assert benchmark.metrics == ("accuracy",)


def test_options_are_the_answers_of_the_file_and_are_scored_by_likelihood(make: Make) -> None:
    answers = ("New York", "York", "Rome", "York", True)
    benchmark = make(asked(*answers), kind="options", **NAMES)
    rows = load_test("zoo", benchmark, None).rows
    assert benchmark.options
    assert benchmark.options(rows[0]) == {w: w for w in ("New York", "Rome", "York", "true")}
    for name in ("llm-adapters", "strict"):
        found = benchmark.extractors[name]("The answer is New York.")
        assert [benchmark.judge(found, row.answer) for row in rows] == [True, *[False] * 4]


def test_texts_are_compared_with_the_answer_even_if_there_is_a_column_output(make: Make) -> None:
    rows = [{"q": "Write.", "a": "A poem.", "output": "something else"}]
    benchmark = make(rows, kind="text", **NAMES)
    (found,) = load_test("zoo", benchmark, None).rows
    assert (found.output, found.answer) == ("A poem.", "A poem.")
    assert (benchmark.metrics, benchmark.extractors) == (("bleu", "rouge-l", "perplexity"), {})


FAULTS = [
    ("[]", "number", r"0 rows"),
    ("", "number", r"the file is empty"),
    ("[1]", "number", r"row 1: expected an object, found int"),
    ('[{"x": "?", "a": 1}]', "number", r"row 1: no column 'q'; it has 'x', 'a'"),
    ('[{"q": "?", "a": 1}, {"q": "?"}]', "number", r"row 2: no column 'a'; it has 'q'"),
    (asked(1, 2, "five"), "number", r"row 3: the answer is 'five', expected a finite number"),
    (asked(1, [2]), "number", r"row 2: column 'a' holds list, expected text or a number"),
    (asked(1, " "), "number", r"row 2: column 'a' is empty"),
    (asked(1, None), "number", r"row 2: column 'a' is empty"),
    (asked("A", "b"), "letter", r"row 2: the answer is 'b', expected one of A, B, C, D, E"),
    (asked("yes", "Yes"), "options", r"row 2: the answer is 'Yes', expected 'yes' as in row 1"),
    (asked("yes", "not so"), "options", r"row 2: the answer is 'not so', expected an option"),
    (asked(*(f"word{n}" for n in range(21))), "options", r"21 different answers, expected 20"),
]


@pytest.mark.parametrize(("content", "kind", "said"), FAULTS)
def test_what_is_wrong_is_told_by_file_row_and_expectation(
    make: Make, content: str | Sequence[Any], kind: str, said: str
) -> None:
    with pytest.raises(DataError, match=rf"rows\.json: {said}") as caught:
        load_test("zoo", make(content, kind=kind, **NAMES), None)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("q,a\n1?,2\n3?\n", "row 2: fewer cells than the 2 of the header"),
        ("q,a\n1?,2,3\n", "row 1: more cells than the 2 of the header"),
        ("q,q\n1?,2\n", "the header has the columns 'q', 'q'; expected a distinct name for each"),
        ('q,a\n"1?,2\n', "not CSV: unexpected end of data"),
        ("q;a\n1?;2\n", "row 1: no column 'q'; it has 'q;a'"),
    ],
)
def test_what_is_wrong_with_csv_is_told(make: Make, content: str, said: str) -> None:
    with pytest.raises(DataError) as caught:
        load_test("zoo", make(content, "rows.csv", kind="number", **NAMES), None)
    assert said in str(caught.value)


def test_a_kind_that_there_is_not_and_training_on_the_test_set_are_refused(make: Make) -> None:
    with pytest.raises(ValueError, match="one of number, letter, options, text, not 'numbr'"):
        make(asked(1), kind="numbr")
    with pytest.raises(ValueError, match=r"train is 'rows\.json', the file that is tested on"):
        make(asked(1), kind="number", train="rows.json")


def train_on(benchmark: Benchmark, file: Path | None = None) -> list[tuple[str, str]]:
    group = Group("Zoo", ("zoo",), benchmark.train, sample_rows=0)
    found = training_set("zoo", group, [benchmark], None, file)
    assert found.kind == "own"
    return [(row.instruction, row.output) for row in found.rows]


def test_the_file_to_train_on_has_the_columns_of_the_test_set_or_a_known_layout(
    make: Make, tmp_path: Path
) -> None:
    benchmark = make(asked(1), kind="number", train="train.json", **NAMES)
    train = tmp_path / "train.json"
    learnt = {
        '[{"q": "1?", "a": 2}]': "2",
        '[{"q": "1?", "a": 2, "output": "It is 2."}]': "It is 2.",
        '[{"instruction": "1?", "output": "So 2.", "answer": "2"}]': "So 2.",
        '[{"query": "1?", "response": "The answer is 2."}]': "The answer is 2.",
    }
    for content, output in learnt.items():
        train.write_text(content)
        assert train_on(benchmark) == train_on(benchmark, train) == [("1?", output)]


def test_a_file_to_train_on_of_neither_form_is_told_with_both(make: Make, tmp_path: Path) -> None:
    benchmark = make(asked(1), kind="number", train="train.json", **NAMES)
    with pytest.raises(DataError, match=r"train\.json: there is no such file"):
        train_on(benchmark)
    (tmp_path / "train.json").write_text('[{"x": 1}]')
    with pytest.raises(DataError) as caught:
        load_training("zoo", Group("Zoo", ("zoo",), benchmark.train, 0), [benchmark], None)
    first, second = str(caught.value).split("\n")
    assert "row 1: no column 'q'; it has 'x'" in first
    assert "row 1: no field 'instruction'; expected instruction, output" in second


@given(st.lists(st.tuples(st.text(min_size=1), st.integers()), min_size=1, max_size=5))
def test_every_text_of_json_survives(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, int]]
) -> None:
    kept = [(q, a) for q, a in pairs if q.strip()]
    folder = tmp_path_factory.mktemp("zoo")
    (folder / "zoo.py").write_text("")
    (folder / "rows.json").write_text(json.dumps([{"q": q, "a": a} for q, a in kept]))
    benchmark = benchmark_from(str(folder / "zoo.py"), "rows.json", kind="number", **NAMES)
    if kept:
        rows = load_test("zoo", benchmark, None).rows
        assert [(row.instruction, row.answer) for row in rows] == [(q, str(a)) for q, a in kept]
