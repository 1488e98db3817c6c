"""What each layout shows of the same runs, and in which order."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.commands import table as command
from harness.commands import testing
from results.analysis.table import Table, tables
from results.analysis.testing.tests import Testing
from results.errors import ResultsError
from results.record import Run, Score
from results.reports import formats, layouts
from results.reports.formats import render
from results.reports.sheets.notes import MOST, Note, lines
from results.reports.sheets.printing import Printing
from results.reports.sheets.sheet import Sheet
from results.reports.sheets.split import split
from results.store import Store

Make = Callable[..., Run]

SMALL, LARGE, OTHER = "Qwen/Qwen3-0.6B", "Qwen/Qwen3-8B", "google/gemma-3-4b-it"
HEADS = ("PPL ↓", "BLEU ↑", "ROUGE-L ↑")
WIDE = Printing(characters=None)


@pytest.fixture
def texts(make: Make) -> list[Run]:
    """Make runs of a method and a variant of it, on two backbones, with all that layouts show."""

    def scores(plus: float) -> tuple[Score, ...]:
        values = {
            "accuracy": (0.5 + plus / 100, 0.7),
            "rouge-l": (20.0 + plus, 24.01),
            "bleu": (10.0 + plus, 14.01),
            "perplexity": (4.0 - plus / 10, 3.001),
        }
        return tuple(
            Score(name, metric, "", True, value, 100)
            for metric, both in values.items()
            for name, value in zip(("dolly", "webgpt"), both, strict=True)
        )

    return [
        make(method, seed, backbone=backbone, scores=scores(plus + seed / 10))
        for backbone in (LARGE, SMALL)
        for method, plus in (("rosa:roae-only", 0.0), ("rosa", 2.0))
        for seed in (1, 2)
    ]


def rows(text: str) -> list[list[str]]:
    """Read the cells of the lines of Markdown tables."""
    found = [line for line in text.splitlines() if line.startswith("|") and ":--" not in line]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found]


def of(runs: Sequence[Run], layout: str) -> list[Table]:
    return [table for part in layouts.parts(layout, runs) for table in tables(part.runs)]


@pytest.mark.parametrize("layout", layouts.names())
@pytest.mark.parametrize("name", formats.names())
def test_every_format_writes_every_layout(texts: list[Run], layout: str, name: str) -> None:
    text = render(of(texts, layout), name, layout=layout)
    assert "sample data" in text
    assert "rosa" in text


def test_an_unknown_layout_names_the_nearest_and_the_known(texts: list[Run]) -> None:
    with pytest.raises(ResultsError, match=r"'size' is not .* Did you mean 'sizes'\?\n.*ablation"):
        render(tables(texts), "markdown", layout="size")


@pytest.mark.parametrize("name", ["csv", "json"])
def test_data_hold_all_values_whatever_the_layout(texts: list[Run], name: str) -> None:
    found = [table for table in tables(texts) if table.metric.name != "accuracy"]
    assert render(found, name, layout="sizes") == render(found, name)
    shown = render(found, name, layout="metrics")
    assert sorted(shown) == sorted(render(found, name))


def test_backbones_of_one_family_stand_from_small_to_large(make: Make) -> None:
    runs = [
        make(method, backbone=backbone, correct={"gsm8k": right, "aqua": right})
        for backbone, rights in {LARGE: (60, 50), OTHER: (40, 30), SMALL: (10, 20)}.items()
        for method, right in zip(("dypam", "lora"), rights, strict=True)
    ]
    head, *body = rows(render(tables(runs), "markdown", WIDE, "sizes"))
    assert head == ["method", "Qwen3 0.6B", "Qwen3 8B", "gemma-3-it 4B"]
    assert body == [
        ["dypam", "_10.00_", "**60.00**", "**40.00**"],
        ["lora", "**20.00**", "_50.00_", "_30.00_"],
    ]


def test_sizes_are_in_the_first_average_or_in_the_column_that_is_asked_for(make: Make) -> None:
    # By hand: (50 + 20) / 2 = 35, whether rows or benchmarks count the same.
    found = tables([make(correct={"gsm8k": 50, "aqua": 20})])
    assert rows(render(found, "markdown", layout="sizes"))[1] == ["lora", "35.00"]
    assert "math, micro: accuracy" in render(found, "markdown", layout="sizes")
    assert "math, macro: accuracy" in render(found, "markdown", Printing(("macro",)), "sizes")
    one = render(found, "markdown", Printing(columns=("aqua",)), "sizes")
    assert rows(one)[1] == ["lora", "20.00"]


def test_a_dash_stands_where_a_method_was_not_run_and_a_dagger_where_a_seed_is_missing(
    make: Make,
) -> None:
    runs = [make("dypam", seed, backbone=SMALL) for seed in (1, 2)]
    runs += [make("lora", seed, backbone=LARGE) for seed in (1, 2)]
    runs += [make("vera", 1, backbone=LARGE)]
    body = rows(render(tables(runs), "markdown", WIDE, "sizes"))[1:]
    assert body == [
        ["dypam", "50.00 ± 0.00", "-"],
        ["lora", "-", "50.00 ± 0.00"],
        ["vera", "-", "50.00†"],
    ]


def test_an_ablation_begins_with_the_full_method_and_ends_in_differences(make: Make) -> None:
    rights = {"rosa:b": 30, "rosa": 50, "rosa[r=2]": 55, "lora": 99, "dypam:x": 98}
    runs = [make(method, correct={"gsm8k": right}) for method, right in rights.items()]
    text = render(of(runs, "ablation"), "markdown", WIDE, "ablation")
    head, *body = rows(text)
    assert [head[-2:], *([line[1], *line[-2:]] for line in body)] == [
        ["gsm8k", "Δ gsm8k"],
        ["rosa", "_50.00_", "-"],
        ["rosa:b", "30.00", "-20.00"],
        ["rosa[r=2]", "**55.00**", "+5.00"],
    ]
    assert "ablation of rosa, accuracy in percent" in text
    assert "Δ: gsm8k minus that of rosa in full." in text


def test_an_ablation_has_tables_for_each_method_with_variants_which_is_declared(
    make: Make,
) -> None:
    methods = ("rosa", "rosa:b", "dypam", "dypam:x", "lora", "vera:y", "peft:WAVEFT", "peft:OFT")
    parts = layouts.parts("ablation", [make(method) for method in methods])
    assert [part.declared for part in parts] == ["rosa", "dypam"]
    assert [{run.method for run in part.runs} for part in parts] == [
        {"rosa", "rosa:b"},
        {"dypam", "dypam:x"},
    ]
    with pytest.raises(ResultsError, match="No method has runs in full and as a variant"):
        layouts.parts("ablation", [make("lora"), make("rosa:b")])


def test_a_recipe_of_its_own_makes_no_variant(make: Make) -> None:
    with pytest.raises(ResultsError, match="No method"):
        layouts.parts("ablation", [make("lora"), make("lora[train.lr=0.1]")])


def test_metrics_stand_side_by_side_per_backbone_and_per_set(texts: list[Run]) -> None:
    # By hand, over seeds 1 and 2 of rosa: PPL of dolly 4 - (2.1 + 2.2) / 20 = 3.785, of webgpt
    # 3.001; the means are 3.393, 13.08 and 23.08. SD: 0.01 / sqrt(2) / 2 and 0.1 / sqrt(2) / 2.
    text = render(of(texts, "metrics"), "markdown", WIDE, "metrics").replace("** *", "**")
    whole, by_set = text.split("\n\nmath: ")
    head, *body = rows(whole)
    assert head == [
        "method",
        *(f"Qwen3-{size} {metric}" for size in ("0.6B", "8B") for metric in HEADS),
    ]
    assert body[0] == ["rosa", *["**3.393 ± 0.004**", "**13.08 ± 0.04**", "**23.08 ± 0.04**"] * 2]
    head, *body = rows(by_set)
    assert head[2:] == [f"{name} {metric}" for name in ("dolly", "webgpt") for metric in HEADS]
    assert [line[:3] for line in body] == [
        [SMALL, "rosa", "**3.785 ± 0.007**"],
        [SMALL, "rosa:roae-only", "_3.985 ± 0.007_"],
        [LARGE, "rosa", "**3.785 ± 0.007**"],
        [LARGE, "rosa:roae-only", "_3.985 ± 0.007_"],
    ]


def test_what_is_not_tested_names_its_metric_where_several_stand_side_by_side(
    texts: list[Run],
) -> None:
    text = render(of(texts, "metrics"), "markdown", WIDE, "metrics")
    for metric in ("perplexity", "bleu", "rouge-l"):
        assert f"{metric}: Qwen/Qwen3-8B, all columns: two seeds, " in text


def test_metrics_of_no_text_are_refused(make: Make) -> None:
    with pytest.raises(ResultsError, match="No run has PPL, BLEU, ROUGE-L"):
        render(tables([make()]), "markdown", layout="metrics")


def test_costs_stand_beside_the_averages_alone(make: Make) -> None:
    both = {"gsm8k": 50, "aqua": 20}
    head, line = rows(render(tables([make(correct=both)]), "markdown", WIDE, "costs"))
    assert head[2:5] == ["trainable %", "micro", "macro"]
    assert dict(zip(head, line, strict=True))["training"] == "6.0 s"
    assert "gsm8k" not in head
    (only,) = tables([make()])
    assert rows(render([only], "markdown", WIDE, "costs"))[0][2:4] == ["trainable %", "gsm8k"]


@pytest.mark.parametrize("layout", layouts.names())
def test_notes_have_five_lines_at_most_and_end_in_the_command(
    texts: list[Run], layout: str
) -> None:
    printing = Printing(command=f"harness table --layout {layout}")
    for sheet in layouts.sheets(of(texts, layout), layout, printing):
        told = lines(sheet.told("italic"))
        assert 4 <= len(told) <= 5
        assert told[0].startswith("Read with care: sample data")
        assert told[-1] == f"Command: harness table --layout {layout}"
        assert re.fullmatch(r"[^:.;\n]+: [^\n]*\.", sheet.title)
        for word in ("Protocol paper/1", "Environment environm (python 3.11)"):
            assert word in " ".join(told)


def test_a_line_of_notes_that_is_too_long_counts_what_it_leaves_out() -> None:
    notes = [Note("methods", "m" * MOST), Note("methods", "left"), Note("methods", "out")]
    assert lines(notes) == ["m" * MOST + " 2 more: --format json."]


def test_a_line_of_notes_shortens_what_it_may_not_leave_out() -> None:
    needed = Note("tests", "b" * MOST, short="brief")
    assert lines([Note("tests", "a"), needed]) == ["a brief 1 more: --format json."]
    # It comes before what may be left out, wherever it stands.
    assert lines([Note("tests", "a" * MOST), needed]) == ["b" * MOST + " 1 more: --format json."]


def test_an_ablation_tests_the_full_method_and_its_star_is_over_every_variant(make: Make) -> None:
    rights = {"rosa:b": 30, "rosa:c": 40, "rosa": 90}
    runs = [
        make(method, seed, correct={"gsm8k": right + seed})
        for method, right in rights.items()
        for seed in (1, 2, 3)
    ]
    (part,) = layouts.parts("ablation", runs)
    found = tables(part.runs, testing=Testing(against=part.declared))
    text = render(found, "markdown", WIDE, "ablation")
    assert "*: better than every variant, the largest p < 0.05, not adjusted." in text
    assert "rosa against each other one, adjusted by Holm" in text
    assert rows(text)[1][3] == "**92.00 ± 1.00** *"
    # Among other methods, they are no variants.
    found = tables(
        [*runs, *(make("lora", seed) for seed in (1, 2, 3))], testing=Testing(against="rosa")
    )
    assert "*: better than every other trained method" in render(found, "markdown")


def test_the_command_declares_the_full_method_of_an_ablation(make: Make, tmp_path: Path) -> None:
    store = Store(tmp_path / "harness.db")
    for method in ("rosa", "rosa:b", "rosa:c"):
        for seed in (1, 2, 3):
            store.add(make(method, seed, correct={"gsm8k": 50 + seed}))
    asked = (str(tmp_path / "harness.db"), None, "markdown", WIDE)
    assert "; rosa against each other one" in command.table(*asked, layout="ablation")
    against = testing.asked(against="rosa:b")
    assert "; rosa:b against" in command.table(*asked, layout="ablation", testing=against)
    assert "; all pairs" in command.table(*asked)


def test_a_full_method_without_a_finished_run_is_not_declared(make: Make) -> None:
    runs = [make("rosa:b"), make("rosa", status="failed", scores=())]
    assert [part.declared for part in layouts.parts("ablation", runs)] == [""]


def test_of_many_methods_the_notes_name_the_top_band_and_never_leave_the_test_out(
    make: Make,
) -> None:
    def told(tops: int) -> str:
        runs = [
            make(f"method{n:02}", seed, correct={"gsm8k": 20 + 50 * (n < tops) + seed})
            for n in range(22)
            for seed in (1, 2, 3)
        ]
        return render(tables(runs), "markdown", WIDE)

    for tops, band in {
        2: "method00, method01.",
        20: "all but method20, method21.",
        22: "all 22 methods.",
    }.items():
        text = told(tops)
        assert f"op band in gsm8k (possibly the best): {band}" in text
        assert "all pairs, adjusted by Holm within a column and backbone." in text
        assert "more: --format json" not in text


def test_every_sheet_of_a_command_has_a_name_of_its_own(texts: list[Run]) -> None:
    sheets: list[Sheet] = [
        sheet
        for layout in layouts.names()
        for sheet in layouts.sheets(of(texts, layout), layout, Printing())
    ]
    assert len({sheet.name for sheet in sheets}) == len(sheets)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 9)), min_size=1, max_size=12).map(
        lambda pairs: sorted(pairs, key=lambda pair: pair[0])
    ),
    st.integers(1, 60),
)
def test_parts_hold_every_column_once_and_groups_that_fit_stay_whole(
    pairs: list[tuple[str, int]], room: int
) -> None:
    groups, widths = zip(*pairs, strict=True)
    parts = split(widths, room, groups)
    assert [n for part in parts for n in range(len(widths))[part]] == list(range(len(widths)))
    for part in parts:
        assert sum(widths[part]) <= room or len(widths[part]) == 1
    for name in set(groups):
        within = [part for part in parts if name in groups[part]]
        width = sum(one for one, group in zip(widths, groups, strict=True) if group == name)
        assert len(within) == 1 or width > room


def test_json_of_a_layout_is_a_list_of_tables(texts: list[Run]) -> None:
    (table, *_) = json.loads(render(of(texts, "ablation"), "json", layout="ablation"))
    assert [row["method"] for row in table["blocks"][0]["rows"]] == ["rosa", "rosa:roae-only"]


def test_a_full_method_with_a_recipe_of_its_own_is_still_the_full_method(make: Make) -> None:
    spec = {"train": {"lr": 0.1}}
    runs = [make("rosa[train.lr=0.1]", correct={"gsm8k": 60}, spec=spec, recipe="b")]
    runs += [make("rosa:x", correct={"gsm8k": 50})]
    found = tables(runs, own_recipes=True)
    body = rows(render(found, "markdown", WIDE, "ablation"))[1:]
    assert [line[-1] for line in body] == ["-", "-10.00"]


def test_metrics_of_other_runs_never_stand_side_by_side(make: Make) -> None:
    def of_fold(fold: int | None, metric: str) -> Run:
        return make(fold=fold, scores=(Score("dolly", metric, "", True, 5.0, 10),))

    found = tables([of_fold(None, "perplexity"), of_fold(0, "bleu")])
    heads = [rows(text)[0] for text in render(found, "markdown", WIDE, "metrics").split("\n\nmath")]
    assert heads == [["method", "tiny PPL ↓"], ["method", "tiny BLEU ↑"]]
