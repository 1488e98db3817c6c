"""Charts are seen, chosen and taken along, and what is drawn is written too."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.parts

Visit = Callable[..., Page]
Outlet = Any


@pytest.fixture
def page(outlet: Outlet, visit: Visit) -> Page:
    page = visit(outlet)
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Charts").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("rade-off")
    return page


def test_a_score_is_drawn_against_a_cost_and_written_below(page: Page) -> None:
    drawn = page.get_by_role("region", name="Chart 1").locator("svg")
    box = drawn.bounding_box()
    assert box
    assert box["width"] > 200
    assert "LoRA" in page.inner_text("main")


def test_a_chart_is_taken_along_as_svg(page: Page) -> None:
    link = page.get_by_role("link", name="Chart as SVG").first
    if page.url.startswith("file:"):  # a browser shows what it could download
        link.click()
        page.wait_for_url(re.compile(r"\.svg"))
        return
    with page.expect_download() as found:
        link.click()
    assert "<svg" in Path(found.value.path()).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["scale", "training"])
def test_the_other_charts_are_one_click_away(page: Page, name: str) -> None:
    page.get_by_role("link", name=re.compile(name, re.I)).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(re.compile(name, re.I))
