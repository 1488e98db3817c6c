"""`harness merge`: the runs of another store."""

from collections.abc import Sequence

from harness.commands.report import Report, counted
from harness.errors import UserError
from results.record import Run
from results.store import Reader, Store, database

AT_ONCE = 500
"""Attempts that are read at a time."""


def merge(store_place: str, other: str) -> Report:
    """Add the attempts of another store, which is only read.

    A run that both stores have has to have the same result; if not, it is named and left out. So
    is another attempt at a run that was forgotten here. Tags, notes and why an attempt was
    forgotten are added to those that are there.

    Raises:
        UserError: It is the same store.
        ResultsError: There is no such store, or it is of another version.
    """
    name = database.name(store_place)
    if _is_same(store_place, other):
        raise UserError(f"{other} is the store itself. Name another one.")
    theirs, mine = Reader(other), Store(store_place)
    added, known, lines, first = 0, 0, [], 0
    while part := theirs.page(first, AT_ONCE, forgotten=None):
        first += len(part)
        for run in part:
            stored = mine.runs(prefix=run.run_id, forgotten=None)
            if why := conflict(run, stored):
                lines.append(f"{run.run_id}: not merged: {why}")
            elif _is_known(run, stored):
                mine.keep_remarks(run)
                known += 1
            else:
                judged = theirs.verdicts([run]).get(run.run_id, {})
                mine.add(run, list(judged.values()))
                added += 1
    attempts = counted(added, "attempt", "attempts")
    text = f"{attempts} of {database.name(other)} added to {name}, {known} there already."
    value = {"added": added, "known": known, "conflicts": lines}
    return Report("\n".join([*lines, text]), value, not lines)


def conflict(run: Run, known: Sequence[Run]) -> str | None:
    """Say what contradicts an attempt: the same run ended in another way, or with other scores.

    What is forgotten counts nowhere and contradicts nothing, unless it is all there is of the run.
    """
    if run.forgotten or any(one.forgotten and one.started == run.started for one in known):
        return None
    counting = [one for one in known if not one.forgotten]
    if known and not counting:
        return f"it was forgotten here: {known[0].forgotten}"
    for other in counting:
        if not (run.ended and other.ended):
            continue
        when = f"{other.started:%Y-%m-%d %H:%M:%S}, in {other.folder}"
        if run.status != other.status:
            return f"it {run.status}, and {other.status} on {when}."
        if different := _different(run, other):
            return f"its {different} is another one than that of {when}."
    return None


def _different(run: Run, other: Run) -> str | None:
    """Name the first score that two runs do not share."""
    first, second = (
        {(s.benchmark, s.metric, s.read_by): s.value for s in one.scores} for one in (run, other)
    )
    names = (key for key in first | second if first.get(key) != second.get(key))
    return next((" ".join(filter(None, key)) for key in names), None)


def _is_known(run: Run, stored: Sequence[Run]) -> bool:
    """Whether an attempt is stored, or its run has ended in the same way in another attempt."""
    return any(one.started == run.started or (_counts(one) and _counts(run)) for one in stored)


def _counts(run: Run) -> bool:
    return run.ended and not run.forgotten


def _is_same(place: str, other: str) -> bool:
    first, second = database.path(place), database.path(other)
    return place == other if first is None or second is None else first == second
