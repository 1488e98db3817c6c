"""Runs over time: what was tried, what failed, and why."""

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
    page = visit(outlet)
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Runs")
    return page


def statuses(page: Page) -> list[str]:
    return page.locator("td .status").all_inner_texts()


def test_every_attempt_is_listed_the_newest_first(page: Page) -> None:
    started = page.locator("td time").evaluate_all("all => all.map(one => one.dateTime)")
    assert started == sorted(started, reverse=True)
    assert len(started) == 15
    assert set(statuses(page)) == {"finished", "failed", "diverged"}


@pytest.mark.parametrize(
    ("status", "number", "why"),
    [
        ("finished", 9, ""),
        ("failed", 3, "RuntimeError: no update"),
        ("diverged", 3, "the loss is nan"),
    ],
)
def test_attempts_are_filtered_by_how_they_ended(
    page: Page, status: str, number: int, why: str
) -> None:
    page.get_by_role("link", name=re.compile(f"^{status}")).click()
    expect(page.locator(".choice a[aria-current]")).to_have_text(f"{status} {number}")
    assert statuses(page) == [status] * number
    assert page.locator("tr.reason", has_text=why).count() == (number if why else 0)
