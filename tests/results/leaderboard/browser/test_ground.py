"""A cell leads to its runs, a run to its items, an item to what the model wrote."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.parts

Visit = Callable[..., Page]
Outlet = Any

RUN = re.compile("^[0-9a-f]{8}$")
"""What links to a run are called."""


@pytest.fixture
def page(outlet: Outlet, visit: Visit) -> Page:
    return visit(outlet)


def open_run(page: Page, method: str) -> None:
    """Go from a cell of a method to its first run."""
    page.locator(f"tr[data-method={method}] button.cell").first.click()
    page.locator("[popover]:popover-open").get_by_role("link", name=RUN).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(method)


def test_a_cell_leads_to_a_generation(page: Page) -> None:
    open_run(page, "lora")
    page.get_by_role("row", name=re.compile("^svamp accuracy .* items$")).get_by_role(
        "link"
    ).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("svamp")
    first = page.get_by_role("article").first
    for part in ("Prompt", "Gold answer", "Generation", "Found"):
        expect(first.get_by_text(part, exact=True)).to_be_visible()
    prompt, gold, generation, *_ = first.locator("pre").all_inner_texts()
    assert "### Instruction:" in prompt
    assert float(gold) >= 0
    assert generation
    expect(first.locator("li", has_text="decides")).to_have_count(1)


KINDS = ("right", "wrong", "unparsed")


def test_items_are_filtered_by_verdict(page: Page) -> None:
    open_run(page, "dypam")
    page.get_by_role("row", name=re.compile("^aqua accuracy .* items$")).get_by_role("link").click()
    for kind in KINDS:
        link = page.get_by_role("link", name=re.compile(rf"^{kind} \d+$"))
        number = int(link.inner_text().split()[1])
        link.click()
        expect(page.locator(".choice a[aria-current]", has_text=kind)).to_be_visible()
        expect(page.get_by_role("article")).to_have_count(number)
        verdict = "right" if kind == "right" else "wrong"
        assert page.locator("article h2 .verdict").all_inner_texts() == [verdict] * number
        nothing = page.locator("li", has_text="decides").filter(has_text="nothing")
        assert nothing.count() == number or kind != "unparsed"
    assert page.get_by_role("article").count() > 0


def test_answers_that_the_limit_ended_are_found(page: Page) -> None:
    page.get_by_role("link", name=re.compile("^commonsense", re.I)).click()
    open_run(page, "base")
    page.get_by_role("link", name="items").first.click()
    page.get_by_role("link", name="cut 3").click()
    expect(page.get_by_text("cut at the limit")).to_have_count(3)


def test_a_run_shows_what_it_was_and_how_it_is_made_again(page: Page) -> None:
    open_run(page, "lora")
    run = page.locator("code").first.inner_text()
    assert f"harness rerun {run}" in page.locator("pre").all_inner_texts()
    asked = "\n".join(page.locator("pre").all_inner_texts())
    assert "harness run --methods 'base,lora,dypam," in asked
    for part, told in (
        ("Spec", "method.fields.r"),
        ("Environment", "packages.torch"),
        ("Provenance", "chosen"),
        ("Losses by step", "moments of the training"),
    ):
        page.get_by_text(part, exact=True).first.click()
        expect(page.locator("details[open]", has_text=told)).to_be_visible()


def test_a_run_that_failed_shows_why(page: Page) -> None:
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_role("link", name=re.compile("^failed")).click()
    page.get_by_role("rowheader").get_by_role("link").first.click()
    expect(page.locator("pre.warning")).to_contain_text("RuntimeError: no update")
    expect(page.locator("details[open] pre")).to_contain_text('raise RuntimeError("no update")')
