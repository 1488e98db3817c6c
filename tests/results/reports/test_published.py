"""A paper's rows among the user's in every format: marked, in their places, never ranked."""

import csv
import json
import re
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest

from results.analysis.table import Table, tables
from results.audit import papers
from results.record import Run, Score
from results.reports import formats, layouts, published
from results.reports.formats import render
from results.reports.sheets.printing import Printing

Make = Callable[..., Run]

DYPAM = papers.paper("dypam", {"gsm8k": 1319, "aqua": 254})
HYCAM = papers.paper("hycam", {})
PRINTING = Printing(characters=None, published=DYPAM)
TITLES = {"lora": "LoRA", "dypam": "DyPAM", "gsm8k": "GSM8K", "aqua": "AQuA"}
OF_PAPER = ["AdaLoRA", "OFT", "Bone", "IA3", "LN-Tuning", "FourierFT", "SHiRA", "RoSA", "DyPAM"]
"""The methods of DyPAM, tab:main_math, in its order, without LoRA."""


def of(make: Make, *methods: str, **changes: Any) -> list[Table]:
    facts = {"backbone": "meta-llama/Llama-3.2-3B", "marks": (), "protocol": "paper/2"} | changes
    return tables(
        make(method, seed, correct={"gsm8k": 30 + place + seed, "aqua": 20}, **facts)
        for place, method in enumerate(methods)
        for seed in (1, 2, 3)
    )


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.split("\n\n")[1].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")][1:] for line in lines[2:]]


def test_a_printed_row_stands_below_the_users_of_the_same_method_and_others_at_the_end(
    make: Make,
) -> None:
    body = rows(render(of(make, "lora", "lora:dypam-paper", "vera"), "markdown", PRINTING))
    assert [line[0] for line in body] == [
        *("lora", "lora:dypam-paper", "LoRA, published‡", "vera"),
        *(f"{name}, published‡" for name in OF_PAPER),
    ]
    # DyPAM, tab:main_math, LLaMA 3.2 3B: averages over other benchmarks are no numbers of these.
    assert body[2] == ["LoRA, published‡", "1.12", "33.21", "22.44", "-", "-"]


def test_printed_numbers_are_never_ranked_and_change_no_mark(make: Make) -> None:
    found = of(make, "lora", "vera")
    plain = rows(render(found, "markdown", Printing(characters=None)))
    body = rows(render(found, "markdown", PRINTING))
    assert [line for line in body if "‡" not in line[0]] == plain
    # The paper's 40.18 of OFT is above all of them.
    assert not any(re.search(r"[*_]", cell) for line in body if "‡" in line[0] for cell in line[1:])


def test_a_block_of_another_backbone_has_no_printed_row(make: Make) -> None:
    text = render(of(make, "lora", backbone="tiny"), "markdown", PRINTING)
    assert "published" not in text
    assert "DyPAM prints no number of these methods on these backbones." in text


@pytest.mark.parametrize("name", ["markdown", "html", "latex"])
def test_the_mark_is_explained_once_and_the_gaps_stand_below(make: Make, name: str) -> None:
    text = render(of(make, "lora"), name, Printing(published=DYPAM, titles=TITLES))
    text = text.replace(r"$\ddagger$", "‡").replace(r"\_", "_")
    told = "‡: as printed in DyPAM, tab:main_math; neither ranked nor tested."
    assert text.count(told) == 1
    gaps = text[text.index(told) :]
    assert "Gaps to DyPAM, tab:main_math (‡)." in gaps
    # LoRA: 30, 31 and 32 of 100, plus one, minus 33.21.
    assert "-1.21" in gaps
    assert "Of 2: " in gaps


def test_latex_holds_the_gaps_in_comments(make: Make) -> None:
    text = render(of(make, "lora"), "latex", Printing(published=DYPAM, titles=TITLES))
    assert r"LoRA, published$\ddagger$" in text
    below = text[text.rindex(r"\end{table*}") :].splitlines()[1:]
    assert below
    assert all(line.startswith("% ") for line in below if line)


def test_csv_says_which_lines_are_published(make: Make) -> None:
    lines = list(csv.DictReader(StringIO(render(of(make, "lora"), "csv", PRINTING))))
    assert [line["published"] for line in lines[:4]] == [""] * 4
    printed = [line for line in lines if line["published"]]
    assert len(printed) == 2 * 10
    first = printed[0]
    assert [first[name] for name in ("published", "method", "column", "seeds", "rank", "p")] == [
        *("DyPAM, tab:main_math", "LoRA", "gsm8k", "", "", "")
    ]
    assert float(first["mean"]) == pytest.approx(0.3321)


def test_json_has_the_tables_as_they_are_the_gaps_and_the_rows(make: Make) -> None:
    found = of(make, "lora")
    value = json.loads(render(found, "json", PRINTING))
    assert value["tables"] == json.loads(render(found, "json"))
    assert [one["column"] for one in value["published"]] == ["gsm8k", "aqua"]
    assert [(one["method"], one["below"]) for one in value["published_rows"]][:2] == [
        ("LoRA", 0),
        ("AdaLoRA", None),
    ]


def test_texts_have_the_digits_that_are_printed(make: Make) -> None:
    # HyCAM, Llama 2 7B, iCliniq: HyCAM has PPL 7.546 and BLEU 0.053, which is 5.3 %.
    scores = (
        Score("icliniq", "perplexity (hycam)", "", True, 7.5, 100),
        Score("icliniq", "bleu", "", True, 5.25, 100),
    )
    found = tables([make("hycam", backbone="meta-llama/Llama-2-7b-hf", scores=scores)])
    text = render(found, "markdown", Printing(published=HYCAM))
    of_hycam = re.findall(r"HyCAM, published‡ +\| +- \| +([\d.]+) \|", text)
    assert of_hycam == ["7.546", "5.3"]
    assert re.search(r"\| icliniq +\| 7.500 \| +1 \| 7.546 \|", text)


@pytest.mark.parametrize("layout", layouts.names())
@pytest.mark.parametrize("name", formats.names())
def test_every_layout_and_format_takes_a_paper(make: Make, layout: str, name: str) -> None:
    perplexity = (Score("icliniq", "perplexity (hycam)", "", True, 7.5, 100),)
    bleu = (Score("icliniq", "bleu", "", True, 5.25, 100),)
    runs = [
        make(method, backbone="meta-llama/Llama-2-7b-hf", scores=perplexity + bleu)
        for method in ("hycam", "hycam:x")
    ]
    text = render(tables(runs), name, Printing(published=HYCAM), layout)
    assert "HyCAM, tab:crosstaskresult" in text


def test_without_a_number_to_set_beside_the_report_says_so() -> None:
    assert "prints no number" in published.markdown(DYPAM, [])
