"""Whatever methods are called and models write, a browser shows it as text, in place."""

import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, expect

from results.record import Run
from results.runfolder.folder import RunFolder
from results.runfolder.values import Generation, Verdict
from results.store import Store

pytestmark = pytest.mark.parts

Visit = Callable[..., Page]
Outlet = Any

TEXTS = {
    "script": "<script>alert(1)</script>",
    "closed script": "</script></style></title><svg onload=alert(1)>",
    "handler": "\"><img src=x onerror='alert(1)'>",
    "address": "javascript:alert(1)",
    "quotes": "'\"`\"' onmouseover='alert(1)' x=\"",
    "template": "{{ 7*7 }}{% raw %}${7*7}<%= 7*7 %>#{7*7}",
    "entities": "&lt;b&gt; &amp;amp; &#0;",
    "path": "../../../../etc/passwd\\..\\..\\cmd.exe",
    "SQL": "'; DROP TABLE runs; --%_",
    "formula": '=HYPERLINK("http://evil.example","x")|cmd',
    "LaTeX": r"\input{/etc/passwd}\write18{id}$x_1^2$%&#~",
    "control": "a\x00b\x07c\x1b[2Jd\x7fe\x85f\u2028g",
    "right to left": "\u202eevil\u202c \u2066x\u2069 שלום",
    "marks": "Z" + "\u0310\u0352\u035b" * 4,
    "long": "W" * 300,
}
EVERY = "|".join(TEXTS.values())
MEGABYTE = "M" * 1_000_000
BENCHMARK = re.sub(r"[\x00/\\]", "", EVERY)[:60]
"""The name of a file too, in the run folder."""

SAFE = "plain"

PAST_THE_EDGE = """
document.documentElement.scrollWidth == document.documentElement.clientWidth ? [] :
  [...document.querySelectorAll("body *")]
    .filter((one) => one.getBoundingClientRect().right > innerWidth)
    .filter((one) => !one.closest(".scroll table"))
    .map((one) => one.outerHTML.slice(0, 200))
"""
"""What of a page reaches past the edge of the screen, where the page itself does."""


def answers(folder: RunFolder) -> None:
    """Write answers of hostile texts, and one of a million characters."""
    texts = [*TEXTS.values(), MEGABYTE]
    folder.write_generations(
        BENCHMARK,
        [
            Generation(id=n, prompt=text, answer=text, ended=True, long=False, text=text)
            for n, text in enumerate(texts)
        ],
    )
    folder.write_verdicts(
        BENCHMARK,
        [
            Verdict(id=n, extracted={"strict": text[:400]}, correct={"strict": n == 0})
            for n, text in enumerate(texts)
        ],
    )
    spec = folder.path / "spec.json"
    known = json.loads(spec.read_text())
    spec.write_text(json.dumps({**known, "tests": {BENCHMARK: {"rows": len(texts)}}}))
    folder.log.write_text(f"{MEGABYTE}\n{EVERY}\n")


def hostile_runs(
    root: Path, make: Callable[..., Run], folder: Callable[[Path, Run], RunFolder]
) -> Iterator[Run]:
    """Yield runs of a method by every name, each with a reason, flags and a command of its kind."""
    spec = {
        "train": {"lr": 0.1, EVERY: EVERY},
        "long": MEGABYTE,
        "tests": {BENCHMARK: {}, "aqua": {}},
    }
    shared: dict[str, Any] = {
        "group": EVERY,
        "spec": spec,
        "environment": {EVERY: EVERY, "packages": {}},
        "marks": (EVERY,),
        "protocol": EVERY,
    }
    for minute, text in enumerate([SAFE, *TEXTS.values()]):
        for seed in (1, 2):
            run = make(
                text,
                seed,
                {BENCHMARK: 50 + minute + seed, "aqua": 40 + seed},
                minute=2 * minute + seed,
                flags=(f"{BENCHMARK}: always the same answer: {text} (100 %)",),
                provenance={"command": ["harness", "run", "--data", text], EVERY: EVERY},
                **shared,
            )
            if (text, seed) == (SAFE, 1):
                answers(folder(root / "run", run))
                run = replace(run, folder=str(root / "run"))
            yield run
    failed: dict[str, Any] = {"status": "failed", "scores": (), **shared}
    yield make("failing", 1, minute=98, reason=f"{EVERY}\n{MEGABYTE}", **failed)
    yield make("failing too", 1, minute=99, reason=MEGABYTE, **failed)
    yield make("elsewhere", 1, minute=0, backbone=EVERY, **shared)


@pytest.fixture(scope="module")
def hostile(
    tmp_path_factory: pytest.TempPathFactory,
    make: Callable[..., Run],
    folder: Callable[[Path, Run], RunFolder],
    offer: Callable[..., Any],
) -> Iterator[dict[str, Outlet]]:
    root = tmp_path_factory.mktemp("hostile")
    store = Store(root / "harness.db")
    for run in hostile_runs(root, make, folder):
        store.add(run)
    with offer(root / "harness.db", root / "built") as every:
        yield every


@pytest.fixture
def home(request: pytest.FixtureRequest, hostile: dict[str, Outlet], visit: Visit) -> Page:
    return visit(hostile[request.param], viewport={"width": 390, "height": 844})


every_outlet = pytest.mark.parametrize("home", ["served", "static", "disk"], indirect=True)


def readable(text: str) -> str:
    """Write a text as a browser shows it: control characters as escapes."""
    return re.sub(
        r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]",
        lambda one: one[0].encode("unicode_escape").decode(),
        text,
    ).strip()


