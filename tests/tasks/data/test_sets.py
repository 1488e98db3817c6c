"""What is trained on and tested on: files of the user's, and the rows of several sets in folds."""

import gzip
import json
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.contract import DataFile, Group, Kind, Row
from tasks.data import sets
from tasks.data.files import DataError
from tasks.data.sets import DataSet, Division, divide, load_own, pooled
from tasks.groups.math import group as math
from tasks.groups.multitask import group as multitask

CONTENT = json.dumps([{"instruction": f"{n}?", "output": f"{n}"} for n in range(3)]).encode()
DIGEST = sha256(CONTENT).hexdigest()
KNOWN = DataFile("toy set", ("toy.json",), DIGEST, 3, "toy makers", "MIT", kind="substitute")
GROUP = Group("Toy", (), (replace(KNOWN, title="other", sha256=None), KNOWN), 3)


def load(name: str, folder: Path | None) -> DataSet:
    return sets.load_test(name, import_module(f"tasks.{name}").benchmark, folder)


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("name", ["mine.json", "mine.json.gz"])
def test_a_named_file_of_known_content_is_the_known_set(tmp_path: Path, name: str) -> None:
    found = load_own(write(tmp_path / name, CONTENT), GROUP)
    assert (found.title, found.kind, found.verified) == ("toy set", "substitute", True)
    assert found.sha256 == DIGEST
    assert [row.output for row in found.rows] == ["0", "1", "2"]


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.jsonl.gz"])
def test_a_named_file_of_other_content_is_the_users_own(tmp_path: Path, name: str) -> None:
    content = b'{"instruction": "0?", "output": "0"}\n{"instruction": "1?", "output": "1"}\n'
    found = load_own(write(tmp_path / name, content), GROUP)
    assert (found.title, found.kind, found.verified) == (name, "own", True)
    assert found.sha256 == sha256(content).hexdigest()
    assert found.rows == (Row(0, "0?", "0", ""), Row(1, "1?", "1", ""))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"[]", "0 rows", id="no row"),
        pytest.param(b"1 your persona: i sing.\n", "0 rows", id="no reply"),
        pytest.param(CONTENT.replace(b'"2"', b'""'), "row 3: field 'output' is empty", id="empty"),
    ],
)
def test_a_named_file_with_nothing_to_learn_is_refused(
    tmp_path: Path, content: bytes, said: str
) -> None:
    with pytest.raises(DataError, match=said):
        load_own(write(tmp_path / "mine.json", content), GROUP)


def test_a_named_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"mine\.json: there is no such file\.$"):
        load_own(tmp_path / "mine.json", GROUP)
    with pytest.raises(DataError, match=r"there is no such file\.$"):
        load_own(tmp_path / "nowhere" / "mine.json", GROUP)
    with pytest.raises(DataError, match="not a file"):
        load_own(tmp_path, GROUP)


def test_the_nearest_file_of_the_folder_is_suggested(tmp_path: Path) -> None:
    for name in ("legs.json", "legs_train.json", "zoo.csv"):
        write(tmp_path / name, CONTENT)
    with pytest.raises(DataError, match=r"no such file\. Did you mean 'legs_train\.json'\?$"):
        load_own(tmp_path / "legs_trian.json", GROUP)


@pytest.mark.parametrize("packed", [False, True])
def test_the_leaky_file_is_refused_for_its_test_rows_but_can_be_searched(
    tmp_path: Path, data: Path, packed: bool
) -> None:
    path = data / "leaky/llm_adapters_math_data.json"
    if packed:
        path = write(tmp_path / "math_10k.json.gz", path.read_bytes())
    with pytest.raises(DataError, match=r"math_data\.json, an 80 % copy of the test sets") as said:
        load_own(path, math)
    assert str(path) in str(said.value)
    assert len(load_own(path, math, to_train=False).rows) == 3260


def test_a_named_substitute_is_no_file_of_the_users(data: Path) -> None:
    found = load_own(data / "finetune/math_substitute.json.gz", math)
    assert (found.title, found.kind) == ("substitute for Math10K", "substitute")


def dataset(texts: list[str], kind: Kind = "published", digest: str = "0") -> DataSet:
    rows = tuple(Row(n, text, f"reply {n}", "") for n, text in enumerate(texts))
    return DataSet("Toy", kind, digest, True, rows)


@pytest.mark.parametrize(
    ("kinds", "kind"),
    [
        (["published", "published"], "published"),
        (["published", "substitute"], "substitute"),
        (["substitute", "own"], "own"),
        (["published", "sample"], "sample"),
    ],
)
def test_a_pool_is_published_only_where_all_its_sets_are(kinds: list[Kind], kind: Kind) -> None:
    pool = pooled(multitask, {str(n): dataset(["a"], one) for n, one in enumerate(kinds)})
    assert pool.kind == kind


def test_a_pool_is_verified_only_where_all_its_sets_are() -> None:
    one, other = dataset(["a"]), replace(dataset(["b"]), verified=False)
    assert pooled(multitask, {"one": one, "two": one}).verified
    assert not pooled(multitask, {"one": one, "two": other}).verified


