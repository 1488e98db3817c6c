"""Pages can be read and used with any eyes, hands and screens."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urljoin

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.parts

Visit = Callable[..., Page]
Outlet = Any

OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = true })"
PAST_THE_EDGE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

# It would read stylesheets again, which a page from disk forbids.
AXE = {"resultTypes": ["violations"], "preload": False}

CHOOSE = "Choose what is shown"
"""What a phone has folded."""

COMPARISON = "/compare?group=math&first=lora&second=dypam"

PAGES = {
    "ranking": (),
    "recipes": (CHOOSE, "each its own"),
    "one seed": (CHOOSE, re.compile("^commonsense", re.I)),
    "runs": ("Runs",),
    "failed runs": ("Runs", re.compile("^failed")),
    "failed run": ("Runs", re.compile("^failed"), re.compile("^[0-9a-f]{8}$")),
    "run": ("Runs", re.compile("^finished"), re.compile("^[0-9a-f]{8}$")),
    "items": ("Runs", re.compile("^finished"), re.compile("^[0-9a-f]{8}$"), "items"),
    "charts": ("Charts",),
    "compare": ("Compare",),
    "comparison": (COMPARISON,),
    "two runs": (COMPARISON, re.compile("^seed")),
    "two runs, item by item": (COMPARISON, "SVAMP"),
    "now": ("Now",),
    "API": ("API",),
}
"""What a visitor clicks on to reach each page, or the address where that is."""


def reach(page: Page, name: str) -> None:
    for link in PAGES[name]:
        if link == CHOOSE:
            page.locator("details.controls").evaluate("one => { one.open = true }")
            continue
        if link == COMPARISON:
            page.goto(urljoin(page.url, link))
            continue
        exact = isinstance(link, str)
        page.get_by_role("link", name=link, exact=exact).first.click()
    page.wait_for_load_state()


def serious(page: Page) -> list[tuple[str, list[str]]]:
    """Name what axe finds serious, and what of the page it is."""
    found = Axe().run(page, options=AXE).response["violations"]
    return [
        (f"{one['id']}: {one['help']}", [node["html"][:200] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def test_axe_finds_what_is_hard_to_read(outlet: Outlet, visit: Visit) -> None:
    page = visit(outlet)
    assert serious(page) == []
    page.evaluate("document.querySelector('h1').style.color = '#ddd'")
    assert "color-contrast" in str(serious(page))


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(
    offered: dict[str, Outlet], visit: Visit, name: str, scheme: str, width: int
) -> None:
    page = visit(offered["served"], viewport={"width": width, "height": 900}, color_scheme=scheme)
    reach(page, name)
    page.evaluate(OPEN_ALL)
    assert serious(page) == []
    assert page.evaluate(PAST_THE_EDGE) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_what_is_behind_a_cell(
    outlet: Outlet, visit: Visit, scheme: str
) -> None:
    page = visit(outlet, color_scheme=scheme)
    page.locator("tr[data-method=lora] button.cell").last.click()
    expect(page.locator("[popover]:popover-open")).to_be_visible()
    assert serious(page) == []


def test_axe_finds_nothing_serious_in_an_error(
    offered: dict[str, Outlet], visit: Visit, guard: Any
) -> None:
    guard.expected.append("404")
    served = offered["served"]
    assert serious(visit(served, served.at("/run/none"))) == []


def test_a_visitor_without_a_mouse_gets_past_the_head_and_along_the_table(
    outlet: Outlet, visit: Visit
) -> None:
    page = visit(outlet, viewport={"width": 390, "height": 900})
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")
    expect(page.locator(":focus")).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")
    region = page.get_by_role("region").first
    while not region.evaluate("one => one === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    while region.evaluate("one => one.scrollLeft") == 0:  # it glides
        page.wait_for_timeout(20)


def test_whoever_has_the_focus_sees_where_it_is(outlet: Outlet, visit: Visit) -> None:
    page = visit(outlet)
    seen = 0
    while seen < 60:
        page.keyboard.press("Tab")
        at = page.locator(":focus")
        if not at.count():
            break
        seen += 1
        width = at.evaluate("one => getComputedStyle(one).outlineWidth")
        assert width != "0px", at.evaluate("one => one.outerHTML")
    assert seen > 20


def test_nothing_moves_for_those_who_want_it_still(outlet: Outlet, visit: Visit) -> None:
    page = visit(outlet, reduced_motion="reduce")
    page.locator("tr[data-method=lora] button.cell").last.click()
    assert page.evaluate("document.getAnimations().length") == 0


@pytest.mark.parametrize("name", ["ranking", "runs", "run", "items"])
def test_pages_are_printed_with_all_columns(outlet: Outlet, visit: Visit, name: str) -> None:
    page = visit(outlet)
    reach(page, name)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1032, "height": 1123})  # 273 mm of A4 landscape at 96 dpi
    assert page.evaluate(PAST_THE_EDGE) == 0
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_whole_without_script(
    offered: dict[str, Outlet], visit: Visit, name: str
) -> None:
    page = visit(offered["served"], java_script_enabled=False)
    reach(page, name)
    assert page.get_by_role("heading", level=1).count() == 1