def titled(text: str) -> str:
    """Write a name as the ranking does: what follows a colon names a variant; 60 characters."""
    name, colon, variant = text.partition(":")
    title = f"{name} ({variant})" if colon else text
    return readable(title if len(title) <= 60 else f"{title[:59]}…")


def choose(page: Page) -> None:
    """Unfold what a phone has folded."""
    page.get_by_text("Choose what is shown").click()


def check(page: Page) -> None:
    """No element came of a text, and nothing reaches past the edge of a phone."""
    assert page.locator("img, iframe, style, object, embed, base").count() == 0
    attributes = page.evaluate(
        "[...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames())"
    )
    assert not {name for name in attributes if name.startswith("on")}
    scripts = page.locator("script").evaluate_all("all => all.map(one => one.src)")
    assert [one for one in scripts if not one] == []
    assert page.evaluate(PAST_THE_EDGE) == []
    assert "49" not in page.title()


@every_outlet
def test_names_of_methods_are_text_in_the_ranking(home: Page) -> None:
    check(home)
    shown = home.locator("table.rank tbody th .method").all_inner_texts()
    assert {titled(text) for text in TEXTS.values()} <= {one.strip() for one in shown}
    for cell in home.locator("button.cell").all()[:30:7]:
        cell.click()
        expect(home.locator("[popover]:popover-open")).to_be_visible()
        check(home)
        home.keyboard.press("Escape")


@every_outlet
def test_a_hostile_name_is_sorted_found_and_chosen(home: Page) -> None:
    home.get_by_role("link", name="Method", exact=True).click()
    check(home)
    choose(home)
    home.get_by_role("searchbox").fill("<SCRIPT>")
    assert home.locator("table.rank tbody tr:visible th .method").all_inner_texts() == [
        TEXTS["script"]
    ]
    home.get_by_role("searchbox").fill("")
    home.get_by_text("Methods", exact=True).click()
    home.get_by_role("checkbox", name=TEXTS["SQL"][:30]).check()
    home.get_by_role("checkbox", name=TEXTS["LaTeX"][:30]).check()
    home.get_by_role("checkbox", name=readable(TEXTS["control"])).check()
    home.get_by_role("checkbox", name=readable(TEXTS["right to left"])).check()
    home.get_by_role("button", name="Show").click()
    home.wait_for_url(re.compile("methods="))
    shown = home.locator("table.rank tbody tr:visible th .method").all_inner_texts()
    chosen = ("SQL", "LaTeX", "control", "right to left")
    assert set(shown) == {readable(TEXTS[name]) for name in chosen}
    check(home)


def test_hostile_names_are_compared(hostile: dict[str, Outlet], visit: Visit) -> None:
    page = visit(hostile["served"])
    page.get_by_role("link", name="Compare", exact=True).click()
    for place, name in (("first", "control"), ("second", "right to left")):
        page.locator(f"select[name={place}]").select_option(label=readable(TEXTS[name]))
    page.get_by_role("button", name="Compare").click()
    both = f"{readable(TEXTS['control'])} against {readable(TEXTS['right to left'])}"
    expect(page.get_by_role("heading", level=1)).to_contain_text(both)
    expect(page.get_by_role("heading", level=2).first).to_contain_text(" minus ")
    check(page)


@every_outlet
def test_a_hostile_backbone_is_chosen(home: Page) -> None:
    choose(home)
    home.get_by_role("group", name="Backbone").get_by_role("link").nth(1).click()
    expect(home.get_by_role("rowheader", name="elsewhere")).to_be_visible()
    assert "/etc/passwd" not in unquote(home.url).partition("?")[0]
    check(home)


@every_outlet
def test_reasons_are_text_and_fit_a_phone(home: Page) -> None:
    home.get_by_role("link", name="Runs", exact=True).click()
    expect(home.locator("tr.reason").first).to_contain_text("MMMM")
    check(home)
    failed = home.get_by_role("link", name=re.compile("^failed"))
    failed.click()
    expect(failed).to_have_attribute("aria-current", "true")
    home.get_by_role("rowheader").get_by_role("link").last.click()
    expect(home.locator("pre.warning").first).to_contain_text(TEXTS["script"])
    check(home)


@every_outlet
def test_a_run_and_its_generations_are_text(home: Page) -> None:
    home.locator(f"tr[data-method={SAFE}] button.cell").first.click()
    home.locator("[popover]:popover-open a[href*='run/']").first.click()
    home.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    expect(home.locator("details pre")).to_contain_text(TEXTS["handler"])
    assert f"--data {shlex.quote(SAFE)}" in home.inner_text("main")
    check(home)
    home.get_by_role("link", name="items").first.click()
    expect(home.get_by_role("article")).to_have_count(len(TEXTS) + 1)
    for number, text in enumerate(TEXTS.values()):
        shown = home.get_by_role("article").nth(number).locator("pre").all_inner_texts()
        assert {one.strip() for one in shown} == {readable(text)}
    long = home.get_by_role("article").last.locator("pre").last
    assert len(long.inner_text()) == len(MEGABYTE)
    check(home)


def test_the_api_shows_hostile_texts_as_text(
    hostile: dict[str, Outlet], visit: Visit, guard: Any
) -> None:
    served = hostile["served"]
    guard.expected.append("404")  # a browser asks for the icon of what is no page
    page = visit(served, served.at("/api/rank"))
    assert page.locator("script, img, svg").count() == 0
    assert TEXTS["script"] in page.inner_text("body")
