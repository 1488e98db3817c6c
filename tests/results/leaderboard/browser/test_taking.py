"""A view is taken along: as files, and as the command that makes them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.parts

Visit = Callable[..., Page]
Outlet = Any

FILES = {
    "LaTeX": ("tex", r"\begin{tabular}"),
    "CSV": ("csv", '"dypam"'),
    "JSON": ("json", '"dypam"'),
    "BibTeX": ("bib", "@misc{hu2021lora,"),
}
"""How the name of each form ends, and what stands in its file."""


def taken(page: Page, form: str) -> tuple[str, str]:
    """Click on a form; give name and text of what comes. From disk a browser shows some of it."""
    link = page.get_by_role("region", name="Download").get_by_role("link", name=form)
    if page.url.startswith("file:"):
        there = urlsplit(urljoin(page.url, link.get_attribute("href"))).path
        return link.get_attribute("download") or "", Path(unquote(there)).read_text()
    with page.expect_download() as found:
        link.click()
    return found.value.suggested_filename, Path(found.value.path()).read_text()


@pytest.mark.parametrize("form", FILES)
def test_a_view_is_taken_along(outlet: Outlet, visit: Visit, form: str) -> None:
    page = visit(outlet)
    suffix, part = FILES[form]
    name, text = taken(page, form)
    assert name == f"math-tiny.{suffix}"
    assert part in text
    assert form != "JSON" or json.loads(text)


def test_the_command_is_copied(outlet: Outlet, visit: Visit) -> None:
    page = visit(outlet, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the command for CSV").click()
    expect(page.get_by_role("status")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "harness table --tasks math --backbones tiny --format csv"
    expect(page.locator("code", has_text=copied)).to_be_visible()
