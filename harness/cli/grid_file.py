"""`harness run grid.toml`: options from a file, over which command line and environment win."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.printed import say

if TYPE_CHECKING:
    from harness.planning.grid_file import Origin

ASKED = {"help", "dry-run"}
"""Options that say what to do with a grid, not what it is."""


@dataclass(frozen=True)
class Taken:
    """What a file holds.

    Attributes:
        origin: Where its words stand.
        keys: Its keys, by the names that the options have in Python.
        assignments: The fields of its table `set`.
    """

    origin: "Origin"
    keys: dict[str, str]
    assignments: list[str]


def take(context: typer.Context, path: Path | None) -> Path | None:
    """Read the file, and have its values stand in for options that are not given."""
    if path is None:
        return None
    from harness.errors import UserError, unknown
    from harness.planning.grid_file import SET, Origin, assignments, load, written

    values, text = load(path)
    origin = Origin(str(path), text, frozenset(values))
    options = {one.opts[0].removeprefix("--"): one for one in context.command.params}
    known = sorted(options.keys() - ASKED - {"grid"})
    found, keys, faults = {}, {}, []
    for key, value in values.items():
        if key.startswith(f"{SET}."):
            continue
        if key not in known or key == SET:
            words = unknown("key", key, known) if key != SET else "expected a table, as [set]."
            faults.append(origin.told(key) + words)
            continue
        option, typed = options[key], written(key, value)
        if isinstance(value, bool) and not getattr(option, "is_flag", False):
            faults.append(origin.told(key) + f"expected a value, not {json.dumps(value)}.")
            continue
        try:
            option.process_value(context, typed)
        except typer.BadParameter as error:
            faults.append(origin.told(key) + error.message)
            continue
        name = str(option.name)
        found[name], keys[name] = typed, key
    if faults and not {"methods", "tasks"} <= found.keys():
        raise UserError("\n".join(faults))
    context.default_map = found
    context.obj = Taken(replace(origin, faults=tuple(faults)), keys, assignments(values))
    return path


GridFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="GRID.toml",
        is_eager=True,
        callback=take,
        show_default=False,
        help="A file with these options as keys, those that are required too, such as "
        "`seeds = 5`, and --set as a table. What is typed wins over it, and so does the "
        "environment, such as HARNESS_DATA.",
    ),
]


def taken(context: typer.Context, typed: Sequence[str]) -> tuple[Any, list[str]]:
    """Say where the words of a request stand, and put typed assignments behind those of the file.

    Returns:
        The `Origin` of the request, and its settings.
    """
    from harness.planning.grid_file import SET, Origin

    found: Taken | None = context.obj
    if found is None:
        return Origin(), [*typed]
    fields = {f"{SET}.{one.partition('=')[0].strip()}" for one in typed}
    _tell_of_environment(context, found)
    kept = {key for name, key in found.keys.items() if _source(context, name) == "DEFAULT_MAP"}
    kept |= {key for key in found.origin.keys if key.startswith(f"{SET}.")} - fields
    origin = replace(found.origin, keys=frozenset(kept))
    return origin, [*found.assignments, *typed]


def _tell_of_environment(context: typer.Context, found: Taken) -> None:
    """Say which keys of the file count for nothing: a variable that is set is easily forgotten."""
    for option in context.command.params:
        name = str(option.name)
        if name in found.keys and _source(context, name) == "ENVIRONMENT":
            place = found.origin.told(found.keys[name])
            say(f"note: {place}{option.envvar} is set, and wins.", err=True)


def _source(context: typer.Context, name: str) -> str:
    source = context.get_parameter_source(name)
    return source.name if source else ""
