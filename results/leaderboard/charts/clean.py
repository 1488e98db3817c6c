"""What matplotlib writes, made fit for a page: no style, no names that two charts could share."""

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from results.leaderboard.charts.picture import Ink

COLOURS: dict[Ink, str] = {
    "ink": "#1c1e21",
    "quiet": "#5c6269",
    "line": "#dfe1e3",
    "accent": "#0b5fb4",
    "paper": "#fdfdfc",
}
"""As in the stylesheet, by light. A file that stands alone keeps them; a page changes them by the
classes that the elements get."""

POINT = "point-"
"""What the name of a dot begins with, which is kept as its class."""

_NAMES = {colour: name for name, colour in COLOURS.items()}
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_NUMBER = re.compile(r"-?\d+\.\d+")
_PLACES = {"d", "x", "y"}
_OF_A_PAGE = {"metadata", "style"}
"""Elements that matplotlib adds and a page may not or need not have."""


def cleaned(written: str, prefix: str) -> Element:
    """Parse an SVG, and rewrite its styles as attributes and classes.

    A content security policy forbids style in a page, and allows presentation attributes. Colours
    get a class too, by which the stylesheet sets them in light, dark and print. Names of elements
    begin with `prefix`, so that charts of one page share none.
    """
    root = ElementTree.fromstring(written)
    for parent in list(root.iter()):
        for child in [one for one in parent if _local(one.tag) in _OF_A_PAGE]:
            parent.remove(child)
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {
            _local(name): _NUMBER.sub(_rounded, value) if name in _PLACES else value
            for name, value in element.attrib.items()
        }
        _restyle(element)
        element.text = element.tail = None
    _rename(root, prefix)
    return root


def coloured(attributes: dict[str, str]) -> dict[str, str]:
    """Add the classes of the colours among presentation attributes."""
    found = [
        f"{paint}-{_NAMES[attributes[paint]]}"
        for paint in ("fill", "stroke")
        if attributes.get(paint) in _NAMES
    ]
    return attributes | ({"class": " ".join(found)} if found else {})


def _restyle(element: Element) -> None:
    style = element.attrib.pop("style", "")
    pairs = (part.partition(":") for part in style.split(";") if part.strip())
    told = {name.strip(): value.strip() for name, _, value in pairs}
    element.attrib |= coloured(told)


def _rename(root: Element, prefix: str) -> None:
    """Number the names that something refers to, and drop the others."""
    used: dict[str, str] = {}
    for element in root.iter():
        for name, value in element.attrib.items():
            old = value[1:] if name == "href" else (_REFERENCE.findall(value) or [""])[0]
            if old:
                new = used.setdefault(old, f"{prefix}-{len(used)}")
                element.attrib[name] = value.replace(old, new)
    for element in root.iter():
        old = element.attrib.pop("id", "")
        if old in used:
            element.attrib["id"] = used[old]
        elif old.startswith(POINT):
            element.attrib["class"] = old


def _rounded(number: re.Match[str]) -> str:
    """Write a place in tenths of a pixel, as fine as any screen shows."""
    return f"{float(number[0]):.1f}".removesuffix(".0")


def _local(name: str) -> str:
    return name.rpartition("}")[2]
