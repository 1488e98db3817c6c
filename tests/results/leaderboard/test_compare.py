"""Two methods or two runs compared, and their answers side by side."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from results.analysis.pairwise import compare
from results.leaderboard.html import pages
from results.leaderboard.html.links import Served
from results.leaderboard.html.render import readable
from results.leaderboard.source import Source
from results.leaderboard.values.attempts.marked import marks, parted
from results.leaderboard.values.compared.compare import compare_page
from results.leaderboard.view import Versus
from results.record import Run, Verdicts
from results.statistics.test import Test
from results.store import Store
from tests.results.leaderboard.shown import read

Stored = tuple[str, dict[str, Run]]
Client = Callable[..., TestClient]
Get = Callable[[str], Any]


@pytest.fixture
def page(store: Stored, client: Client) -> Get:
    served = client(store[0])

    def get(path: str) -> str:
        answer = served.get(path)
        assert answer.status_code == 200, answer.text
        return answer.text

    return get


@pytest.fixture
def api(store: Stored, client: Client) -> Get:
    served = client(store[0])
    return lambda path: served.get(path).json()


def of(first: str, second: str, **more: str) -> str:
    return f"/compare?{urlencode({'first': first, 'second': second, **more})}"


@pytest.fixture
def items(store: Stored) -> Callable[..., str]:
    ids = [store[1][name].run_id for name in ("lora 3", "dypam 3")]
    facts = {"first": ids[0], "second": ids[1], "benchmark": "gsm8k"}
    return lambda **more: f"/compare/items?{urlencode(facts | more)}"


def test_a_comparison_has_the_numbers_of_the_analysis(store: Stored, api: Get) -> None:
    values = api(f"/api{of('dypam', 'lora')}")["compared"][0]["comparison"]
    (one,) = compare(list(store[1].values()), "dypam", "lora")
    gsm8k, test = values["contrasts"][0], one.contrasts[0].test
    assert isinstance(test, Test)
    assert gsm8k["seeds"]["p"] == test.p
    assert gsm8k["difference"] == f"{100 * (one.contrasts[0].difference or 0):+.2f}" == "+30.00"
    assert gsm8k["first"]["text"] == "82.00"
    assert [contrast["column"] for contrast in values["contrasts"]] == [
        contrast.column for contrast in one.contrasts
    ]


def test_its_adjusted_p_is_that_of_the_ranking(api: Get) -> None:
    cells = api("/api/rank")["tables"][0]["blocks"][0]["rows"][0]["cells"]
    cell = next(one for one in cells if one["column"] == "gsm8k")
    values = api(f"/api{of('dypam', 'lora')}")["compared"][0]["comparison"]["contrasts"][0]
    assert cell["tested"]["against"] == "lora"
    assert values["seeds"]["adjusted"] == cell["tested"]["adjusted"]
    assert values["seeds"]["adjusted"] > values["seeds"]["p"]


def test_the_direction_is_said_in_words(page: Get) -> None:
    text = read(page(of("lora", "dypam"))).text
    assert "micro: lora is 30.00 points lower than dypam; told apart over seeds." in text


def test_two_methods_are_called_as_papers_do_and_chosen_by_name(
    store: Stored, source: Callable[..., Source]
) -> None:
    called = {"lora": "LoRA", "dypam": "DyPAM", "gsm8k": "GSM8K", "math": "Mathematics"}
    opened = replace(source(store[0]), title=lambda kind, name: called.get(name)).open()
    found = compare_page(opened, Versus(first="lora", second="dypam"))
    (comparison,) = [one.comparison for one in found.compared]
    assert comparison.methods == ("LoRA", "DyPAM")
    assert [one.column for one in comparison.contrasts] == ["GSM8K", "aqua", "micro", "macro"]
    assert all(one.seeds.adjusted for one in comparison.contrasts)
    assert comparison.summary.startswith("micro: LoRA is 30.00 points lower than DyPAM")
    text = pages.compare(found, Served(), dict.fromkeys(found.groups, ("tiny",)))
    assert '<option value="lora" selected>LoRA</option>' in text
    assert "LoRA against DyPAM <small>Mathematics on tiny</small>" in text


def test_a_link_swaps_the_two(page: Get) -> None:
    assert of("lora", "dypam").partition("?")[2] in page(of("dypam", "lora")).replace("&amp;", "&")
    both = Versus(
        "math", "a", "p/1", "own", first="lora", second="vera", second_backbone="b"
    ).swapped()
    assert both == Versus(
        "math", "b", "p/1", "own", first="vera", second="lora", second_backbone="a"
    )
    assert both.swapped().swapped() == both


def test_differences_are_drawn_around_zero(api: Get, page: Get) -> None:
    contrasts = api(f"/api{of('lora', 'dypam')}")["compared"][0]["comparison"]["contrasts"]
    for one in contrasts:
        bar = one["bar"]
        assert -100 <= bar["low"] <= bar["middle"] <= bar["high"] <= 0
    assert min(one["bar"]["low"] for one in contrasts) == -100
    assert page(of("lora", "dypam")).count('class="bar difference told"') == len(contrasts)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("lorra", "dypam", "Did you mean 'lora'?"),
        ("lora", "lora", "cannot be compared with itself"),
        ("lora", "vera", "method with finished runs"),
        ("lora", "", "Choose two methods to compare."),
    ],
)
def test_what_is_not_compared_is_a_page_that_says_why_and_lets_one_choose(
    page: Get, first: str, second: str, told: str
) -> None:
    text = page(of(first, second))
    assert told in read(text).text
    assert text.count("<select") == 2


def test_the_ranking_leads_to_the_comparison_of_a_method_with_its_rival(page: Get) -> None:
    text = page("/").replace("&amp;", "&")
    assert 'href="/compare?group=math&backbone=tiny&first=dypam&second=lora"' in text
    assert 'href="/compare?group=math&backbone=tiny&first=lora"' in text


def test_runs_of_the_same_seed_are_offered_item_by_item(store: Stored, api: Get) -> None:
    pairs = api(f"/api{of('lora', 'dypam')}")["compared"][0]["pairs"]
    ids = [[store[1][f"{name} {seed}"].run_id for name in ("lora", "dypam")] for seed in (1, 2, 3)]
    assert [[pair["first"], pair["second"]] for pair in pairs] == ids
    assert [pair["benchmarks"] for pair in pairs] == [[], [], ["gsm8k"]]


def bits(*right: int) -> bytes:
    return int("".join(map(str, right)).ljust(8, "0"), 2).to_bytes(1, "big")


@pytest.fixture
def two(tmp_path: Path, make: Callable[..., Run], client: Client) -> tuple[TestClient, list[Run]]:
    """Serve two runs of other methods and seeds with verdicts, and one of another benchmark."""
    made = Store(tmp_path / "two.db")
    verdicts = {"lora": bits(1, 1, 1, 1, 1, 1, 0, 0), "dypam": bits(0, 0, 0, 0, 0, 0, 0, 1)}
    runs = [
        make(method, seed, {"gsm8k": right}, minute=seed)
        for seed, (method, right) in enumerate({"lora": 75, "dypam": 12}.items())
    ]
    for run in runs:
        made.add(run, [Verdicts("gsm8k", "rows", 8, verdicts[run.method], None)])
    runs.append(make("rosa", 0, {"boolq": 9}, group="commonsense", setting="b", minute=9))
    made.add(runs[-1])
    return client(str(tmp_path / "two.db")), runs


def test_two_runs_are_compared_as_two_trained_models(two: tuple[TestClient, list[Run]]) -> None:
    served, (first, second, _) = two
    query = f"/compare/runs?first={first.run_id}&second={second.run_id}"
    (found,) = served.get(f"/api{query}").json()["comparisons"]
    (gsm8k,) = found["contrasts"]
    # McNemar by hand: 6 rows only the first has right, 1 only the second;
    # 2 P(X <= 1) of Binomial(7, 1/2) is 2 (1 + 7) / 128.
    assert gsm8k["items"]["p"] == pytest.approx(16 / 128)
    assert gsm8k["exchanged"] == {"gained": 6, "lost": 1, "items": 8}
    assert "not told apart over items" in gsm8k["words"]
    text = served.get(query).text
    assert "These are two trained models, not two methods" in text
    assert "lora on tiny, seed 0 minus dypam on tiny, seed 1" in read(text).text


def test_a_run_offers_the_others_of_its_group(two: tuple[TestClient, list[Run]]) -> None:
    served, (first, second, other) = two
    text = served.get(f"/compare/runs?first={first.run_id}").text
    assert second.run_id in text
    assert other.run_id not in text
    assert f"/compare/runs?first={first.run_id}" in served.get(f"/run/{first.run_id}").text


def test_runs_that_share_nothing_say_so(two: tuple[TestClient, list[Run]]) -> None:
    served, (first, _, other) = two
    path = f"first={first.run_id}&second={other.run_id}"
    told = served.get(f"/compare/runs?{path}").text
    assert "share no score: the one is of gsm8k, the other of boolq." in told
    answer = served.get(f"/compare/items?{path}&benchmark=gsm8k")
    assert (answer.status_code, "share no benchmark" in answer.text) == (404, True)
    itself = served.get(f"/compare/runs?first={first.run_id}&second={first.run_id}").text
    assert "cannot be compared with itself" in itself


KINDS: Mapping[str, list[int]] = {
    "gained": [0],
    "lost": [1],
    "both-right": [],
    "both-wrong": [2, 3],
    "different-answer": [0, 1],
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_filtered_by_who_is_right(
    api: Get, page: Get, items: Callable[..., str], kind: str
) -> None:
    values = api(f"/api{items(kind=kind)}")
    assert [pair["first"]["id"] for pair in values["pairs"]] == KINDS[kind]
    assert values["counts"] == {"all": 4, **{one: len(ids) for one, ids in KINDS.items()}}
    assert page(items(kind=kind)).count("<article") == len(KINDS[kind])


def test_the_prompt_stands_once_above_both_generations(
    page: Get, items: Callable[..., str], hostile: str
) -> None:
    text = page(items())
    assert text.count("How many?") == 4
    found = read(text)
    for shown in ("Die Größe ist 7.", "Es sind 17 - 9 = 8.", "答案是\u30008。", "הוא 9", "gold"):
        assert shown.casefold() in found.text.casefold()
    assert found.text.count(readable(hostile)) == 2
    assert not {name for name in found.names if name.startswith("on")} | {"style"} & found.names
    assert "only the first is right" in found.text


def test_what_extractors_found_is_marked_where_it_stands(
    store: Stored, page: Get, items: Callable[..., str]
) -> None:
    marks = re.findall(r"<mark[^>]*>([^<]*)</mark>", page(items()))
    assert marks == ["7", "8", "8", "7", "9", "9"]
    of_one = page(f"/run/{store[1]['lora 3'].run_id}/items/gsm8k")
    assert re.findall(r"<mark[^>]*>([^<]*)</mark>", of_one) == ["7", "8", "9"]
    assert 'title="found by strict"' in of_one


@pytest.mark.parametrize(
    ("text", "found", "shown"),
    [
        ("17 - 9 = 8", "9", "17 - [9] = 8"),
        ("7, 17, 7.5 and 2.7", "7", "[7], 17, 7.5 and 2.7"),
        ("It is 7.", "7", "It is [7]."),
        ("答案是8。", "8", "答案是[8]。"),
        ("A banana", "A", "[A] banana"),
        ("1,000", "1000", "1,000"),
        ("הוא 9", "9", "הוא [9]"),
    ],
)
def test_only_whole_words_are_marked(text: str, found: str, shown: str) -> None:
    parts = parted(text, marks(text, {"strict": found}))
    assert "".join(f"[{part}]" if found_by else part for part, found_by in parts) == shown


@given(st.text(), st.dictionaries(st.sampled_from("abc"), st.text(max_size=2)))
def test_the_parts_of_a_text_are_the_text(text: str, extracted: dict[str, str]) -> None:
    parts = parted(text, marks(text, extracted))
    assert "".join(part for part, _ in parts) == text
    for name, found in extracted.items():
        own = "".join(part for part, found_by in parts if name in found_by)
        assert own in ("", found)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"benchmark": "aqua"}, "answers of run"),
        ({"benchmark": "gsm9k"}, "gsm8k"),
        ({"first": "zz"}, "zz"),
    ],
)
def test_items_that_are_not_there_are_a_page_that_says_so(
    store: Stored, client: Client, items: Callable[..., str], changes: dict[str, str], told: str
) -> None:
    answer = client(store[0]).get(items(**changes))
    assert answer.status_code == 404
    assert told in answer.text
    assert "<h1>" in answer.text


def test_a_folder_that_is_gone_is_a_page_that_says_so(
    store: Stored, client: Client, items: Callable[..., str]
) -> None:
    gone = store[1]["dypam 1"].run_id
    answer = client(store[0]).get(items(second=gone))
    assert answer.status_code == 404
    assert f"The answers of run {gone} to gsm8k are not there." in answer.text


def test_runs_of_other_data_are_refused(
    tmp_path: Path, store: Stored, client: Client, make: Callable[..., Run]
) -> None:
    made, tests = Store(tmp_path / "data.db"), {"gsm8k": {"sha256": "other"}}
    first = store[1]["lora 3"]
    second = make("rosa", 9, folder=store[1]["dypam 3"].folder, spec={"tests": tests})
    for run in (first, second):
        made.add(run)
    query = urlencode({"first": first.run_id, "second": second.run_id, "benchmark": "gsm8k"})
    answer = client(str(tmp_path / "data.db")).get(f"/compare/items?{query}")
    assert "gsm8k: the two runs were tested on different data." in answer.text


def test_hostile_names_are_shown_as_text(page: Get, hostile: str) -> None:
    found = read(page(of(hostile, "lora")))
    assert readable(hostile) in found.text
    assert not {name for name in found.names if name.startswith("on")} | {"style"} & found.names
    nothing = read(page(f"/compare?first={quote(hostile)}&second={quote('<b>')}"))
    assert "b" not in nothing.names


def test_a_group_that_is_not_there_is_a_page_that_says_so(store: Stored, client: Client) -> None:
    assert client(store[0]).get("/compare?group=mth").status_code == 404
