"""Drawings: what they hold, that they are the same each time, and what a page may not have."""

import subprocess
import sys
from itertools import combinations, pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import matplotlib as mpl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.leaderboard.charts.draw import draw, ticks
from results.leaderboard.charts.labels import Box, placed, spread
from results.leaderboard.charts.picture import Band, Line, Picture, Point, axis, shown
from results.leaderboard.charts.svg import svg

HOSTILE = (
    "$x_1^2$ \\frac{a}{b}",
    "<script>alert(1)</script>",
    "\N{CJK UNIFIED IDEOGRAPH-4E2D}\N{CJK UNIFIED IDEOGRAPH-6587}",
    "\N{HEBREW LETTER SHIN}\N{HEBREW LETTER TET}",
    "a\x00b\x1b[2J\u202e\ufffe",
    "&amp; \"quoted\" 'x'",
    "m" * 10**6,
)


def picture(labels: tuple[str, ...]) -> Picture:
    points = tuple(
        Point(
            n + 1.0,
            n * 10.0,
            n * 10.0 - 3,
            n * 10.0 + 3,
            "accent",
            n % 2 == 0,
            shown(one),
            shown(one, 9),
        )
        for n, one in enumerate(labels)
    )
    xs, ys = tuple(one.x for one in points), tuple(one.y for one in points)
    return Picture(
        width=600,
        height=400,
        right=100,
        x=axis("cost (%)", xs, ratio=True),
        y=axis("score", ys),
        points=points,
        lines=(Line(xs, ys, "quiet", 1.0, label="line"), Line(xs, ys, "accent", 1.0, steps=True)),
        bands=(Band(xs, ys, tuple(y + 2 for y in ys), "accent"),),
    )


def drawn(labels: tuple[str, ...]) -> Element:
    return ElementTree.fromstring(svg(picture(labels), "A title", "What it shows"))


def local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def named(root: Element, name: str) -> list[Element]:
    return [one for one in root.iter() if local(one) == name]


@pytest.mark.parametrize("number", [1, 2, 22])
def test_a_drawing_has_a_dot_for_each_point_with_what_a_pointer_is_told(number: int) -> None:
    labels = tuple(f"method {n}" for n in range(number))
    root = drawn(labels)
    dots = [one for one in named(root, "g") if one.get("class") == "point"]
    assert len(dots) == number
    assert ["".join(one.itertext()).strip() for one in dots] == [shown(one, 9) for one in labels]
    texts = {one.text for one in named(root, "text")}
    assert {*labels, "cost (%)", "score", "line"} <= texts


def test_a_page_may_hold_it() -> None:
    root = drawn(HOSTILE)
    assert {local(one) for one in root.iter()} <= {
        "svg", "title", "desc", "defs", "g", "path", "use", "clipPath", "rect", "text", "line",
    }  # fmt: skip
    names = {name for one in root.iter() for name in one.attrib}
    assert "style" not in names
    assert not [name for name in names if name.startswith("on")]
    links = [one.get("href", "#") for one in root.iter()]
    assert all(link.startswith("#") for link in links)


def test_names_that_are_referred_to_are_there_once_and_no_two_drawings_share_any() -> None:
    names = [
        [name for one in drawn(labels).iter() if (name := one.get("id"))]
        for labels in (HOSTILE, ("lora",), ("lora", "dora"))
    ]
    assert all(len(own) == len(set(own)) for own in names)
    assert all(not set(one) & set(other) for one, other in combinations(names, 2))
    root = drawn(HOSTILE)
    used = {one.get("href", "")[1:] for one in named(root, "use")}
    used |= {one.get("clip-path", "")[5:-1] for one in root.iter() if one.get("clip-path")}
    assert used <= set(names[0])


def test_every_colour_has_a_class_by_which_the_page_sets_it() -> None:
    for one in drawn(HOSTILE).iter():
        for paint in ("fill", "stroke"):
            if one.get(paint, "none") != "none":
                assert f"{paint}-" in one.get("class", ""), one.attrib


def test_labels_are_texts_whatever_they_hold() -> None:
    texts = [one.text or "" for one in named(drawn(HOSTILE), "text")]
    assert all(label in texts for label in HOSTILE[:4])
    assert (
        "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}[2J"
        + (2 * "\N{REPLACEMENT CHARACTER}")
        in texts
    )
    assert max(map(len, texts)) <= 30


def test_the_same_values_give_the_same_bytes_in_another_process() -> None:
    code = (
        "from results.leaderboard.charts.draw import draw;"
        "from results.leaderboard.charts.picture import *;"
        "from sys import stdout;"
        "p = Point(1.0, 2.0, 1.0, 3.0, 'accent', True, 'lora', 'hint');"
        "x = axis('x', [1.0, 50.0], ratio=True);"
        "stdout.write(draw(Picture(300, 200, 20, x, axis('y', [1.0, 3.0]), (p,)), 'c'))"
    )
    done = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
        for _ in range(2)
    ]
    assert done[0] == done[1] != b""


def test_what_was_drawn_is_looked_up_by_its_content_and_without_matplotlib() -> None:
    of = picture(("lora", "dora"))
    expected = svg(of, "A title", "What it shows")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from results.leaderboard.charts.picture import *;"
        "from results.leaderboard.charts.svg import svg;"
        "sys.stdout.write(svg(eval(sys.argv[2]), 'A title', 'What it shows'));"
        "assert not [name for name in sys.modules if name.startswith('matplotlib')]"
    )
    command = [sys.executable, "-c", code, ".", repr(of)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == expected


def test_titles_are_escaped() -> None:
    found = svg(picture(("lora",)), "<b>&", "\x00 ]]> <script>")
    root = ElementTree.fromstring(found)
    assert [one.text for one in root[:2]] == ["<b>&", "\N{REPLACEMENT CHARACTER} ]]> <script>"]


def test_a_user_s_settings_of_matplotlib_change_nothing() -> None:
    of = picture(("lora",))
    plain = draw(of, "c")
    with mpl.rc_context({"lines.linewidth": 9.0, "axes.facecolor": "red", "svg.fonttype": "none"}):
        assert draw(of, "c") == plain


@given(st.lists(st.tuples(st.floats(0, 700), st.floats(0, 400)), max_size=22))
def test_labels_lie_on_one_another_only_where_there_is_no_room(
    dots: list[tuple[float, float]],
) -> None:
    frame = Box(0, 0, 700, 400)
    sizes = [(70.0, 14.0)] * len(dots)
    boxes = [one.box for one in placed(dots, sizes, [], frame)]
    assert all(box.outside(frame) < 1 for box in boxes)
    # Twenty-two labels in one spot need 22 places of the 128 around a dot.
    assert all(one.shared(other) < 1 for one, other in combinations(boxes, 2)) or len(dots) > 8


@given(st.lists(st.floats(0, 300), max_size=20))
def test_heights_are_spread_in_their_order(heights: list[float]) -> None:
    moved = spread(heights, 14, 0, 300)
    ordered = [moved[place] for place in sorted(range(len(heights)), key=heights.__getitem__)]
    assert all(after - before > 13.99 for before, after in pairwise(ordered))
    assert all(-0.01 <= one <= 300.01 for one in moved)


@pytest.mark.parametrize(
    ("values", "logarithmic"), [([0.01, 22], True), ([4, 9], False), ([0, 5], False), ([7], False)]
)
def test_an_axis_is_logarithmic_from_a_decade_on(values: list[float], logarithmic: bool) -> None:
    found = axis("x", values, ratio=True)
    assert found.logarithmic == logarithmic
    assert found.low <= min(values) <= max(values) <= found.high
    assert len(ticks(found)) >= 2
