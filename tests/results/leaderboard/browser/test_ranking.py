"""Methods are ranked, and what tests cannot tell apart is seen: as a visitor does it."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.parts

Visit = Callable[..., Page]
Outlet = Any


@pytest.fixture
def page(outlet: Outlet, visit: Visit) -> Page:
    return visit(outlet)


def methods(page: Page) -> list[str]:
    rows = page.locator("table.rank:visible tbody tr[data-method]:visible")
    return rows.evaluate_all("all => all.map((one) => one.dataset.method)")


def columns(page: Page) -> list[str]:
    """Name the columns that are seen; one that is not sorted by has its title only."""
    heads = page.locator("table.rank:visible thead th:visible")
    return heads.evaluate_all("all => all.map((one) => one.dataset.column ?? one.innerText)")


def numbers(page: Page, column: str) -> list[float]:
    """Give the numbers of a column from top to bottom; what is no number is left out."""
    at = columns(page).index(column) + 1
    cells = page.locator(
        f"table.rank:visible tbody tr:visible > :nth-child({at})"
    ).all_inner_texts()
    found = [re.match(r"[\d.]+", cell.strip()) for cell in cells]
    return [float(one[0]) for one in found if one]


def cell(page: Page, method: str, column: str) -> Locator:
    at = columns(page).index(column) + 1
    return page.locator(f"tr[data-method={method}] > :nth-child({at}) button.cell").first


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the focus is where a visitor without a mouse wants it."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if target.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError("Tab does not lead there")


def test_the_best_method_stands_first_and_those_without_a_number_last(page: Page) -> None:
    assert numbers(page, "micro") == sorted(numbers(page, "micro"), reverse=True)
    assert methods(page)[0] == "lora"
    assert methods(page)[-1] == "crashes"


def test_a_click_on_a_head_sorts_and_another_one_turns_the_order(page: Page) -> None:
    page.get_by_role("link", name="Param (%)").click()
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Param (%)")
    assert methods(page) == ["base", "lora", "dypam", "crashes"]
    page.get_by_role("link", name="Param (%)").click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Param (%)")
    assert methods(page) == ["dypam", "lora", "base", "crashes"]
    page.go_back()
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Param (%)")
    assert methods(page) == ["base", "lora", "dypam", "crashes"]


def test_equal_rows_stand_in_the_order_of_the_first_average(page: Page) -> None:
    for _ in range(2):
        page.get_by_role("link", name="Seeds").click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Seeds")
    assert methods(page) == ["lora", "dypam", "base", "crashes"]  # three, three, one, one


def test_a_head_sorts_by_keyboard(page: Page) -> None:
    tab_to(page, page.get_by_role("link", name="Method", exact=True))
    page.keyboard.press("Enter")
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Method")
    assert methods(page) == ["base", "crashes", "dypam", "lora"]


def test_a_search_hides_rows_while_it_is_typed(page: Page) -> None:
    page.get_by_role("searchbox").press_sequentially("DYP")
    assert methods(page) == ["dypam"]
    assert page.url.endswith("?search=DYP")
    assert "1 of 4 methods shown; ranks and tests are among all." in page.inner_text("main")
    page.reload()
    assert methods(page) == ["dypam"]
    page.get_by_role("searchbox").fill("")
    assert "?" not in page.url
    page.reload()
    assert len(methods(page)) == 4


def test_columns_and_methods_are_chosen(page: Page) -> None:
    page.get_by_text("Columns", exact=True).click()
    page.locator("input[type=checkbox][value=svamp]").check()
    page.get_by_text("Methods", exact=True).click()
    page.locator("input[type=checkbox][value=lora]").check()
    page.locator("input[type=checkbox][value=base]").check()
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(re.compile("columns=svamp"))
    assert set(columns(page)) & {"aqua", "svamp", "micro", "macro"} == {"svamp"}
    assert methods(page) == ["lora", "base"]


def test_group_backbone_and_recipes_are_changed_by_their_links(page: Page) -> None:
    heading = page.get_by_role("heading", level=1)
    page.get_by_role("link", name=re.compile("^commonsense", re.I)).click()
    page.wait_for_url(re.compile("commonsense"))
    assert set(methods(page)) == {"base"}
    for backbone in ("tiny", "other"):
        page.get_by_role("link", name=backbone, exact=True).click()
        expect(heading).to_contain_text(re.compile(f"on {backbone}$"))
        assert methods(page) == ["base"] * 2  # in a table of each of two metrics
    page.get_by_role("link", name="all", exact=True).click()
    expect(heading).to_contain_text(re.compile("tiny, other|other, tiny"))
    assert methods(page) == ["base"] * 4
    page.get_by_role("link", name=re.compile("^math", re.I)).click()
    expect(heading).to_contain_text("on tiny")
    page.get_by_role("link", name="each its own").click()
    page.wait_for_url(re.compile("own"))
    assert "lora[train.lr=1000000000.0]" in methods(page)


def test_the_address_of_a_view_shows_the_same_to_someone_else(
    page: Page, outlet: Outlet, visit: Visit
) -> None:
    page.get_by_text("Columns", exact=True).click()
    page.locator("input[type=checkbox][value=aqua]").check()
    page.get_by_role("searchbox").fill("a")
    page.get_by_role("searchbox").press("Enter")
    page.wait_for_url(re.compile("search=a"))
    page.get_by_role("link", name="Seeds").click()
    page.wait_for_url(re.compile("sort=seeds"))
    page.get_by_role("link", name="Seeds").click()
    page.wait_for_url(re.compile("reverse=1"))
    other = visit(outlet, page.url)
    assert methods(page) == methods(other)
    assert columns(page) == columns(other)
    assert "svamp" not in columns(other)
    expect(other.get_by_role("searchbox")).to_have_value("a")


DETAILS = (
    "n\n3 seeds, 6 items each",
    "95 % interval\n",
    "Test\n",
    "p\n",
    ", adjusted ",
    "Detectable\n",
)


def details(page: Page) -> Locator:
    return page.locator("[popover]:popover-open")


def test_the_pointer_shows_what_is_behind_a_cell_and_leaves_it(page: Page) -> None:
    cell(page, "lora", "micro").hover()
    expect(details(page)).to_be_visible()
    shown = details(page).inner_text()
    assert [one for one in DETAILS if one not in shown] == []
    page.mouse.move(1, 1)
    expect(details(page)).to_have_count(0)


def test_the_focus_shows_what_is_behind_a_cell_and_escape_hides_it(page: Page) -> None:
    tab_to(page, cell(page, "lora", "micro"))
    expect(details(page)).to_be_visible()
    assert [one for one in DETAILS if one not in details(page).inner_text()] == []
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text(re.compile("^[0-9a-f]{8}$"))  # one of its runs
    page.keyboard.press("Escape")
    expect(details(page)).to_have_count(0)


def test_a_tap_shows_what_is_behind_a_cell_on_a_phone(outlet: Outlet, visit: Visit) -> None:
    page = visit(outlet, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    cell(page, "lora", "micro").tap()
    expect(details(page)).to_be_visible()
    assert [one for one in DETAILS if one not in details(page).inner_text()] == []
    box = details(page).bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390


def test_a_badge_says_what_is_wrong(page: Page) -> None:
    page.locator("tr[data-method=crashes] button.badge", has_text="failed").click()
    expect(details(page)).to_contain_text("RuntimeError: no update")


def test_the_top_band_is_named_to_who_cannot_see_it(page: Page) -> None:
    assert page.get_by_role("rowheader", name=re.compile("LoRA.*may be the best")).count() == 1


def test_one_seed_ranks_nothing_beyond_item_noise(page: Page) -> None:
    told = page.get_by_text("One seed: this view ranks nothing beyond item noise")
    expect(told).to_have_count(0)
    page.get_by_role("link", name=re.compile("^commonsense", re.I)).click()
    expect(told.first).to_be_visible()
