"""The published files, where the environment variable HARNESS_DATA names a folder with them.

What the benchmarks ask for is checked without the files too. The counts were made on the files by
other programs: rows in the papers, numbers that are negative or not whole, rationales that miss the
answer and numbers of options in the notes that came with the data.
"""

import gzip
from collections import Counter
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import pytest

from tasks.contract import Benchmark, DataFile
from tasks.data import files, sets
from tasks.data.sets import DataSet

ROWS = {
    "multiarith": 600,
    "gsm8k": 1319,
    "addsub": 395,
    "aqua": 254,
    "singleeq": 508,
    "svamp": 1000,
    "mawps": 238,
    "boolq": 3270,
    "piqa": 1838,
    "siqa": 1954,
    "arc_challenge": 1172,
    "arc_easy": 2376,
    "obqa": 500,
    "hellaswag": 10042,
    "winogrande": 1267,
}
"""Rows of the 15 test sets in the papers, and of dataset/*/test.json in LLM-Adapters 8166572."""

REPLIES = 7801
"""Rows of ConvAI2's validation set: replies."""

judging = pytest.mark.parametrize("name", ROWS, indirect=True)
"""For every benchmark whose rows have one right answer."""


def known(name: str) -> Benchmark:
    found: Benchmark = import_module(f"tasks.{name}").benchmark
    return found


@cache
def load(name: str, folder: Path) -> DataSet:
    return sets.load_test(name, known(name), folder)


@pytest.fixture
def real(name: str, data: Path) -> DataSet:
    return load(name, data)


def content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def judged(benchmark: Benchmark, completion: str, gold: str) -> bool:
    return benchmark.judge(benchmark.extractors["llm-adapters"](completion), gold)


@pytest.mark.parametrize(("name", "rows"), [*ROWS.items(), ("convai2", REPLIES)])
def test_a_benchmark_asks_for_the_rows_of_the_papers(name: str, rows: int) -> None:
    assert known(name).file.rows == rows


@judging
def test_test_sets_have_the_rows_of_the_papers(name: str, real: DataSet) -> None:
    assert [row.id for row in real.rows] == list(range(ROWS[name]))
    assert real.verified


@judging
def test_all_test_sets_but_hellaswag_are_the_published_ones(
    name: str, data: Path, real: DataSet
) -> None:
    if name == "hellaswag" and not files.locate(known(name).file, data):
        assert real.kind == "substitute"
        assert real.title == "substitute for the HellaSwag test set"
    else:
        assert real.kind == "published"


@pytest.mark.parametrize(
    ("name", "rows", "kind"),
    [
        ("auto_cot", 5816, "published"),
        ("icliniq", 465, "substitute"),
        ("dolly", 3742, "substitute"),
        ("codealpaca", 2017 - 2, "substitute"),  # 2 rows have no output
        ("convai2", REPLIES, "published"),
    ],
    indirect=["name"],
)
def test_sets_of_texts_have_the_rows_of_their_notes(real: DataSet, rows: int, kind: str) -> None:
    assert (len(real.rows), real.kind, real.verified) == (rows, kind, True)


@pytest.mark.parametrize("name", [*ROWS, "auto_cot", "convai2"], indirect=True)
def test_the_hash_is_that_of_the_file(benchmark: Benchmark, real: DataSet, data: Path) -> None:
    path = next(path for file in benchmark.files if (path := files.locate(file, data)))
    assert real.sha256 == sha256(content(path)).hexdigest()


@judging
def test_every_gold_answer_can_be_one(benchmark: Benchmark, real: DataSet) -> None:
    assert {benchmark.check_gold(row) for row in real.rows} == {""}


@judging
def test_the_gold_answer_as_completion_is_right(benchmark: Benchmark, real: DataSet) -> None:
    wrong = [row.id for row in real.rows if not judged(benchmark, row.answer, row.answer)]
    assert wrong == []


@judging
def test_the_completion_of_the_gold_option_is_right_by_every_extractor(
    benchmark: Benchmark, real: DataSet
) -> None:
    options = benchmark.options or (lambda row: {row.answer: f"The answer is {row.answer}"})
    for extract in benchmark.extractors.values():
        completions = [(options(row)[row.answer], row.answer) for row in real.rows]
        wrong = [(text, gold) for text, gold in completions if extract(text) == ""]
        assert wrong == []
        assert all(benchmark.judge(extract(text), gold) for text, gold in completions)


@judging
def test_every_rationale_is_judged_without_exception(benchmark: Benchmark, real: DataSet) -> None:
    verdicts = [judged(benchmark, row.output, row.answer) for row in real.rows]
    assert {type(verdict) for verdict in verdicts} == {bool}


