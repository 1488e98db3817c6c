"""The one renderer: values to HTML. Every text is escaped, and no page asks another host."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import bidirectional, category

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from results.leaderboard.html.links import Links
from results.leaderboard.values.attempts.marked import parted
from results.leaderboard.view import Versus, View, spelled

HERE = Path(__file__).parent
STATIC = HERE / "static"
ASSETS = ("style.css", "icon.svg", "page.js", "take.js", "items.js", "item_pairs.js")
"""What the pages of both outlets load."""

TURNING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
"""What Unicode calls the characters that turn the direction of a text."""

WIDEST = 60
"""Characters of a name in a table."""

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'"
)
"""No inline script or style, and nothing from another host."""

SERVED = f"{POLICY}; connect-src 'self'"
"""The same where a server answers: a page that is kept up to date asks it again."""


def page(name: str, links: Links, **values: Any) -> str:
    """Render the template `name` with the links of an outlet."""
    template = _environment().get_template(f"{name}.html")
    policy = SERVED if links.served else POLICY
    return template.render(links=links, policy=policy, **values)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=readable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(changed=replace, titled=titled, versus_of=Versus, view_of=View)
    made.filters.update(p=written_p, pad=padding, cut=cut, parted=parted, spelled=spelled)
    return made


def titled(names: Iterable[str], titles: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pair names with what papers call them, where that is known."""
    return [(name, titles.get(name, name)) for name in names]


def readable(value: Any) -> Any:
    r"""Write control characters of a text as escapes: HTML has none; any other stays as it is.

    So are those that turn the direction of what follows, which could be text of the page.

    >>> readable("a\x00b\n\u4e2d\u3000"), readable("\u202egpj"), readable(3)
    ('a\\x00b\n\u4e2d\u3000', '\\u202egpj', 3)
    """
    if type(value) is not str or value.isprintable():
        return value
    return "".join(one.encode("unicode_escape").decode() if _escaped(one) else one for one in value)


def _escaped(one: str) -> bool:
    control = category(one) in ("Cc", "Cs") and one not in "\n\t"
    return control or bidirectional(one) in TURNING


def cut(text: str, most: int = WIDEST) -> str:
    """Shorten a text that would break the layout; the whole stands elsewhere on the page.

    >>> cut("DyPAM"), len(cut("a" * 1_000_000))
    ('DyPAM', 60)
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def written_p(p: float) -> str:
    """Write a p-value with two digits.

    >>> written_p(0.0312), written_p(0.00001), written_p(1.0)
    ('0.031', '< 0.0001', '1')
    """
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"  # noqa: PLR2004 (no table needs less)


def padding(text: str, texts: Iterable[str]) -> str:
    """Give what a number lacks behind its point, so that it stands below the others.

    >>> padding("0.5", ["0.5", "0.0491", "-"]), padding("0", ["0", "1.25"])
    ('000', '.00')
    """
    behind = {one: len(one.partition(".")[2]) + ("." in one) for one in (text, *texts)}
    missing = max(behind.values()) - behind[text]
    return "." * ("." not in text and missing > 0) + "0" * (missing - ("." not in text))
