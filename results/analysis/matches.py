"""Which two series of runs a comparison is of: methods, and with them backbones or protocols."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from results.analysis.runs import backbones
from results.analysis.runs.recipes import is_trained, recipe
from results.analysis.runs.selection import OWN, is_of, require_finished
from results.analysis.runs.sources import versioned
from results.analysis.series import Comparable, Series, comparables
from results.errors import ResultsError, unknown
from results.record import Run

FREE = ("method", "backbone", "seeds", "fold", "train", "protocol")
"""The parts of a spec in which two compared runs may differ, if a protocol is named for each."""


@dataclass(frozen=True)
class Across:
    """In what the first and the second may differ besides the method; by name, one for each."""

    backbones: tuple[str, str] | None = None
    protocols: tuple[str, str] | None = None
    environments: bool = False
    """Whether runs of different environments are compared."""


NOTHING = Across()


def matches(
    runs: Sequence[Run], methods: tuple[str, str], own_recipes: bool, across: Across
) -> list[Comparable]:
    """Find all pairs of series that may be compared, each as one block with two rows.

    With `own_recipes`, every recipe of the first is paired with every recipe of the second.

    Raises:
        ResultsError: A method has no finished run, a side has none, both are the same, or the two
            have no finished runs that may be compared.
    """
    require_finished(runs, *methods)
    first, second = (_of_side(runs, methods[place], place, across) for place in (0, 1))
    if {run.run_id for run in first} & {run.run_id for run in second}:
        raise ResultsError(
            f"{methods[0]!r} cannot be compared with itself. Please name two methods, two "
            "--backbones or two --protocols."
        )
    own = own_recipes or any(OWN in name for name in methods)
    pairs = product(_by_recipe(first), _by_recipe(second)) if own else [(first, second)]
    find = _across_protocols if across.protocols else _within
    found = [one for pair in pairs for one in find(*pair, own, bool(across.backbones))]
    if not found:
        raise ResultsError(_nothing(methods, first, second, across, own))
    return found


def _of_side(runs: Sequence[Run], method: str, place: int, across: Across) -> list[Run]:
    found = [run for run in runs if is_of(run, method)]
    if across.backbones:
        called = backbones.names(runs)
        found = _named(
            "backbone",
            across.backbones[place],
            {run.run_id: {run.backbone, called[run.backbone_identity]} for run in found},
            found,
        )
    if across.protocols:
        names = {run.run_id: {run.protocol, _bare(run.protocol)} for run in found}
        found = _named("protocol", across.protocols[place], names, found)
    return found


def _named(kind: str, name: str, names: Mapping[str, set[str]], runs: Iterable[Run]) -> list[Run]:
    kept = [run for run in runs if name in names[run.run_id]]
    if not kept:
        known = set().union(*names.values())
        raise ResultsError(unknown(f"{kind} with stored runs of the method", name, known))
    return kept


def _bare(protocol: str) -> str:
    """Name a protocol without its version.

    >>> _bare("paper/2[loss=answer]")
    'paper[loss=answer]'
    """
    name, _, rest = protocol.partition("/")
    return name + rest.lstrip("0123456789")


def _by_recipe(runs: Sequence[Run]) -> list[list[Run]]:
    recipes = dict.fromkeys(map(recipe, runs))
    return [[run for run in runs if recipe(run) == one] for one in recipes]


def _within(
    of_first: Sequence[Run], of_second: Sequence[Run], own: bool, apart: bool
) -> Iterator[Comparable]:
    """Pair series of one setting, on the same backbone or on the two that were named."""
    ids = [{run.run_id for run in runs} for runs in (of_first, of_second)]
    for one in versioned(comparables([*of_first, *of_second], own)):
        firsts, seconds = (_finished(one, own_ids) for own_ids in ids)
        for (place, first), (other, second) in product(firsts.items(), seconds.items()):
            if (place != other) == apart:
                yield _paired(one, (place, first), (other, second))


def _across_protocols(
    of_first: Sequence[Run], of_second: Sequence[Run], own: bool, apart: bool
) -> Iterator[Comparable]:
    """Pair series of two settings that differ in nothing but the protocol."""
    ids = [{run.run_id for run in runs} for runs in (of_first, of_second)]
    sets = (versioned(comparables(runs, own)) for runs in (of_first, of_second))
    for one, another in product(*sets):
        if one.folds != another.folds or _differing(one, another, own):
            continue
        both = replace(
            one,
            runs=(*one.runs, *another.runs),
            conditions=replace(
                one.conditions,
                protocol=f"{one.conditions.protocol} against {another.conditions.protocol}",
            ),
        )
        firsts, seconds = _finished(one, ids[0]), _finished(another, ids[1])
        for (place, first), (other, second) in product(firsts.items(), seconds.items()):
            if (place != other) == apart:
                yield _paired(both, (place, first), (other, second))


def _finished(one: Comparable, ids: set[str]) -> dict[str, Series]:
    """Give the series of some runs by backbone."""
    return {
        name: series
        for name, family in one.backbones.items()
        for series in family
        if any(run.run_id in ids for run in series.runs)
    }


def _paired(one: Comparable, first: tuple[str, Series], second: tuple[str, Series]) -> Comparable:
    """Put two series into one block; their labels say where they differ."""
    (place, a), (other, b) = first, second
    if place != other:
        a, b = (replace(s, label=f"{s.label} on {where}") for where, s in (first, second))
    elif a.label == b.label:
        a, b = (replace(s, label=f"{s.label}, {s.newest.protocol}") for s in (a, b))
    return replace(one, backbones={place if place == other else "": (a, b)})


def _differing(one: Comparable, another: Comparable, own: bool) -> list[str]:
    """Name what two sets of runs differ in and must not."""
    a, b = one.runs[0], another.runs[0]
    parts = [part for part in {**a.spec, **b.spec} if part not in FREE]
    found = [part for part in parts if _bared(a.spec.get(part)) != _bared(b.spec.get(part))]
    found += ["group"] * (a.group != b.group)
    found += ["environment"] * (a.environment_id != b.environment_id)
    trained = is_trained(a) and is_trained(b)
    return found + ["recipe"] * (trained and not own and a.recipe != b.recipe)


def _bared(part: Any) -> Any:
    """Leave out the titles of data, which are names and change no number."""
    if not isinstance(part, Mapping):
        return part
    return {key: _bared(value) for key, value in part.items() if key != "title"}


def _nothing(
    methods: tuple[str, str],
    first: Sequence[Run],
    second: Sequence[Run],
    across: Across,
    own: bool,
) -> str:
    """Say that nothing may be compared; of two protocols, in what else the newest runs differ."""
    text = "{!r} and {!r} have no finished runs ".format(*methods)
    text += "" if across.backbones else "on the same backbone "
    text += "with the same settings and environment."
    if not {run.environment_id for run in first} & {run.environment_id for run in second}:
        text += "\n  --pool-eras compares runs of different environments."
    if across.protocols:
        sets = comparables(first, own), comparables(second, own)
        found = _differing(sets[0][0], sets[1][0], own) if all(sets) else []
        text += f"\n  Besides the protocol they differ in: {', '.join(found)}." if found else ""
    return f"{text}\n  `harness history` lists all runs."
