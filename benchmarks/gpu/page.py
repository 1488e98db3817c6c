"""The figures as a page: which card, which versions, on which day, and a table a part."""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.gpu.kept import Kept
from benchmarks.gpu.part import Part
from results.reports.markdown_table import markdown_table

NEVER = (
    "It has not been run yet: the GPU path is checked by reading, and by bfloat16 on a CPU only."
)


def page(parts: Mapping[str, Part], kept: Mapping[str, Kept]) -> str:
    """Write the page of what is kept of each part."""
    begun = [name for name in parts if kept[name].dates]
    blocks = ["# On a GPU", "`make gpu` writes this page.", _machines(kept, begun) or NEVER]
    blocks.append(_overview(parts, kept))
    for name in begun:
        blocks += [f"## {parts[name].title}", parts[name].about, _table(parts[name], kept[name])]
    return "\n\n".join(blocks) + "\n"


def state(kept: Kept) -> str:
    """Say in a few words how far a part is, and how it came out."""
    if not kept.expected:
        return "not run"
    done = len(kept.expected) - len(kept.missing)
    faults = f", {len(kept.faults)} not as expected" if kept.faults else ""
    return f"{done} of {len(kept.expected)} done{faults}"


def _machines(kept: Mapping[str, Kept], begun: list[str]) -> str:
    """Say what the figures come from, once for all parts that agree in it."""
    parts_of: dict[str, list[str]] = {}
    for name in begun:
        said = ", ".join(f"{what} {which}" for what, which in kept[name].machine.items())
        parts_of.setdefault(said, []).append(f"`{name}`")
    return "\n".join(f"- {', '.join(names)}: {said}." for said, names in parts_of.items())


def _overview(parts: Mapping[str, Part], kept: Mapping[str, Kept]) -> str:
    rows = [
        [f"`{name}`", part.title, " to ".join(_ends(kept[name].dates)), state(kept[name])]
        for name, part in parts.items()
    ]
    return markdown_table(["part", "what", "date", "state"], rows, align="llll")


def _ends(dates: list[str]) -> Iterator[str]:
    yield from dict.fromkeys([*dates[:1], *dates[-1:]])


def _table(part: Part, kept: Kept) -> str:
    rows = [
        [*(_cell(row.get(name), form) for name, form in part.columns.items()), row["outcome"]]
        for row in kept.rows
    ]
    align = "".join("r" if form else "l" for form in part.columns.values()) + "l"
    return markdown_table([*part.columns, "outcome"], rows, align=align)


def _cell(value: Any, form: str) -> str:
    return "" if value is None else format(value, form)
