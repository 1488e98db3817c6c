"""Tables, columns and rows that are printed alone: what is left out changes no number."""

import csv
import json
from collections.abc import Callable
from io import StringIO

import pytest

from results.analysis.table import Table, tables
from results.audit import papers
from results.errors import ResultsError
from results.record import Run
from results.reports import layouts
from results.reports.formats import names, render
from results.reports.sheets.printing import Printing

Make = Callable[..., Run]
RIGHTS = {"dypam": 80, "lora": 50, "LoRA": 49, "vera": 20}
LORA = Printing(methods=("lora",))


@pytest.fixture
def found(make: Make) -> list[Table]:
    """Make the table of four methods over three seeds; two differ in capitals alone."""
    return tables(
        make(method, seed, {"gsm8k": right + seed, "aqua": 30}, trainable_parameters=n)
        for n, (method, right) in enumerate(RIGHTS.items(), 1)
        for seed in (1, 2, 3)
    )


@pytest.mark.parametrize("name", ["latex", "html", "markdown"])
def test_only_the_rows_of_the_methods_asked_for_are_printed(found: list[Table], name: str) -> None:
    text = render(found, name, Printing(methods=("vera", "dypam")))
    assert text.index("dypam") < text.index("vera")  # in the order of the table
    assert "82.00" in text
    assert "22.00" in text
    assert "lora" not in text.lower()


def test_ranks_and_tests_stay_among_all(found: list[Table]) -> None:
    whole = json.loads(render(found, "json"))[0]["blocks"][0]
    part = json.loads(render(found, "json", LORA))[0]["blocks"][0]
    assert part["rows"] == [row for row in whole["rows"] if row["label"] == "lora"]
    ranks = {"dypam": 1, "LoRA": 3, "vera": 4}
    assert part["hidden"] == {
        label: {"gsm8k": rank, "aqua": 1, "micro": rank, "macro": rank}
        for label, rank in ranks.items()
    }
    (line, *_) = csv.DictReader(StringIO(render(found, "csv", LORA)))
    assert (line["method"], line["rank"], line["ranked_among"]) == ("lora", "2", "4")


@pytest.mark.parametrize("name", ["latex", "html", "markdown"])
def test_a_note_says_that_some_rows_are_not_printed(found: list[Table], name: str) -> None:
    told = "Printed: 1 of 4 methods. Ranks and tests are among all."
    assert told in render(found, name, LORA)
    assert "Printed:" not in render(found, name)


def test_the_best_of_all_is_marked_where_it_stands_alone(found: list[Table]) -> None:
    text = render(found, "markdown", Printing(methods=("dypam",)))
    assert "**82.00 ± 1.00**" in text
    # All are equal on aqua, so that none of them is best.
    assert "**30.00" not in text
    assert "_52.00 ± 1.00_" in render(found, "markdown", LORA)


def test_a_name_that_differs_in_capitals_alone_is_found_and_an_exact_one_first(
    found: list[Table],
) -> None:
    assert csv_methods(found, ("lora",)) == {"lora"}
    assert csv_methods(found, ("LoRA",)) == {"LoRA"}
    assert csv_methods(found, ("DyPAM",)) == {"dypam"}


def csv_methods(found: list[Table], methods: tuple[str, ...]) -> set[str]:
    lines = csv.DictReader(StringIO(render(found, "csv", Printing(methods=methods))))
    return {line["method"] for line in lines}


def test_only_the_tables_of_a_protocol_or_an_environment_are_printed(make: Make) -> None:
    of = {"p/1": "aaaa1111", "q/1": "bbbb2222"}
    found = tables(
        make(protocol=protocol, environment_id=stack, setting=protocol)
        for protocol, stack in of.items()
    )
    for name in names():
        assert "q/1" not in render(found, name, Printing(protocol="p/1"))
        assert render(found, name, Printing(protocol="p/1")) == render(
            found, name, Printing(environment="aaaa")
        )


@pytest.mark.parametrize(
    ("printing", "message"),
    [
        (
            Printing(methods=("veera", "lora")),
            r"'veera' is not a known method. Did you mean 'vera'",
        ),
        (Printing(protocol="paper"), r"'paper' is not a known protocol. Did you mean 'paper/1'"),
        (Printing(environment="f0"), r"'f0' is not a known environment.\n  Known: environm"),
    ],
)
def test_a_name_of_nothing_is_answered_with_the_nearest(
    found: list[Table], printing: Printing, message: str
) -> None:
    with pytest.raises(ResultsError, match=message):
        render(found, "markdown", printing)


@pytest.mark.parametrize("layout", sorted({*layouts.names()} - {"ablation", "metrics"}))
def test_every_layout_prints_only_the_rows_asked_for(found: list[Table], layout: str) -> None:
    text = render(found, "markdown", LORA, layout)
    assert "1 of 4 methods" in text
    assert "| vera" not in text
    assert "| lora" in text or "| tiny     | lora" in text


def test_an_ablation_needs_all_its_rows(make: Make) -> None:
    found = tables([make("rosa"), make("rosa:b")])
    with pytest.raises(ResultsError, match="Leave out --methods"):
        render(found, "markdown", Printing(methods=("rosa",)), "ablation")


def test_of_a_paper_only_the_rows_of_printed_methods_stand_beside(make: Make) -> None:
    found = tables(make(method, backbone="Llama-3.2-3B", marks=()) for method in ("dypam", "lora"))
    dypam = papers.paper("dypam", {"gsm8k": 1319})
    whole = render(found, "markdown", Printing(published=dypam))
    part = render(found, "markdown", Printing(methods=("lora",), published=dypam))
    assert whole.count(", published") > 2
    assert [line.split("|")[2].strip() for line in part.splitlines() if "published‡ |" in line] == [
        "LoRA, published‡"
    ]
