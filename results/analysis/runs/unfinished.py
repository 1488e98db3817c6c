"""Runs that were begun and never finished, and the tables in which they are missing."""

from collections.abc import Iterable, Sequence

from results.analysis.runs.recipes import is_trained
from results.record import Run


def setting_of(run: Run) -> tuple[str, str, str, bool]:
    """Give what runs must agree in to be compared, but for the recipe."""
    return run.group, run.setting, run.environment_id, run.fold is None


def never_finished(newest_first: Sequence[Run]) -> list[Run]:
    """List the newest attempt at each run of which no attempt finished."""
    done = {run.run_id for run in newest_first if run.status == "finished"}
    newest: dict[str, Run] = {}
    for run in newest_first:
        newest.setdefault(run.run_id, run)
    return [run for run_id, run in newest.items() if run_id not in done]


def beside(finished: Sequence[Run], failed: Iterable[Run], own_recipes: bool) -> list[Run]:
    """List the failed runs that were to be compared with finished ones.

    One that ended before its environment was known was to be in any.
    """
    group, setting, environment, without_folds = setting_of(finished[0])
    recipes = {run.recipe for run in finished if is_trained(run)}
    return [
        run
        for run in failed
        if setting_of(run) in ((group, setting, name, without_folds) for name in (environment, ""))
        and (own_recipes or not recipes or not is_trained(run) or run.recipe in recipes)
    ]