@pytest.mark.parametrize(
    ("name", "missed"),
    # GSM8K: 542 rationales end in another number and 6 are empty; all of MAWPS' are empty.
    [("gsm8k", 542 + 6), ("svamp", 197), ("mawps", 238)],
    indirect=["name"],
)
def test_rationales_miss_the_answer_as_often_as_counted(
    name: str, real: DataSet, missed: int
) -> None:
    assert sum(not judged(known(name), row.output, row.answer) for row in real.rows) == missed


@pytest.mark.parametrize(
    ("name", "negative", "broken"),
    [
        ("multiarith", 0, 0),
        ("gsm8k", 2, 0),
        ("addsub", 0, 126),
        ("singleeq", 0, 134),
        ("svamp", 0, 0),
        ("mawps", 1, 38),
    ],
    indirect=["name"],
)
def test_gold_numbers_are_negative_or_broken_as_often_as_counted(
    real: DataSet, negative: int, broken: int
) -> None:
    numbers = [float(row.answer) for row in real.rows]
    assert sum(number < 0 for number in numbers) == negative
    assert sum(number % 1 != 0 for number in numbers) == broken


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("boolq", {2: 3270}),
        ("siqa", {3: 1954}),
        ("arc_challenge", {3: 4, 4: 1165, 5: 3}),
        ("arc_easy", {3: 7, 4: 2365, 5: 4}),
        ("hellaswag", {4: 10042}),
        ("winogrande", {2: 1267}),
    ],
    indirect=["name"],
)
def test_rows_offer_as_many_options_as_counted(
    benchmark: Benchmark, real: DataSet, numbers: dict[int, int]
) -> None:
    assert benchmark.options
    assert Counter(len(benchmark.options(row)) for row in real.rows) == numbers


def test_boolq_is_true_in_62_percent(data: Path) -> None:
    rows = load("boolq", data).rows
    assert round(100 * sum(row.answer == "true" for row in rows) / len(rows), 2) == 62.17


@pytest.mark.parametrize(
    ("trained", "rows"),
    [("math", 8412), ("commonsense", 13119), ("dialogue", 7316), ("metamath", 7473)],
    indirect=["trained"],
)
def test_a_substitute_for_a_training_set_is_marked_as_such(
    trained: str, data: Path, rows: int
) -> None:
    group = import_module(f"tasks.groups.{trained}").group
    if files.locate(group.train[0], data):
        pytest.skip("the published set is at hand and goes before its substitute")
    found = sets.load_training(trained, group, (), data)
    assert (found.kind, found.verified, len(found.rows)) == ("substitute", True, rows)
    assert found.title.startswith("substitute for ")


PUBLISHED = [name for name in ROWS if name != "hellaswag"]


def at_hand(file: DataFile, data: Path) -> Path:
    path = files.locate(file, data)
    assert path
    return path


@pytest.mark.parametrize("name", PUBLISHED, indirect=True)
@pytest.mark.parametrize("end", ["", ".gz"])
def test_the_layout_of_llm_adapters_is_read_as_it_is(
    benchmark: Benchmark, real: DataSet, name: str, data: Path, tmp_path: Path, end: str
) -> None:
    place = next(place for place in benchmark.file.places if place.startswith("dataset/"))
    path = tmp_path / f"{place}{end}"
    path.parent.mkdir(parents=True)
    original = at_hand(benchmark.file, data)
    if end:
        path.write_bytes(gzip.compress(content(original), 1))
    else:
        path.symlink_to(original.resolve())
    assert sets.load_test(name, benchmark, tmp_path) == real


LLM_ADAPTERS = {
    # Folders of the repository that are not called as this project calls the benchmark.
    "multiarith": "MultiArith",
    "addsub": "AddSub",
    "aqua": "AQuA",
    "singleeq": "SingleEq",
    "svamp": "SVAMP",
    "siqa": "social_i_qa",
    "arc_challenge": "ARC-Challenge",
    "arc_easy": "ARC-Easy",
    "obqa": "openbookqa",
}


@judging
def test_a_test_set_is_looked_for_where_llm_adapters_keeps_it(
    benchmark: Benchmark, name: str
) -> None:
    assert f"dataset/{LLM_ADAPTERS.get(name, name)}/test.json" in benchmark.file.places


def test_a_changed_row_of_a_published_set_is_refused(data: Path, tmp_path: Path) -> None:
    benchmark = known("svamp")
    path = tmp_path / "dataset/SVAMP/test.json"
    path.parent.mkdir(parents=True)
    rows = content(at_hand(benchmark.file, data))
    path.write_bytes(rows.replace(b'"answer": "1.0"', b'"answer": "2.0"', 1))
    with pytest.raises(files.DataError, match="not SVAMP test set as on record"):
        sets.load_test("svamp", benchmark, tmp_path)
