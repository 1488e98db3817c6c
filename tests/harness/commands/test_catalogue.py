import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import plugins
from harness.commands import catalogue as listing
from harness.errors import UserError
from results.reports.to_json import to_json


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


GROUPS = {
    "math": "multiarith gsm8k addsub aqua singleeq svamp mawps",
    "commonsense": "boolq piqa siqa arc_challenge arc_easy obqa hellaswag winogrande",
    "dialogue": "convai2",
    "metamath": "gsm8k",
}
"""The test sets of the papers; their rows are in `tests/tasks/data/test_real_data.py`."""


@pytest.mark.parametrize("name", [None, *GROUPS])
def test_all_benchmarks_are_listed_with_the_rows_of_the_published_sets(name: str | None) -> None:
    found: dict[str, dict[str, int]] = {}
    for row in listing.tasks(name).value:
        found.setdefault(row["group"], {})[row["benchmark"]] = row["rows"]
    found.pop("multitask", None)  # its sets were never at hand whole
    assert found == {
        group: {one: plugins.benchmark(one).file.rows for one in GROUPS[group].split()}
        for group in (GROUPS if name is None else [name])
    }


def test_a_benchmark_is_listed_with_its_metrics_and_one_of_texts_without_extractors() -> None:
    rows = {row["benchmark"]: row for row in listing.tasks(None).value}
    assert rows["gsm8k"]["metrics"] == "accuracy"
    assert rows["gsm8k"]["extractors"] == "llm-adapters, strict"
    assert rows["convai2"]["metrics"] == "bleu, meteor, rouge-l, perplexity"
    assert rows["convai2"]["extractors"] is None


def test_one_benchmark_is_shown_with_its_example() -> None:
    found = listing.tasks("gsm8k")
    # It is tested on after two training sets.
    assert [(row["group"], row["benchmark"]) for row in found.value] == [
        ("math", "gsm8k"),
        ("metamath", "gsm8k"),
    ]
    assert "Cobbe et al., 2021" in found.text


def test_the_json_of_a_method_has_paper_docstring_fields_and_variants() -> None:
    (row,) = listing.methods("lora", None, full=True).value
    assert (row["title"], row["paper"]) == ("LoRA", "https://arxiv.org/abs/2106.09685")
    assert "Hu et al., 2021" in row["docstring"]
    assert (row["fields"]["r"], row["fields"]["lora_alpha"]) == (24, 8)
    assert row["variants"]["rosa-paper"] == {"r": 16}


def test_the_json_of_all_methods_has_the_fields_of_each() -> None:
    rows = listing.methods(None, None, full=True).value
    assert [row["method"] for row in rows] == plugins.names("methods")
    assert all(row["fields"] and row["docstring"] for row in rows if row["trains"])
    assert json.loads(to_json(rows)) == rows


def test_the_json_of_a_benchmark_has_its_docstring_and_files() -> None:
    row, *_ = listing.tasks("gsm8k").value  # listed in each of its groups
    assert row["docstring"] == plugins.docstring("tasks", "gsm8k")
    file, *_ = row["files"]
    assert file["rows"] == 1319  # Cobbe et al. 2021: the test set
    assert file["address"].endswith("dataset/gsm8k/test.json")
    assert len(file["sha256"]) == 64


def test_parameters_are_counted_from_a_configuration_alone(
    tmp_path: Path, make_backbone: Callable[..., Path]
) -> None:
    whole = make_backbone(tmp_path / "whole")
    bare = tmp_path / "bare"
    bare.mkdir()
    shutil.copy(whole / "config.json", bare)
    counts = [
        [(row["method"], row["trainable"], row["total"]) for row in found.value]
        for found in (
            listing.methods("lora", str(place)) for place in (whole, bare, bare / "config.json")
        )
    ]
    assert counts[0] == counts[1] == counts[2]
    long = str(bare / "config.json")
    assert len(long) > 40
    assert max(map(len, listing.methods("lora", long).text.splitlines())) <= 100


def test_counts_fit_100_characters_and_the_total_is_shown_on_wish() -> None:
    found = listing.methods(None, "gemma-3-4b")
    assert max(map(len, found.text.splitlines())) <= 100
    assert "| total" not in found.text
    assert "4,300,079,472" in found.text  # of the method that trains everything
    assert found.value[0]["total"] == 4_415_592_448  # adalora, with the ranks of 400 layers


def test_a_size_of_the_papers_is_found_whatever_the_case() -> None:
    assert (
        listing.methods("lora", "LLaMA-3.2-3B").value
        == listing.methods("lora", "llama-3.2-3b").value
    )


def test_a_wrong_backbone_gets_the_nearest_size_and_all_of_them() -> None:
    with pytest.raises(UserError) as error:
        listing.methods("lora", "Llama-3.2-3")
    assert "Did you mean 'llama-3.2-3b'?" in str(error.value)
    assert "gemma-3-4b" in str(error.value)
