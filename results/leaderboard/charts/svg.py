"""A picture as SVG, drawn once: what was drawn before is looked up by its content."""

from dataclasses import asdict
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from json import dumps
from pathlib import Path
from xml.sax.saxutils import escape

from results.kept import Shelf, kept
from results.leaderboard.charts.picture import Picture, shown

DRAWN = Shelf("charts", (Path(__file__).parent,))

LONGEST = 500
"""Characters of a description."""


def svg(picture: Picture, title: str, description: str) -> str:
    """Write a picture as SVG that stands in a page, and alone as a file.

    Args:
        picture: What is drawn.
        title: What it is of, for whoever does not see it.
        description: What it shows, in a sentence.
    """
    told = asdict(picture)
    body = kept([_matplotlib(), told], lambda: _drawn(picture, dumps(told)), DRAWN)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" role="img" '
        f'width="{picture.width}" height="{picture.height}" '
        f'viewBox="0 0 {picture.width} {picture.height}" '
        f'stroke-linejoin="round" stroke-linecap="butt">'
        f"<title>{escape(shown(title, LONGEST))}</title>"
        f"<desc>{escape(shown(description, LONGEST))}</desc>{body}</svg>"
    )


@cache
def _matplotlib() -> str:
    return version("matplotlib")


def _drawn(picture: Picture, told: str) -> str:
    from results.leaderboard.charts.draw import draw  # noqa: PLC0415 (matplotlib takes a second)

    return draw(picture, f"c{sha256(told.encode()).hexdigest()[:10]}")
