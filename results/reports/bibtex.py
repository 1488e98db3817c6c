"""Works as entries of a bibliography: what is known of them, and nothing made up."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from results import names
from results.reports.formats.latex.text import escaped
from results.reports.sheets.sheet import labels
from results.texts import visible

OTHERS = "others"
"""The last author, where more are not named."""

_ARXIV = re.compile(r"https?://arxiv\.org/abs/(\d{4}\.\d{4,5})")
_URL = re.compile(r"https?://[\w./:~?=&+#-]+")
_FILLERS = ("a", "an", "the", "on", "are", "can")
"""What a title may begin with that tells it from no other."""


@dataclass(frozen=True)
class Reference:
    """A work, as far as it is known; empty where it is not."""

    of: str
    """What it is about: a method, a benchmark, a backbone."""
    title: str = ""
    authors: tuple[str, ...] = ()
    """Surnames, or the name of a body; the last may be `OTHERS`."""
    year: str = ""
    note: str = ""
    version: str = ""
    url: str = ""


def bibtex(references: Iterable[Reference]) -> str:
    """Write an entry for each work, and a comment of each whose title is not known.

    Benchmarks of one paper share its entry.
    """
    works: dict[Reference, list[str]] = {}
    for one in references:
        works.setdefault(replace(one, of="" if one.title else one.of), []).append(one.of)
    keys = labels(_key(work, about[0]) for work, about in works.items())
    entries = (
        "\n".join(_entry(work, key, about) if work.title else _comment(work))
        for (work, about), key in zip(works.items(), keys, strict=True)
    )
    return "\n\n".join(entries)


def _entry(work: Reference, key: str, about: Iterable[str]) -> Iterator[str]:
    arxiv = _ARXIV.match(work.url)
    fields = {
        "author": " and ".join(f"{{{_value(a)}}}" if " " in a else _value(a) for a in work.authors),
        # Braces around it keep its capitals.
        "title": f"{{{_value(work.title)}}}",
        "year": _value(work.year),
        "version": _value(work.version),
        "eprint": arxiv[1] if arxiv else "",
        "archivePrefix": "arXiv" if arxiv else "",
        "note": _value(work.note),
        "url": work.url if _URL.fullmatch(work.url) else "",
    }
    yield f"% {_outside(', '.join(about))}"
    yield f"@misc{{{key},"
    yield from (f"  {name} = {{{value}}}," for name, value in fields.items() if value)
    yield "}"


def _comment(work: Reference) -> Iterator[str]:
    where = f": see {work.url}" if _URL.fullmatch(work.url) else " here"
    yield f"% {_outside(work.of)}: its paper has no title{where}"


def _key(work: Reference, about: str) -> str:
    """Make a key as reference managers do: hu2021lora."""
    words = (names.bare(word) for word in work.title.split())
    telling = next((word for word in words if word and word not in _FILLERS), "")
    known = work.authors and " " not in work.authors[0]
    return names.bare(work.authors[0]) + work.year + telling if known else names.bare(about)


def _value(text: str) -> str:
    r"""Write a text between the braces of an entry, which BibTeX counts even behind a backslash.

    >>> print(_value("50 % of {x"))
    50 \% of \textbraceleft{}x
    """
    plain = escaped(text)
    return plain.replace(r"\{", r"\textbraceleft{}").replace(r"\}", r"\textbraceright{}")


def _outside(text: str) -> str:
    """Write a text outside of entries, where an "@" begins one."""
    return " ".join(visible(text).split()).replace("@", " at ")
