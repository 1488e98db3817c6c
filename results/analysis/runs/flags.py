"""The flags of many runs in one line for each kind, with range and count."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from results.analysis.table import Table

_NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])")
_ANSWER = re.compile(r": .+ \((\d+ %)\)$")
MOST_NAMES = 3

RunKey = tuple[str, str]


@dataclass(frozen=True)
class _Flag:
    """One flag of one run; `kind` is its text without the numbers, cut where they stood."""

    run: RunKey
    method: str
    benchmark: tuple[str, str] | None
    """Group and name; None for a flag of the training."""
    kind: tuple[str, ...]
    numbers: tuple[float, ...]


def summed_up(tables: Sequence[Table], titled: Callable[[str], str] = str) -> tuple[str, ...]:
    """Sum up the flags of all runs of some tables, a run that is in several of them once.

    A line looks like "cut at the limit: 60 to 100 % on 7 of 7 sets, in 8 of 8 runs". It names
    sets and methods where they are few and not all, as `titled` writes them.
    """
    sets, runs, methods = _sets(tables), _runs(tables), set[str]()
    flags: dict[tuple[str, ...], list[_Flag]] = {}
    for key, (group, label, texts) in runs.items():
        methods.add(label)
        for text in texts:
            flag = _flag(key, group, label, text, sets)
            flags.setdefault(flag.kind, []).append(flag)
    return tuple(
        f"{_ranges(found)}{_on(found, sets, titled)}, "
        f"in {_of({flag.run for flag in found}, runs)} runs"
        f"{_names([flag.method for flag in found], methods, titled)}"
        for found in flags.values()
    )


def _sets(tables: Sequence[Table]) -> set[tuple[str, str]]:
    return {(table.conditions.group, name) for table in tables for name in table.benchmarks}


def _runs(tables: Sequence[Table]) -> dict[RunKey, tuple[str, str, Sequence[str]]]:
    """Give group, label and flags of each run; two environments may have runs of one id."""
    return {
        (table.conditions.environment_id, run_id): (table.conditions.group, row.label, flags)
        for table in tables
        for block in table.blocks
        for row in block.rows
        for run_id, flags in row.flags.items()
    }


def _flag(
    run: RunKey, group: str, label: str, text: str, sets: Collection[tuple[str, str]]
) -> _Flag:
    name, _, rest = text.partition(": ")
    benchmark = (group, name) if (group, name) in sets else None
    # Which answer is always given is no kind of its own.
    what = _ANSWER.sub(r": \1", rest if benchmark else text)
    numbers = tuple(map(float, _NUMBER.findall(what)))
    return _Flag(run, label, benchmark, tuple(_NUMBER.split(what)), numbers)


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


def _names(having: Iterable[str], everything: Collection[str], titled: Callable[[str], str]) -> str:
    """Name them in brackets if they are few and not all."""
    names = sorted(set(having))
    few = len(names) <= MOST_NAMES and len(names) < len(set(everything))
    return f" ({', '.join(map(titled, names))})" if few else ""
