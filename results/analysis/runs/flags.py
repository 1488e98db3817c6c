"""The flags of many runs in one line for each kind, with range and count."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from results.analysis.table import Table

_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])")
_ANSWER = re.compile(r": .+ \((\d+ %)\)$")
MOST_NAMES = 3

RunKey = tuple[str, str]


@dataclass(frozen=True)
class _Run:
    """A run with its flags, and where it stands."""

    group: str
    method: str
    backbone: str
    tables: tuple[str, ...]
    flags: Sequence[str]


@dataclass(frozen=True)
class _Flag:
    """One flag of one run; `kind` is its text without the numbers, cut where they stood."""

    run: RunKey
    benchmark: tuple[str, str] | None
    """Group and name; None for a flag of the training."""
    kind: tuple[str, ...]
    numbers: tuple[float, ...]


def summed_up(tables: Sequence[Table], titled: Callable[[str], str] = str) -> tuple[str, ...]:
    """Sum up the flags of all runs of some tables, a run that is in several of them once.

    A line looks like "cut at the limit: 60 to 100 % on 7 of 7 sets, in 8 of 8 runs". It names
    sets, methods, backbones and tables where they are few and not all, as `titled` writes them.
    """
    sets, runs = _sets(tables), _runs(tables)
    flags: dict[tuple[str, ...], list[_Flag]] = {}
    for key, run in runs.items():
        for text in run.flags:
            flag = _flag(key, run.group, text, sets)
            flags.setdefault(flag.kind, []).append(flag)
    return tuple(
        f"{_ranges(found)}{_on(found, sets, titled)}, "
        f"in {_of({flag.run for flag in found}, runs)} runs"
        f"{_where([runs[flag.run] for flag in found], [*runs.values()], titled)}"
        for found in flags.values()
    )


def _sets(tables: Sequence[Table]) -> set[tuple[str, str]]:
    return {(table.conditions.group, name) for table in tables for name in table.benchmarks}


def _runs(tables: Sequence[Table]) -> dict[RunKey, _Run]:
    """Find all runs; two environments may have runs of one id."""
    found: dict[RunKey, _Run] = {}
    for number, table in enumerate(tables, 1):
        name = f"table {number}: {table.conditions.group}"
        for block in table.blocks:
            for row in block.rows:
                for run_id, flags in row.flags.items():
                    key = (table.conditions.environment_id, run_id)
                    run = _Run(table.conditions.group, row.label, block.backbone, (), flags)
                    before = found.get(key, run).tables
                    found[key] = replace(run, tables=(*before, name))
    return found


def _flag(run: RunKey, group: str, text: str, sets: Collection[tuple[str, str]]) -> _Flag:
    name, _, rest = text.partition(": ")
    benchmark = (group, name) if (group, name) in sets else None
    # Which answer is always given is no kind of its own.
    what = _ANSWER.sub(r": \1", rest if benchmark else text)
    numbers = tuple(map(float, _NUMBER.findall(what)))
    return _Flag(run, benchmark, tuple(_NUMBER.split(what)), numbers)


def _ranges(found: Sequence[_Flag]) -> str:
    """Write the kind of flags of one kind with the range of each of its numbers."""
    ranges = map(_range, zip(*(flag.numbers for flag in found), strict=True))
    first, *rest = found[0].kind
    more = (f"{numbers}{text}" for numbers, text in zip(ranges, rest, strict=True))
    return "".join([first, *more]).rstrip(".")


def _range(numbers: Iterable[float]) -> str:
    first, *more = (f"{number:,.10g}" for number in sorted(set(numbers)))
    return f"{first} to {more[-1]}" if more else first


def _on(
    found: Sequence[_Flag], sets: Collection[tuple[str, str]], titled: Callable[[str], str]
) -> str:
    having = {flag.benchmark: flag.benchmark[1] for flag in found if flag.benchmark}
    if not having:
        return ""
    named = _names(having.values(), [name for _, name in sets], titled)
    return f" on {_of(having, sets)} sets{named}"


def _of(some: Collection[object], everything: Collection[object]) -> str:
    return f"{len(some)} of {len(everything)}"


def _where(having: Sequence[_Run], runs: Sequence[_Run], titled: Callable[[str], str]) -> str:
    """Name in brackets the methods, the backbones and the tables that have a flag."""
    parts = (
        _few([one.method for one in having], [one.method for one in runs], titled),
        _few([one.backbone for one in having], [one.backbone for one in runs], str, "on "),
        _few(chain(*(one.tables for one in having)), [*chain(*(one.tables for one in runs))]),
    )
    named = "; ".join(filter(None, parts))
    return f" ({named})" if named else ""


def _names(having: Iterable[str], everything: Collection[str], titled: Callable[[str], str]) -> str:
    """Name them in brackets if they are few and not all."""
    named = _few(having, everything, titled)
    return f" ({named})" if named else ""


def _few(
    having: Iterable[str],
    everything: Collection[str],
    titled: Callable[[str], str] = str,
    before: str = "",
) -> str:
    names = sorted(set(having))
    few = len(names) <= MOST_NAMES and len(names) < len(set(everything))
    return before + ", ".join(map(titled, names)) if few else ""
