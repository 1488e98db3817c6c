"""The papers of what tables show, read from the files of plugins without importing them."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from harness import plugins
from harness.errors import UserError
from harness.plugins.titles import names, stated
from results.analysis.table import Table
from results.record import Run
from results.reports.bibtex import OTHERS, Reference

HARNESS = Reference(
    of="the harness",
    title="peft-proving-ground",
    authors=("The peft-proving-ground authors",),
    year="2026",
    version="0.1.0",
)
"""As CITATION.cff has it, which is not installed."""

HUB = "https://huggingface.co"

_NAME = r"[^\W\d_][\w'-]+"
_END = r"(?:, (?:sections?|arXiv|algorithm) |; |\. |\.?$)"
_NAMED = re.compile(
    rf"(?P<first>{_NAME})(?: and (?P<second>{_NAME})|(?P<others> et al\.))?, "
    rf"(?P<venue>\w+ )?(?P<year>\d{{4}})\. (?P<title>.+?){_END}"
)
"""Hu et al., 2021. LoRA: Low-Rank Adaptation of Large Language Models, section 4.1."""
_UNNAMED = re.compile(
    r"(?P<title>[A-Z][\w-]+:? [^.]+?), "
    rf"(?P<venue>(?:submitted to )?[A-Z]\w+ )(?P<year>\d{{4}}){_END}"
)
"""RoSA: Enhancing Parameter-Efficient Fine-Tuning, AAAI 2026, arXiv 2511.21733."""


def references(tables: Iterable[Table], runs: Iterable[Run]) -> list[Reference]:
    """Give the papers of the methods and benchmarks of some tables, the backbones, the harness.

    Args:
        tables: Their rows and columns.
        runs: Their backbones are named if they are of the hub.
    """
    known = [
        reference(kind, name)
        for kind, name in dict.fromkeys(names(tables))
        if kind != "groups" and name in plugins.names(kind)
    ]
    return [*known, *dict.fromkeys(_backbones(runs)), HARNESS]


def reference(kind: plugins.Kind, name: str) -> Reference:
    """Read the paper of a plugin from its docstring; without a title where it names none.

    A paragraph of the docstring begins with it: who, when, and the title.
    """
    url = stated(kind, name, "paper") or ""
    with suppress(UserError):  # a guest whose file is gone or damaged
        for paragraph in plugins.docstring(kind, name).split("\n\n"):
            text = " ".join(paragraph.split())
            if found := _NAMED.match(text) or _UNNAMED.match(text):
                return _reference(name, found.groupdict(), url)
    return Reference(name, url=url)


def _reference(name: str, found: dict[str, str | None], url: str) -> Reference:
    authors = (found.get("first"), found.get("second"), found.get("others") and OTHERS)
    venue, year = found["venue"] or "", found["year"] or ""
    return Reference(
        of=name,
        title=found["title"] or "",
        authors=tuple(filter(None, authors)),
        year=year,
        note=venue and f"{venue}{year}",
        url=url,
    )


def _backbones(runs: Iterable[Run]) -> Iterator[Reference]:
    for run in runs:
        found = run.spec.get("backbone", {})
        name, revision = str(found.get("name", "")), str(found.get("revision", ""))
        if name and revision and not revision.startswith("sha256:"):  # which is that of a folder
            yield Reference(name, name, url=f"{HUB}/{name}/tree/{revision}")
