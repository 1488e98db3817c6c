"""Files that a browser opens from disk: they show and choose what the server does.

The served pages come from the application itself, which answers what the browser asks for.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route
from starlette.testclient import TestClient

from results.analysis.items import Kind, PairKind
from results.leaderboard.build import build
from results.leaderboard.html.links import Files, Links, Served
from results.leaderboard.source import Source
from results.leaderboard.view import View
from results.record import Run
from results.runfolder.folder import RunFolder
from results.runfolder.values import Generation, OptionLikelihoods, Verdict
from results.store import Store

pytestmark = pytest.mark.parts

SERVER = "http://board.test"

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\n\n  {{ 7*7 }} ${7*7} `'\"\\",
    "\x00\x07\x1b[2J\r\n\x7f\x85 line\u2028paragraph\u2029end",
    "שלום \u202e abc مرحبا",
    "这是答案 Größe 🎉",
    "=HYPERLINK(1) \\input{x} __proto__",
    "",
)

ARTICLES = """() => {
    const inside = (node) => {
        if (node.nodeType === Node.TEXT_NODE) {
            return node.parentElement.closest("pre") ? node.data
                : node.data.replace(/\\s+/g, " ").trim();
        }
        const attributes = [...node.attributes].map((one) => `${one.name}=${one.value}`).sort();
        const children = [...node.childNodes].map(inside).filter((one) => one !== "");
        return [node.tagName, attributes, children];
    };
    const articles = [...document.querySelectorAll("article")];
    articles.forEach((one) => one.normalize());
    return articles.map((one) => [inside(one), one.innerText]);
}"""
"""Gives elements, attributes and text of the articles, and what a reader sees of them."""

TABLE = """() => [...document.querySelectorAll("table.rank")]
    .filter((table) => table.checkVisibility())
    .map((table) => [...table.rows].filter((row) => !row.hidden)
        .map((row) => [...row.cells].filter((cell) => !cell.hidden)
            .map((cell) => cell.innerText.replace(/\\s+/g, " ").trim())))"""
"""Gives the text of what is shown of the tables, row by row."""


def write_items(folder: RunFolder, right: int) -> None:
    """Write 45 answers, among them hostile ones, long, cut and in the training set."""
    texts = [HOSTILE[n % len(HOSTILE)] + (f" {n}" if n >= len(HOSTILE) else "") for n in range(45)]
    folder.write_generations(
        "gsm8k",
        [
            Generation(
                id=n,
                prompt=text,
                answer="" if n % 7 == 0 else text,
                reference=text if n % 11 == 0 else "",
                ended=n % 5 > 0,
                long=n % 6 == 0,
                in_training=n % 4 == 0,
                text=f"{text} 🎉 is 7, so {text}###after {text}" if n % 3 else text,
            )
            for n, text in enumerate(texts)
        ],
    )
    folder.write_verdicts(
        "gsm8k",
        [
            Verdict(
                id=n,
                extracted={"strict": text if n % 9 else "", "llm-adapters": "7"},
                correct={"strict": n % right == 0, "llm-adapters": n % 2 == 0},
            )
            for n, text in enumerate(texts)
            if n != 44
        ],
    )
    folder.write_likelihoods(
        "gsm8k",
        [OptionLikelihoods(id=n, options={texts[n] or "A": -1.25, "B": -2.0}) for n in range(5)],
    )


@pytest.fixture(scope="module")
def board(
    tmp_path_factory: pytest.TempPathFactory,
    make: Callable[..., Run],
    folder_of: Callable[..., Run],
) -> tuple[str, Run, Run]:
    """Make a store of two backbones, two protocols and environments, and two runs with items."""
    root = tmp_path_factory.mktemp("disk")
    store, kept = Store(root / "harness.db"), list[Run]()
    for number, (method, right) in enumerate({"lora": 50, "dypam": 80, "<b>vera</b>": 20}.items()):
        for seed in (1, 2, 3):
            for extra, changes in enumerate(
                (
                    {},
                    {"backbone": "other"},
                    {"setting": "setting-b", "protocol": "chat/1"},
                    {"environment_id": "bbbbbbbb"},
                )
            ):
                facts: dict[str, Any] = {
                    "minute": 100 * number + 10 * seed - extra,
                    "trainable_parameters": number + 1,
                    "peak_memory_bytes": 4096 * (5 - number),
                    "folder": "",
                } | changes
                correct = {"gsm8k": right + seed, "aqua": 50 - right // 2 + seed}
                run = make(method, seed, correct, **facts)
                if method != "<b>vera</b>" and (seed, extra) == (3, 0):
                    run = folder_of(run, root / "runs" / method)
                    write_items(RunFolder(root / "runs" / method), {"lora": 3, "dypam": 2}[method])
                    kept.append(run)
                store.add(run)
    return str(root / "harness.db"), kept[0], kept[1]


@pytest.fixture(scope="module")
def built(
    tmp_path_factory: pytest.TempPathFactory,
    board: tuple[str, Run, Run],
    source: Callable[..., Source],
) -> Path:
    out = tmp_path_factory.mktemp("pages") / "with space & ü"
    build(source(board[0]), out)
    return out


Open = Callable[..., Page]


@pytest.fixture
def opened(
    browser: Browser,
    built: Path,
    board: tuple[str, Run, Run],
    client: Callable[..., TestClient],
    guard: Any,
) -> Iterator[Open]:
    """Open the address that a page has in an outlet."""
    contexts, served = [], client(board[0])

    def answer(route: Route) -> None:
        found = served.get(route.request.url.removeprefix(SERVER))
        route.fulfill(status=found.status_code, headers=dict(found.headers), body=found.content)

    def opened(links: Links, address: str, **options: Any) -> Page:
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.route(f"{SERVER}/**", answer)
        base = SERVER if links.served else f"{built.as_uri()}/"
        guard.watch(page, base)
        page.goto(base + address)
        return page

    yield opened
    for context in contexts:
        context.close()


OUTLETS: tuple[Links, ...] = (Served(), Files())


@pytest.mark.parametrize(
    ("kind", "page", "number"),
    [
        *((None, 1, 20), (None, 3, 5), (None, 9, 0)),
        *(("right", 1, 15), ("wrong", 2, 9), ("unparsed", 1, 6), ("cut", 1, 9)),
    ],
)
def test_a_file_shows_the_articles_of_the_server(
    opened: Open, board: tuple[str, Run, Run], kind: Kind | None, page: int, number: int
) -> None:
    shown = []
    for links in OUTLETS:
        there = opened(links, links.items(board[1].run_id, "gsm8k", kind, page))
        there.locator("article, p.empty:not(:has(a))").first.wait_for()
        current = there.locator("[aria-label=Items] [aria-current]").all_inner_texts()
        pager = there.locator(".pager").all_inner_texts()
        leads = [one.split("?")[-1] for one in hrefs(there, ".pager a")]
        shown.append([current, pager, leads, *there.evaluate(ARTICLES)])
    for served, file in zip(*shown, strict=True):
        assert served == file
    # Of 45 rows every third is right and every fifth is cut; in every ninth and in an empty text
    # nothing was found; the last is not judged.
    assert len(shown[1]) - 3 == number


@pytest.mark.parametrize(
    ("kind", "page", "number"),
    [
        *((None, 1, 20), (None, 3, 5), ("gained", 1, 7), ("lost", 1, 14)),
        *(("both-wrong", 1, 15), ("different-answer", 1, 0)),
    ],
)
def test_a_file_shows_two_runs_as_the_server_does(
    opened: Open, board: tuple[str, Run, Run], kind: PairKind | None, page: int, number: int
) -> None:
    shown = []
    for links in OUTLETS:
        runs = (board[1].run_id, board[2].run_id)
        there = opened(links, links.item_pairs(*runs, "gsm8k", kind, page))
        there.locator("article, p.empty:not(:has-text('script'))").first.wait_for()
        kinds = there.locator("[aria-label=Items] a").all_inner_texts()
        current = there.locator("[aria-label=Items] [aria-current]").all_inner_texts()
        pager = there.locator(".pager").all_inner_texts()
        heading = there.locator("h1").inner_text()
        told = [kinds, current, pager, heading, there.title()]
        shown.append([*told, *there.evaluate(ARTICLES)])
    for served, file in zip(*shown, strict=True):
        assert served == file
    # Of 44 judged rows the first run is right in every third, the second in every second.
    assert len(shown[1]) - 5 == number


def test_an_address_of_two_runs_loads_nothing_of_another_folder(opened: Open) -> None:
    address = Files().item_pairs("a", "b", "gsm8k").replace("first=a", "first=..%2F..%2Fa")
    page = opened(Files(), address)
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.reload()
    assert page.get_by_text("A script shows the items of two runs here").is_visible()
    assert not [one for one in asked if one.endswith(("gsm8k.js", "/a.js"))]


def hrefs(page: Page, selector: str) -> list[str]:
    return [one.get_attribute("href") or "" for one in page.locator(selector).all()]


VIEWS: Mapping[str, View] = {
    "as it is": View(),
    "sorted by a benchmark": View(sort="aqua"),
    "the other way round": View(sort="gsm8k", reverse=True),
    "by name": View(sort="method"),
    "by memory": View(sort="memory"),
    "search": View(search="LO"),
    "columns": View(columns=("aqua",)),
    "methods": View(methods=("lora", "<b>vera</b>")),
    "protocol": View(protocol="chat/1"),
    "era": View(era="bbbbbbbb"),
    "another backbone, and all of it": View(
        backbones=("other",), sort="aqua", search="a", columns=("gsm8k",), methods=("dypam",)
    ),
    "every backbone": View(backbones=("tiny", "other")),
    "own recipes": View(recipes="own", sort="parameters"),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_file_shows_the_view_of_its_address(opened: Open, name: str) -> None:
    view, shown = VIEWS[name], []
    for links in OUTLETS:
        asked = replace(view, group="math", backbones=view.backbones or ("tiny",))
        page = opened(links, links.rank(asked))
        marked = page.locator("th[aria-sort]:visible").all_inner_texts()
        chosen = page.locator(".choice [aria-current]").all_inner_texts()
        shown.append((page.evaluate(TABLE), marked, chosen))
    assert shown[0] == shown[1]
    assert shown[0][0]


def test_what_is_clicked_and_typed_stands_in_the_address(opened: Open) -> None:
    links = Files()
    page = opened(links, links.rank(View(group="math", backbones=("tiny",), era="environm")))
    for _ in range(2):
        page.locator("thead a:visible", has_text="aqua").first.click()
    page.get_by_role("searchbox").fill("a")
    page.get_by_text("Columns", exact=True).click()
    page.get_by_role("checkbox", name="aqua").check()
    page.get_by_role("button", name="Show").click()
    query = "era=environm&sort=aqua&reverse=1&search=a&columns=aqua"
    assert page.url.endswith(f".html?{query}")
    before = page.evaluate(TABLE)
    assert [row[0].split(" ")[0] for row in before[0][1:]] == ["dypam", "lora", "<b>vera</b>"]
    page.reload()
    assert page.evaluate(TABLE) == before
    page.locator(".choice").get_by_role("link", name="other", exact=True).click()
    assert page.url.endswith("?sort=aqua&reverse=1&search=a&columns=aqua")
    page.go_back()
    page.locator(".choice").get_by_role("link", name="chat/1", exact=True).click()
    assert page.url.endswith(f"?{query}&protocol=chat%2F1")
    page.go_back()
    page.go_back()
    # What was typed stood in the address before it was sent.
    assert page.url.endswith("?era=environm&sort=aqua&reverse=1&search=a")
    assert page.get_by_role("searchbox").input_value() == "a"


def test_without_script_nothing_is_offered_that_needs_one(
    opened: Open, board: tuple[str, Run, Run]
) -> None:
    links = Files()
    address = links.rank(View(group="math", backbones=("tiny",), sort="aqua"))
    page = opened(links, address, java_script_enabled=False)
    assert page.locator("th[aria-sort]").all_inner_texts() == ["micro", "micro", "micro"]
    assert page.locator("table.rank thead a").count() == 0
    assert not page.locator("form, [aria-label=Protocol]").filter(visible=True).count()
    assert all("?" not in one for one in hrefs(page, "a:visible"))
    page = opened(links, links.items(board[1].run_id, "gsm8k"), java_script_enabled=False)
    assert not page.locator("[aria-label=Items]").is_visible()
    (data,) = hrefs(page, "#items a")
    assert data.endswith(links.data(board[1].run_id, "gsm8k"))


def test_items_whose_file_is_gone_say_so(
    opened: Open, board: tuple[str, Run, Run], built: Path, guard: Any
) -> None:
    links, run = Files(), board[1].run_id
    data = built / links.data(run, "gsm8k")
    kept = data.read_text()
    for content in (None, kept[:-4]):
        data.unlink() if content is None else data.write_text(content)
        page = opened(links, links.items(run, "gsm8k"))
        page.get_by_text("gsm8k.js cannot be read.").wait_for()
    data.write_text(kept)
    assert [one.split(":")[1].strip() for one in guard.faults] == [
        "Failed to load resource",
        "Unexpected end of input",
    ]
    guard.faults.clear()
