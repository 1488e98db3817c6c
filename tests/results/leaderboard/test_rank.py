"""The rank page: what papers print, titles, badges, backbones before training, few seeds."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from harness.commands import leaderboard as command
from results.leaderboard.build import build
from results.leaderboard.html import pages
from results.leaderboard.html.links import Served
from results.leaderboard.source import Source
from results.leaderboard.values.ranking.rank import RankPage, rank_page
from results.leaderboard.values.ranking.rows import RowValue
from results.leaderboard.view import View
from results.record import Run, Score
from results.store import Store

Make = Callable[..., Run]
Page = Callable[[Iterable[Run], View], RankPage]

LLAMA = "meta-llama/Llama-3.2-3B"
TITLES = {"lora": "LoRA", "dypam": "DyPAM", "gsm8k": "GSM8K", "math": "Mathematics"}


@pytest.fixture
def titled(tmp_path: Path, source: Callable[..., Source]) -> Callable[[Iterable[Run]], Source]:
    """Store runs, and know some titles."""

    def made(runs: Iterable[Run]) -> Source:
        store = Store(tmp_path / "harness.db")
        for run in runs:
            store.add(run)
        return replace(
            source(str(tmp_path / "harness.db")), title=lambda kind, name: TITLES.get(name)
        )

    return made


@pytest.fixture
def page(titled: Callable[[Iterable[Run]], Source]) -> Page:
    return lambda runs, view: rank_page(titled(runs).open(), view)


def of(make: Make, *methods: str, seeds: Iterable[int] = (1, 2, 3), **changes: Any) -> list[Run]:
    facts = {"backbone": LLAMA, "marks": (), "protocol": "paper/2"} | changes
    return [
        make(method, seed, correct={"gsm8k": 30 + place + seed, "aqua": 20}, **facts)
        for place, method in enumerate(methods)
        for seed in seeds
    ]


def rows(found: RankPage) -> dict[str, RowValue]:
    (table,) = found.tables
    return {row.method: row for block in table.blocks for row in block.rows}


def html(found: RankPage) -> str:
    return pages.rank(found, Served(), dict.fromkeys(found.groups, ()))


def test_what_a_paper_prints_stands_below_the_rows_and_is_in_no_rank(
    make: Make, page: Page
) -> None:
    runs = of(make, "lora", "vera")
    plain, beside = page(runs, View()), page([], View(published="dypam"))
    (own,), (table,) = plain.tables, beside.tables
    assert [block.rows for block in table.blocks] == [block.rows for block in own.blocks]
    printed = table.blocks[0].published
    assert printed
    assert (printed.title, printed.tables) == ("DyPAM", ("tab:main_math",))
    # DyPAM, tab:main_math, LLaMA 3.2 3B: averages over other benchmarks are no numbers of these.
    lora = printed.rows[0]
    assert (lora.method, lora.label, lora.parameters) == ("LoRA", "lora", "1.12")
    assert {cell.column: cell.text for cell in lora.cells} == {
        "micro": "",
        "macro": "",
        "gsm8k": "33.21",
        "aqua": "22.44",
    }
    assert "‡ Printed by DyPAM (tab:main_math): neither ranked nor tested" in html(beside)


def test_a_paper_is_offered_where_it_prints_something(make: Make, page: Page) -> None:
    assert [one.name for one in page(of(make, "lora"), View()).papers] == ["dypam"]
    assert page(of(make, "lora", backbone="tiny"), View(backbones=("tiny",))).papers == ()


def test_search_and_methods_hide_printed_rows_as_they_hide_others(make: Make, page: Page) -> None:
    def shown(**changes: Any) -> list[str]:
        (table,) = page(of(make, "lora"), View(published="dypam", **changes)).tables
        printed = table.blocks[0].published
        return [row.method for row in printed.rows] if printed else []

    assert len(shown()) == 10
    assert shown(search="oft") == ["OFT"]
    assert shown(methods=("lora",)) == ["LoRA"]


def test_files_have_what_papers_print(
    make: Make, titled: Callable[[Iterable[Run]], Source], tmp_path: Path
) -> None:
    build(titled(of(make, "lora")), tmp_path / "out")
    (plain,) = tmp_path.glob("out/rank/math/*-shared.html")
    (beside,) = tmp_path.glob("out/rank/math/*-shared-dypam.html")
    assert "Printed by DyPAM" in beside.read_text()
    assert "Printed by" not in plain.read_text()
    assert beside.name in plain.read_text()


def test_an_untrained_backbone_is_marked_has_no_rank_and_sorts_by_its_scores(
    make: Make, page: Page
) -> None:
    base = make(
        *("base", 1, {"gsm8k": 99, "aqua": 15}),
        backbone=LLAMA,
        marks=(),
        protocol="paper/2",
        trainable_parameters=0,
        seconds={"wall": 9.0},
    )
    found = page([*of(make, "lora", "vera"), base], View())
    assert list(rows(found)) == ["base", "vera", "lora"]
    row = rows(found)["base"]
    assert (row.trained, row.ranks, row.top_band) == (False, None, False)
    assert {cell.rank for cell in row.cells} == {None}
    # The best mean of gsm8k is that of the untrained one; ranks are among the others.
    assert [one.cells[2].rank for one in rows(found).values()] == [None, 1, 2]
    assert ">untrained<" in html(found)
    by_time = rows(page([], View(sort="time", reverse=True)))
    assert list(by_time)[-1] == "base"


def test_titles_are_shown_and_names_are_in_addresses_and_found(make: Make, page: Page) -> None:
    found = page(of(make, "lora[r=4]", "vera"), View(search="LoRA (r"))
    assert {name: row.title for name, row in rows(found).items()} == {"lora[r=4]": "LoRA (r=4)"}
    text = html(found)
    assert "<h1>Mathematics" in text
    assert re.search(r"sort=gsm8k[^>]*>GSM8K<", text)
    assert "<dt>Command line</dt><dd><code>lora[r=4]</code></dd>" in text
    assert list(rows(page([], View(search="lora[r")))) == ["lora[r=4]"]
    assert found.tables[0].title.startswith("Mathematics: accuracy in percent, mean over 3 seeds")


def test_a_rival_is_shown_by_its_title_and_linked_by_its_name(make: Make, page: Page) -> None:
    text = html(page(of(make, "lora", "dypam"), View()))
    (rival,) = set(re.findall(r'first=lora&amp;second=(\w+)"><bdi>(\w+)</bdi>', text))
    assert rival == ("dypam", "DyPAM")


def test_a_mean_without_an_interval_is_drawn_without_one(make: Make, page: Page) -> None:
    varied = [make("lora", seed, {"gsm8k": 40 + seed}) for seed in (1, 2, 3)]
    same = [make("dypam", seed, {"gsm8k": 50}) for seed in (1, 2, 3)]
    found = page(varied + same, View(columns=("gsm8k",)))
    lora, dypam = (rows(found)[name].cells[0].bar for name in ("lora", "dypam"))
    assert lora
    assert lora.low < lora.middle < lora.high
    assert dypam
    assert dypam.low == dypam.middle == dypam.high == 100
    bars = re.findall(r'class="bar".*?</svg>', html(found))
    assert ["<rect" in one for one in bars] == [False, True]


def test_titles_are_those_of_the_plugins() -> None:
    title = command.source("harness.db", private=False).title
    assert [title("groups", "math"), title("tasks", "gsm8k"), title("methods", "dypam")] == [
        *("Mathematics", "GSM8K", "DyPAM")
    ]
    assert title("methods", "../../lora") is title("tasks", "micro") is None


def test_a_title_that_a_run_brings_is_shown(make: Make, page: Page) -> None:
    run = make("tanh", 1, provenance={"titles": {"tanh": "TanhLoRA"}})
    assert rows(page([run], View()))["tanh"].title == "TanhLoRA"


def badges(found: RankPage) -> dict[str, tuple[str, tuple[str, ...]]]:
    (table,) = found.tables
    every = [*table.badges, *(badge for row in rows(found).values() for badge in row.badges)]
    assert {badge.kind for badge in every} == {one.kind for one in table.meanings}
    return {badge.kind: (badge.text, badge.details) for badge in every}


def test_what_holds_for_all_runs_is_a_badge_of_the_table(make: Make, page: Page) -> None:
    marks = ("SAMPLE DATA generated", "first 9 rows of each benchmark", "GSM8K not verified")
    adjusted = (*marks, "lora on tiny: rank lowered to 4")
    runs = [make("lora", 1, marks=adjusted), make("vera", 1, marks=marks)]
    found = page(runs, View())
    assert badges(found) == {
        "sample": ("SAMPLE DATA", ("SAMPLE DATA generated.",)),
        "limits": ("rows limited", ("First 9 rows of each benchmark.",)),
        "data": ("other data", ("GSM8K not verified.",)),
        "adjusted": ("adjusted", ("lora on tiny: rank lowered to 4.",)),
    }
    assert [badge.kind for badge in rows(found)["lora"].badges] == ["adjusted"]
    assert [badge.kind for badge in found.tables[0].badges] == ["sample", "limits", "data"]


def test_flags_of_many_runs_are_summed_up(make: Make, page: Page) -> None:
    runs = [
        make("lora", seed, marks=(), flags=(f"gsm8k: always the same answer: 7 ({90 + seed} %)",))
        for seed in (1, 2, 3)
    ]
    assert badges(page(runs, View())) == {
        "flags": (
            "1 flag",
            ("Always the same answer: 91 to 93 % on 1 of 1 sets, in 3 of 3 runs.",),
        )
    }


def test_diverged_failed_and_missing_seeds_have_badges_of_their_own(make: Make, page: Page) -> None:
    ended = {"marks": (), "scores": ()}
    diverged = make("vera", 1, status="diverged", reason="loss nan at step 3", **ended)
    failed = make("vera", 2, status="failed", reason="out of memory", **ended)
    runs = [*(make("lora", seed, marks=()) for seed in (1, 2, 3, 4)), diverged, failed]
    runs.append(make("vera", 3, marks=()))
    found = page(runs, View())
    assert badges(found) == {
        "diverged": (
            *(
                "1 seed diverged",
                (f"Seed 1: diverged: loss nan at step 3 (run {diverged.run_id}).",),
            ),
        ),
        "failed": ("1 seed failed", (f"Seed 2: failed: out of memory (run {failed.run_id}).",)),
        "missing": ("1 seed not run", ("Seed 4: not run.",)),
    }
    named = {badge.kind: badge.runs for badge in rows(found)["vera"].badges}
    assert named == {"diverged": (diverged.run_id,), "failed": (failed.run_id,), "missing": ()}


def contaminated(make: Make, method: str, clean: int) -> Run:
    scores = (
        Score("gsm8k", "accuracy", "strict", True, 0.5, 200),
        Score("gsm8k", "clean accuracy", "strict", False, 0.4, clean),
        Score("aqua", "accuracy", "strict", True, 0.5, 100),
        Score("aqua", "clean accuracy", "strict", False, 0.5, 100),
    )
    return make(method, 1, marks=(), scores=scores)


def test_rows_seen_in_training_are_counted_beside_clean_averages(make: Make, page: Page) -> None:
    found = page([contaminated(make, "lora", 150), contaminated(make, "vera", 150)], View())
    text, details = badges(found)["contamination"]
    assert text == "50 rows seen in training"
    assert details[0] == "GSM8K: 50 of 200 test rows (25 %) are in the training set."
    cells = {cell.column: cell.text for cell in rows(found)["lora"].cells}
    # 60 of 150 and 50 of 100 right.
    assert cells["clean micro"] == "44.00"
    assert found.columns[:4] == ("micro", "macro", "clean micro", "clean macro")


def test_a_page_begins_with_averages(make: Make, page: Page) -> None:
    found = page(of(make, "lora", "vera"), View())
    assert found.tables[0].columns == ("micro", "macro", "gsm8k", "aqua")
    assert [cell.column for cell in rows(found)["lora"].cells] == list(found.columns)
    text = html(found)
    assert text.index("Ranks</abbr>") < text.index(">micro</a>") < text.index(">GSM8K</a>")


def test_where_no_row_was_seen_clean_averages_say_nothing_more(make: Make, page: Page) -> None:
    found = page([contaminated(make, "lora", 200)], View())
    assert badges(found) == {}
    assert found.columns == ("micro", "macro", "gsm8k", "aqua")


def test_each_table_of_a_page_says_how_many_seeds_it_has(make: Make, page: Page) -> None:
    one = [make(method, 1, setting="setting-b") for method in ("lora", "vera")]
    two = [make(method, seed) for method in ("lora", "vera") for seed in (1, 2)]
    three = of(make, "lora", "vera", backbone="tiny", setting="setting-c")
    told = {len(t.seeds): (t.one_seed, t.untested) for t in page(one + two + three, View()).tables}
    assert told[1][0].startswith("One seed: this view ranks nothing beyond item noise.")
    assert told[2] == (
        *("", "Nothing is tested here: two seeds, and a test over seeds needs three."),
    )
    assert told[3] == ("", "")


def test_an_untrained_backbone_of_one_seed_makes_no_view_of_one_seed(
    make: Make, page: Page
) -> None:
    runs = [*of(make, "lora", "vera"), make("base", 1, backbone=LLAMA, trainable_parameters=0)]
    assert {table.one_seed for table in page(runs, View()).tables if len(table.seeds) > 1} == {""}


def test_a_choice_of_another_backbone_is_no_mistake(make: Make, page: Page) -> None:
    runs = [*of(make, "lora"), make("dypam", 1, {"piqa": 50}, backbone="tiny")]
    found = page(runs, View(backbones=("tiny",), methods=("lora",), columns=("gsm8k",)))
    assert rows(found) == {}
    assert found.tables[0].columns == found.columns


class Names(HTMLParser):
    """Collects the names of all attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found = set[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {name for name, _ in attrs}


NAMES = {
    "tag": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "quotes": "\"' onmouseover='alert(1)",
    "template": "{{ 7*7 }}{% raw %}",
    "control": "a\x00b\x1b[2Jc\x7f",
    "bidi": "\u202egpj.exe\u2066",
    "formula": '=HYPERLINK("http://x.example")',
    "long": "m" * 1_000_000,
}


@pytest.mark.parametrize("kind", NAMES)
def test_a_hostile_method_is_text_and_breaks_no_layout(make: Make, page: Page, kind: str) -> None:
    name = NAMES[kind]
    runs = [make(one, seed, marks=()) for one in (name, "lora") for seed in (1, 2, 3)]
    found = page(runs, View())
    text = html(found)
    assert "<script>alert" not in text
    assert "<img" not in text
    names = Names()
    names.feed(text)
    assert not {one for one in names.found if one.startswith("on")}
    assert "49" not in rows(found)[name].title
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text)
    shown = re.findall(r'class="method"[^>]*><bdi>([^<]*)</bdi>', text)
    assert len(shown) == 2
    assert all(len(unescape(one)) <= 80 for one in shown)
    # The whole name stands in the details; nothing else is much longer for it.
    assert len(text) < 100_000 + 12 * len(name)


def test_a_cell_leads_to_the_comparison_with_its_rival_by_its_name(make: Make, page: Page) -> None:
    found = page(of(make, "lora", "dypam"), View())
    html = pages.rank(found, Served(), {"math": (LLAMA,)})
    seconds = set(re.findall(r"second=(\w+)", html))
    assert seconds == {"lora", "dypam"}  # not LoRA and DyPAM, which are no addresses