def test_the_hash_of_a_pool_tells_which_set_has_which_content() -> None:
    one, other = dataset(["a"], digest="1"), dataset(["b"], digest="2")
    pool = pooled(multitask, {"x": one, "y": other})
    assert pool.sha256 == pooled(multitask, {"y": other, "x": one}).sha256
    assert pool.sha256 != pooled(multitask, {"x": other, "y": one}).sha256
    assert pool.sha256 != pooled(multitask, {"x": one}).sha256
    assert [row.instruction for row in pool.rows] == ["a", "b"]


def test_the_pool_of_samples_holds_the_rows_of_all_of_them() -> None:
    samples = {name: load(name, None) for name in multitask.benchmarks}
    pool = pooled(multitask, samples)
    assert len(pool.rows) == sum(len(one.rows) for one in samples.values())
    assert (pool.kind, pool.verified) == ("sample", True)


COUNT = 5
FEW = settings(max_examples=40)
# Few texts, in several spellings: many rows of a set and of two sets are duplicates.
TEXT = st.builds(str.format, st.sampled_from(["Ask {}", "ask  {}", "ASK\n{} "]), st.integers(0, 30))
SETS = st.dictionaries(st.sampled_from("vwxyz"), st.lists(TEXT, max_size=30), min_size=1).map(
    lambda texts: {name: dataset(one) for name, one in texts.items()}
)
SEEDS = st.integers(0, 5)


def alike(row: Row) -> str:
    return " ".join(f"{row.instruction} {row.input}".lower().split())


def parts(division: Division) -> list[set[str]]:
    tested = {alike(row) for rows in division.tests.values() for row in rows}
    return [set(map(alike, division.train)), set(map(alike, division.validation)), tested]


@FEW
@given(SETS, SEEDS)
def test_every_row_is_tested_in_exactly_one_fold(given_: dict[str, DataSet], seed: int) -> None:
    divisions = [divide(given_, COUNT, fold, seed) for fold in range(COUNT)]
    for name, one in given_.items():
        tested = [row for division in divisions for row in division.tests[name]]
        assert sorted(tested, key=lambda row: row.id) == list(one.rows)


@FEW
@given(SETS, SEEDS, st.integers(0, COUNT - 1))
def test_every_row_is_in_one_part_of_a_fold(
    given_: dict[str, DataSet], seed: int, fold: int
) -> None:
    division = divide(given_, COUNT, fold, seed)
    tested = [row for rows in division.tests.values() for row in rows]
    found = [*division.train, *division.validation, *tested]
    expected = [row for one in given_.values() for row in one.rows]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


@FEW
@given(SETS, SEEDS, st.integers(0, COUNT - 1))
def test_no_text_is_in_two_parts_of_a_fold(
    given_: dict[str, DataSet], seed: int, fold: int
) -> None:
    for one, other in combinations(parts(divide(given_, COUNT, fold, seed)), 2):
        assert one.isdisjoint(other)


def test_rows_that_differ_in_their_input_alone_are_no_duplicates() -> None:
    rows = tuple(Row(n, "Add up.", f"{n + 1}", "", f"1 and {n}") for n in range(50))
    divisions = [divide({"x": DataSet("X", "own", "0", True, rows)}, 5, n, 0) for n in range(5)]
    assert [len(division.tests["x"]) for division in divisions] == [10] * 5


@FEW
@given(st.lists(st.integers(10, 40), min_size=1, max_size=5), SEEDS, st.integers(0, COUNT - 1))
def test_the_first_rows_of_training_are_of_all_sets(sizes: list[int], seed: int, fold: int) -> None:
    given_ = {
        f"{place}": dataset([f"set {place} row {row}" for row in range(size)])
        for place, size in enumerate(sizes)
    }
    division = divide(given_, COUNT, fold, seed)
    for rows in (division.train, division.validation):
        first = [row.instruction.split()[1] for row in rows[: len(sizes)]]
        assert sorted(first) == sorted(given_)


@FEW
@given(SETS, SEEDS, st.integers(0, COUNT - 1))
def test_a_division_is_the_same_every_time(
    given_: dict[str, DataSet], seed: int, fold: int
) -> None:
    assert divide(given_, COUNT, fold, seed) == divide(given_, COUNT, fold, seed)


def test_another_seed_is_another_division() -> None:
    given_ = {"x": dataset([f"row {n}" for n in range(45)])}
    assert len({divide(given_, COUNT, 0, seed).tests["x"] for seed in range(20)}) == 20


def test_the_multitask_sets_at_hand_are_divided_as_the_paper_says(data: Path) -> None:
    given_ = {name: load(name, data) for name in ("auto_cot", "icliniq", "dolly", "codealpaca")}
    tested = 0
    for fold in range(5):
        division = divide(given_, 5, fold, 0)
        for one, other in combinations(parts(division), 2):
            assert one.isdisjoint(other)
        train, validation = len(division.train), len(division.validation)
        assert abs(train / (train + validation) - 7 / 9) < 0.001
        tested += sum(map(len, division.tests.values()))
    # CodeAlpaca's 2,017 rows hold 2 without an answer.
    assert tested == 5816 + 465 + 3742 + 2017 - 2
