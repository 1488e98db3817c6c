"""Two methods, settings or runs are compared: in numbers and words, and item by item."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.parts

Visit = Callable[..., Page]
Outlet = Any


@pytest.fixture
def page(outlet: Outlet, visit: Visit) -> Page:
    return visit(outlet)


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_contain_text(re.compile(text))


def open_comparison(page: Page) -> None:
    """Go from a cell of LoRA to its comparison with what it was tested against."""
    page.locator("tr[data-method=lora] button.cell").first.click()
    page.locator("[popover]:popover-open").get_by_role("link", name="DyPAM").click()
    heading(page, "LoRA against DyPAM|DyPAM against LoRA")  # files have one order


TITLES = {"base": "Base model", "lora": "LoRA", "dypam": "DyPAM"}


def choose(page: Page, first: str, second: str) -> None:
    """Choose two methods: a server has lists, files have links."""
    titles = TITLES[first], TITLES[second]
    page.get_by_role("link", name="Compare", exact=True).click()
    if page.get_by_role("button", name="Compare").count():
        page.get_by_label("First").select_option(first)
        page.get_by_label("Second").select_option(second)
        page.get_by_role("button", name="Compare").click()
    else:
        against = page.get_by_role("group", name=f"{titles[0]} against")
        against.get_by_role("link", name=titles[1]).click()
    heading(page, "^{} against {}".format(*titles))


def number(text: str) -> float:
    """Read the number that a text begins with."""
    found = re.match(r"[+-]?[\d.]+", text.strip())
    assert found, text
    return float(found[0])


def contrast(page: Page, column: str) -> list[str]:
    """Give what the first table says of a column."""
    row = page.locator("table.contrasts").first.get_by_role(
        "row", name=re.compile(f"^{column}", re.I)
    )
    return row.locator("td").all_inner_texts()


def test_a_cell_leads_to_the_numbers_and_words_of_a_comparison(page: Page) -> None:
    shown = {
        TITLES[method]: number(
            page.locator(f"tr[data-method={method}] button.cell").first.inner_text()
        )
        for method in ("lora", "dypam")
    }
    open_comparison(page)
    first, second = page.get_by_role("heading", level=1).inner_text().split()[:3:2]
    one, other, difference, *_, words = contrast(page, "micro")
    assert (number(one), number(other)) == (shown[first], shown[second])
    assert number(difference) == pytest.approx(shown[first] - shown[second], abs=0.011)
    told = "higher" if shown[first] > shown[second] else "lower"
    assert words == f"{told}; told apart over seeds"


def test_two_methods_are_chosen(page: Page) -> None:
    choose(page, "base", "lora")
    one, other, *_ = contrast(page, "micro")
    assert number(one) < number(other)
    if page.url.startswith("http") and "/compare?" in page.url:  # files have one order
        page.get_by_role("link", name="LoRA minus Base model instead").click()
        heading(page, "^LoRA against Base model")
        assert [number(text) for text in contrast(page, "micro")[:2]] == [
            number(other),
            number(one),
        ]


def test_two_runs_are_compared_in_numbers_and_where_their_specs_differ(
    offered: dict[str, Outlet], visit: Visit
) -> None:
    page = visit(offered["served"])
    open_comparison(page)
    page.get_by_role("link", name="seed 1000", exact=True).click()
    heading(page, "^Two runs lora on tiny, seed 1000 against dypam on tiny, seed 1000")
    one, other, difference, _, _, gained, lost, rows, words = contrast(page, "svamp")
    # Of accuracies over the same rows, the difference is what was gained minus what was lost.
    assert number(difference) == pytest.approx(number(one) - number(other), abs=0.011)
    net = 100 * (int(gained) - int(lost)) / int(rows)
    assert number(difference) == pytest.approx(net, abs=0.011)
    assert words
    page.get_by_text(re.compile("parts? of the spec differ")).click()
    expect(page.get_by_role("row", name=re.compile(r"^method\.name lora dypam"))).to_be_visible()
    page.get_by_label("Compare with run").fill("")
    offer = page.locator("datalist option", has_text="lora on tiny, seed 2000").first
    page.get_by_label("Compare with run").fill(offer.get_attribute("value") or "")
    page.get_by_role("button", name="Compare").click()
    heading(page, "lora on tiny, seed 1000 against lora on tiny, seed 2000")
    page.get_by_role("link", name="the second minus the first instead").click()
    heading(page, "lora on tiny, seed 2000 against lora on tiny, seed 1000")


KINDS = {
    "all": None,
    "only the first is right": ["right", "wrong"],
    "only the second is right": ["wrong", "right"],
    "both are right": ["right", "right"],
    "both are wrong": ["wrong", "wrong"],
}
"""Kinds of rows, and what both answers of such a row are."""


def test_items_of_two_runs_stand_side_by_side_and_are_filtered(page: Page) -> None:
    open_comparison(page)
    page.get_by_role("link", name="SVAMP", exact=True).first.click()
    heading(page, "^svamp")
    seen = 0
    for name, verdicts in KINDS.items():
        link = page.get_by_role("link", name=re.compile(rf"^{name} \d+$"))
        count = int(link.inner_text().split()[-1])
        link.click()
        expect(page.locator(".choice a[aria-current]", has_text=name)).to_be_visible()
        articles = page.get_by_role("article")
        expect(articles).to_have_count(count)
        for article in articles.all():
            assert verdicts in (None, article.locator("h3 .verdict").all_inner_texts())
            seen += verdicts is not None
    assert seen == 3


def test_generations_stand_side_by_side_with_what_was_found_marked(page: Page) -> None:
    open_comparison(page)
    page.get_by_role("link", name="SVAMP", exact=True).first.click()
    row = page.get_by_role("article").first
    expect(row).to_be_visible()
    sides = row.locator("section.side")
    left, right = (side.bounding_box() for side in sides.all())
    assert left
    assert right
    assert (left["y"], left["x"] + left["width"] <= right["x"]) == (right["y"], True)
    assert {side.locator("h3").inner_text().split()[1] for side in sides.all()} == {"lora", "dypam"}
    assert len([side for side in sides.all() if side.locator("pre").first.inner_text()]) == 2
    marked = row.locator("pre mark")
    for mark in marked.all():
        assert (mark.get_attribute("title") or "").startswith("found by ")
        found = mark.locator("xpath=ancestor::section").locator("li q").all_inner_texts()
        assert [one for one in found if mark.inner_text() in one]
    assert marked.count() > 0
