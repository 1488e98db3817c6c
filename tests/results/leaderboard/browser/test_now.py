"""What runs now is seen without loading the page again."""

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from results.store import Store

pytestmark = pytest.mark.parts

RUN = "run --methods lora --tasks math --train-limit 200"

WATCH = """() => {
    window.seen = [];
    const look = () => {
        for (const row of document.querySelectorAll("#running tbody tr")) {
            const text = (name) => row.querySelector(`[data-text=${name}]`).textContent;
            window.seen.push([text("phase"), text("done")]);
        }
    };
    const what = { subtree: true, childList: true, characterData: true };
    new MutationObserver(look).observe(document.getElementById("running"), what);
}"""
"""Notes what the page shows of runs at work; a page that is loaded again has forgotten it."""


def test_a_run_is_seen_from_its_begin_to_its_end_while_the_page_is_open(
    tmp_path: Path,
    server: Callable[..., Any],
    visit: Callable[..., Page],
    program: Callable[..., "subprocess.CompletedProcess[str]"],
) -> None:
    Store(tmp_path / "harness.db")
    (tmp_path / "runs").mkdir()
    with server(tmp_path / "harness.db") as served:
        page = visit(served, served.at("/live"))
        expect(page.get_by_text("Nothing is running.")).to_be_visible()
        expect(page.locator("#state")).to_have_text("kept up to date")
        page.evaluate(WATCH)
        worker = threading.Thread(target=program, args=(tmp_path, *RUN.split()))
        worker.start()
        ended = page.get_by_role("region", name="Ended recently").get_by_role("row")
        expect(ended.last).to_contain_text("finished", timeout=120_000)
        worker.join()
        expect(ended.last).to_contain_text("lora on tiny, math")
        expect(page.get_by_text("Nothing is running.")).to_be_visible()
        seen = page.evaluate("seen")
        assert "train" in {phase for phase, _ in seen}
        assert len({phase for phase, _ in seen}) > 1
        assert len({done for phase, done in seen if phase == "train" and done}) > 1
        ended.last.get_by_role("link").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("lora")
        page.close()  # it would ask a server that has ended
