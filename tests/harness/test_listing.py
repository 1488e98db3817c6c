import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import listing, plugins
from harness.errors import UserError


def test_every_method_is_listed_by_the_first_line_of_its_file() -> None:
    found = listing.methods(None, None)
    assert [row["method"] for row in found.value] == plugins.names("methods")
    summary = "LoRA: learn a low-rank update of each frozen linear layer."
    assert {"method": "lora", "what": summary} in found.value
    assert summary in found.text


def test_one_method_is_shown_with_its_docstring_and_fields() -> None:
    found = listing.methods("lora", None)
    assert [row["method"] for row in found.value] == ["lora"]
    assert "Hu et al., 2021" in found.text
    assert "r=24" in found.text
    assert "lora_alpha=8" in found.text


def test_methods_are_listed_with_parameters_where_a_backbone_is_given(
    tmp_path: Path, make_backbone: Callable[..., Path]
) -> None:
    found = listing.methods("lora", str(make_backbone(tmp_path / "small")))
    assert [row["method"] for row in found.value][:3] == [
        "lora",
        "lora:dypam-paper",
        "lora:rosa-paper",
    ]
    assert all(0 < row["trainable"] < row["total"] for row in found.value[:3])
    assert "percent" in found.text


def test_a_backbone_of_the_papers_needs_no_weights_and_no_network() -> None:
    (row, *_) = listing.methods("dypam", "llama-3.2-3b").value
    # 28 (2 d r + r d_e (H + K) + d_e d_head + (H + K + 2) d_head / 2), d 3072, H 24, K 8: 0.914 %.
    assert (row["trainable"], row["total"]) == (29_650_432, 3_212_749_824 + 29_650_432)


def test_a_multimodal_backbone_is_counted_whole_and_without_its_tower() -> None:
    rows = listing.methods("rosa", "gemma-3-4b").value[:2]
    assert [row["backbone"] for row in rows] == ["gemma-3-4b", "gemma-3-4b (text only)"]
    assert [row["total"] - row["trainable"] for row in rows] == [4_300_079_472, 3_880_263_168]


def test_a_method_that_does_not_fit_a_backbone_is_listed_with_the_reason(
    tmp_path: Path, make_backbone: Callable[..., Path]
) -> None:
    (row, *_) = listing.methods("fourierft", str(make_backbone(tmp_path / "small"))).value
    assert (row["trainable"], row["percent"]) == (None, None)
    assert "120000" in row["notes"]


@pytest.mark.parametrize(
    ("ask", "nearest"),
    [
        (lambda: listing.methods("lorra", None), "Did you mean 'lora'?"),
        (lambda: listing.tasks("gms8k"), "Did you mean 'gsm8k'?"),
    ],
)
def test_an_unknown_name_gets_the_nearest(ask: Callable[[], object], nearest: str) -> None:
    with pytest.raises(UserError) as error:
        ask()
    assert nearest in str(error.value)


@pytest.mark.parametrize("name", [None, "math"])
def test_all_benchmarks_are_listed_with_the_rows_of_the_published_sets(name: str | None) -> None:
    rows = {row["benchmark"]: row["rows"] for row in listing.tasks(name).value}
    # LLM-Adapters, commit 8166572: rows of dataset/*/test.json.
    assert rows == {
        "multiarith": 600,
        "gsm8k": 1319,
        "addsub": 395,
        "aqua": 254,
        "singleeq": 508,
        "svamp": 1000,
        "mawps": 238,
    }


def test_one_benchmark_is_shown_with_its_example() -> None:
    found = listing.tasks("gsm8k")
    assert [row["benchmark"] for row in found.value] == ["gsm8k"]
    assert found.text.count("\n") > 4


def test_without_a_data_folder_the_user_is_told_that_samples_are_used() -> None:
    for found in (listing.data_status(None), listing.data_verify(None)):
        assert "samples" in found.text
        assert found.sound


def place(folder: Path, name: str, content: bytes) -> None:
    path = folder / plugins.benchmark(name).file.places[0]
    path.parent.mkdir(parents=True)
    path.write_bytes(content)


def test_status_says_of_every_file_whether_it_is_there(tmp_path: Path) -> None:
    place(tmp_path, "gsm8k", b"[]")
    rows = {row["for"]: row["there"] for row in listing.data_status(tmp_path).value}
    assert rows.pop("gsm8k") == plugins.benchmark("gsm8k").file.places[0]
    assert set(rows.values()) == {"absent"}
    assert {"svamp", "math training"} <= set(rows)


ROW = {"instruction": "1 + 1?", "answer": "2"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (json.dumps([ROW]).encode(), "1 rows"),
        (json.dumps([ROW, {"instruction": "?"}]).encode(), "row 2: no field 'answer'"),
        (b"[{", "not JSON"),
        (gzip.compress(b"[]", mtime=0)[:-9], "not UTF-8"),
    ],
)
def test_verify_says_what_is_wrong_with_a_file_and_is_unsound(
    tmp_path: Path, content: bytes, words: str
) -> None:
    place(tmp_path, "gsm8k", content)
    found = listing.data_verify(tmp_path)
    assert not found.sound
    assert [row["for"] for row in found.value] == ["gsm8k"]
    assert words in found.value[0]["verdict"]


def test_verify_of_a_folder_without_any_known_file_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none of the known data files"):
        listing.data_verify(tmp_path)
