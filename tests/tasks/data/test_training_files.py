"""Which training file a group takes, and what it refuses."""

import gzip
import json
from pathlib import Path

import pytest

from tasks.contract import DataFile, Group
from tasks.data import sets
from tasks.data.files import DataError
from tasks.groups.commonsense import group as commonsense
from tasks.groups.math import group as math
from tasks.gsm8k import benchmark as gsm8k

MATH10K, SUBSTITUTE = math.train


def write_training(folder: Path, place: str, rows: int, *, lines: bool = False) -> None:
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    row = json.dumps({"instruction": "1 + 1?", "output": "2"})
    content = "\n".join([row] * rows) if lines else f"[{', '.join([row] * rows)}]"
    path.write_bytes(
        gzip.compress(content.encode(), 1) if path.suffix == ".gz" else content.encode()
    )


@pytest.mark.parametrize("end", ["", ".gz"])
@pytest.mark.parametrize("place", MATH10K.places)
def test_math10k_goes_before_its_substitute_and_is_not_verified(
    tmp_path: Path, place: str, end: str
) -> None:
    write_training(tmp_path, SUBSTITUTE.places[0], 8412)
    write_training(tmp_path, place + end, 9919)
    found = sets.load_training("math", math, (), tmp_path)
    assert (found.title, found.kind, found.verified) == ("Math10K", "published", False)
    assert len(found.rows) == 9919


def test_a_file_of_the_user_goes_before_the_set_of_the_group(tmp_path: Path) -> None:
    write_training(tmp_path, SUBSTITUTE.places[0], 8412)
    write_training(tmp_path, "mine.json", 3)
    found = sets.training_set("math", math, (), tmp_path, tmp_path / "mine.json")
    assert (found.title, found.kind, len(found.rows)) == ("mine.json", "own", 3)


def test_without_a_file_of_the_user_the_set_of_the_group_is_trained_on(tmp_path: Path) -> None:
    write_training(tmp_path, MATH10K.places[0], 9919)
    found = sets.training_set("math", math, (), tmp_path, None)
    assert found == sets.load_training("math", math, (), tmp_path)


def test_without_data_folder_the_training_set_is_the_sample_of_the_benchmarks() -> None:
    found = sets.training_set("math", math, [gsm8k], None, None)
    assert found.kind == "sample"
    assert len(found.rows) == math.sample_rows


@pytest.mark.parametrize("lines", [False, True], ids=["list", "lines"])
@pytest.mark.parametrize("end", ["", ".gz"])
@pytest.mark.parametrize(
    ("group", "place"),
    [
        (math, "ft-training_set/math_10k.json"),
        (commonsense, "ft-training_set/commonsense_15k.json"),
    ],
    ids=["math", "commonsense"],
)
def test_the_training_sets_of_llm_adapters_are_read_as_they_are(
    tmp_path: Path, group: Group, place: str, end: str, lines: bool
) -> None:
    file: DataFile = group.train[0]
    write_training(tmp_path, f"{place}{end}", file.rows, lines=lines)
    found = sets.load_training("any", group, (), tmp_path)
    assert (found.title, found.kind, len(found.rows)) == (file.title, "published", file.rows)


def test_a_math10k_of_other_length_is_refused_and_not_replaced(tmp_path: Path) -> None:
    write_training(tmp_path, SUBSTITUTE.places[0], 8412)
    write_training(tmp_path, MATH10K.places[0], 9918)
    with pytest.raises(DataError, match="9918 rows, Math10K has 9919"):
        sets.load_training("math", math, (), tmp_path)


def test_a_substitute_of_other_content_is_refused(tmp_path: Path) -> None:
    write_training(tmp_path, SUBSTITUTE.places[0], 8412)
    with pytest.raises(DataError, match="not substitute for Math10K as on record"):
        sets.load_training("math", math, (), tmp_path)


def test_no_training_file_is_told_with_all_that_would_do(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        sets.load_training("math", math, (), tmp_path)
    for words in (*MATH10K.places, *SUBSTITUTE.places, MATH10K.source, "substitute for Math10K"):
        assert words in str(caught.value)
