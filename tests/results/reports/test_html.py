"""The page of HTML: whole by itself, escaped, well-formed."""

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from results.analysis.table import tables
from results.record import Run
from results.reports.formats import render
from results.reports.sheets.printing import Printing

Make = Callable[..., Run]
VOID = {"meta"}


class Reader(HTMLParser):
    """Collects tags, attributes and texts, and fails where tags are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.texts.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture
def runs(make: Make) -> list[Run]:
    rights = {"dypam": (80, 81), "lora[r=64]": (50, 50)}
    return [
        make(method, seed, backbone=backbone, correct={"gsm8k": right, "aqua": right})
        for backbone in ("tiny", "other")
        for method, both in rights.items()
        for seed, right in enumerate(both)
    ]


def test_a_page_runs_no_script_and_asks_no_other_host(runs: list[Run]) -> None:
    text = render(tables(runs), "html", Printing(runs=True, costs=True))
    reader = read(text)
    assert {tag for tag, _ in reader.tags} & {"script", "link", "img", "iframe", "object"} == set()
    attributes = {name for _, attributes in reader.tags for name in attributes}
    assert attributes & {"src", "href", "style", "srcset", "data"} == set()
    assert not any(name.startswith("on") for name in attributes)
    assert not re.search(r"https?:|url\(|@import", text)
    policies = [one.get("content") for tag, one in reader.tags if tag == "meta"]
    assert "default-src 'none'; style-src 'unsafe-inline'" in policies


def test_what_users_wrote_is_text_and_never_markup(make: Make) -> None:
    hostile = "<script>alert('x')</script>&\""
    marked = make("lora", backbone=hostile, marks=(hostile,), environment={"python": hostile})
    text = render(tables([marked, make(f"a{hostile}", backbone=hostile)]), "html")
    reader = read(text)
    assert "script" not in {tag for tag, _ in reader.tags}
    assert hostile in "".join(reader.texts)


def test_each_row_has_a_cell_for_each_column(runs: list[Run]) -> None:
    for layout in ("main", "sizes"):
        text = render(tables(runs), "html", layout=layout)
        widths = {
            sum(int(n or 1) for n in re.findall(r"<t[hd](?:[^>]*?colspan=\"(\d+)\")?[^>]*>", row))
            for row in re.findall(r"<tr>(.*?)</tr>", text)
        }
        assert len(widths) == 1


def test_a_page_marks_best_second_and_significance(runs: list[Run]) -> None:
    # By hand: 80 and 81 have mean 80.5 and SD 1 / sqrt(2) = 0.71.
    text = render(tables(runs[:4]), "html", Printing(titles={"dypam": "DyPAM"}))
    assert "<td><strong>80.50</strong> <small>± 0.71</small>" in text
    assert "<td><u>50.00</u> <small>± 0.00</small></td>" in text
    assert "Bold: best; underlined: second." in text
    assert '<th scope="row">DyPAM</th>' in text
    assert '<th scope="rowgroup" colspan="6">tiny</th>' in text


def test_a_page_has_a_dark_form_and_one_for_paper(runs: list[Run]) -> None:
    text = render(tables(runs), "html")
    assert "color-scheme: light dark" in text
    assert "@media print" in text
    assert not re.search(r"#[0-9a-f]{3}|rgb", text)  # a colour of its own would not change


def test_every_table_of_a_page_has_an_id_of_its_own(make: Make) -> None:
    found = tables([make(setting="setting-a"), make(setting="setting-b")])
    ids = [
        attributes["id"] for tag, attributes in read(render(found, "html")).tags if tag == "figure"
    ]
    assert ids == ["math-accuracy", "math-accuracy-2"]
