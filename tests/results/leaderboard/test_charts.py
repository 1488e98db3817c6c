"""Charts as pages, as files that stand alone, and as JSON."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from results.record import Run
from results.store import Store

Stored = tuple[str, dict[str, Run]]
CHARTS = ("/charts", "/charts/scale", "/charts/training")
COSTS = ("parameters", "time", "memory", "size")


@pytest.fixture
def served(store: Stored, client: Callable[..., TestClient]) -> TestClient:
    return client(store[0])


def dots(text: str) -> int:
    return text.count('class="point"')


@pytest.mark.parametrize("against", COSTS)
def test_page_drawing_and_api_show_the_same_points(served: TestClient, against: str) -> None:
    query = f"?against={against}"
    (chart,) = served.get(f"/api/charts/trade-off{query}").json()["charts"]
    page = served.get(f"/charts{query}").text
    drawing = served.get(f"/charts/trade-off.svg{query}")
    assert dots(page) == dots(drawing.text) == len(chart["points"]) == 3
    assert drawing.headers["content-type"] == "image/svg+xml"
    assert ElementTree.fromstring(drawing.content).get("role") == "img"
    assert drawing.text in page
    for point in chart["points"]:
        assert f'<td class="n">{point["cost_text"]}</td>' in page
        assert f'<td class="n">{point["score"]["interval"]}</td>' in page


def test_what_is_missing_from_a_trade_off_stands_below_it(served: TestClient) -> None:
    assert "Not shown: vera (failed)." in served.get("/charts").text


def test_losses_are_of_the_runs_whose_folders_are_there(served: TestClient) -> None:
    page = served.get("/charts/training").text
    assert page.count("<svg") == 2  # a panel for each of two methods
    (chart,) = served.get("/api/charts/training").json()["charts"]
    found = {one["method"]: one for one in chart["curves"]}
    assert found["lora"]["seeds"] == [3]
    assert [one["name"][-6:] for one in found["lora"]["missing"]] == ["seed 1", "seed 2"]
    assert page.count("its run folder is not where the store says") == 7
    assert served.get("/charts/training.svg").text in page


def test_one_backbone_has_no_scale_curve_and_the_page_says_so(served: TestClient) -> None:
    page = served.get("/charts/scale").text
    assert "a scale curve needs two backbones or more" in page
    assert "<svg" not in page


def test_a_run_has_the_chart_of_its_losses(served: TestClient, store: Stored) -> None:
    assert "Losses of lora" in served.get(f"/run/{store[1]['lora 3'].run_id}").text
    assert "<svg" not in served.get(f"/run/{store[1]['lora 1'].run_id}").text


@pytest.mark.parametrize("path", CHARTS)
def test_names_are_shown_as_text_and_a_page_has_no_style_of_its_own(
    served: TestClient, path: str, hostile: str
) -> None:
    page = served.get(path).text
    assert "<script>alert" not in page
    assert page.count("<script") == 1  # the file of the page
    assert not re.search(r"<style|\sstyle=|\son\w+=", page)
    if path != "/charts/scale":
        assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize("path", [*CHARTS, *(f"/charts?against={one}" for one in COSTS)])
def test_no_chart_names_a_folder_a_host_or_a_user(served: TestClient, path: str) -> None:
    values = re.sub(r"/charts(?=$|\?)", "/charts/trade-off", f"/api{path}")
    for answer in (served.get(path), served.get(values)):
        assert answer.status_code == 200
        assert not re.search("/home|quentin|node7", answer.text)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/charts?against=tme", "Did you mean &#39;time&#39;"),
        ("/charts?score=micr", "Did you mean &#39;micro&#39;"),
        ("/charts/trade-off.svg?number=2", "this view has 1 of them"),
        ("/charts/training?group=none", "is not a known task"),
    ],
)
def test_what_is_not_there_is_a_page_that_says_so(served: TestClient, path: str, told: str) -> None:
    answer = served.get(path)
    assert answer.status_code == 404
    assert told in answer.text


@pytest.mark.parametrize("path", CHARTS)
def test_an_empty_store_says_so(
    tmp_path: Path, client: Callable[..., TestClient], path: str
) -> None:
    Store(str(tmp_path / "empty.db"))
    answer = client(str(tmp_path / "empty.db")).get(path)
    assert answer.status_code == 200
    assert "The store holds no runs." in answer.text


def test_every_link_of_a_page_of_charts_is_answered(served: TestClient) -> None:
    for path in CHARTS:
        links: list[Any] = re.findall(r'href="(/[^"]*)"', served.get(path).text)
        assert len(links) > 8
        answers = {link: served.get(link.replace("&amp;", "&")).status_code for link in links}
        assert set(answers.values()) == {200}, answers
