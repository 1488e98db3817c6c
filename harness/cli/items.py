"""Commands that look at the answers of one run: read them, or make them again."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.printed import say


def items(
    run: options.RunName,
    benchmark: Annotated[str | None, typer.Argument(help="Only this benchmark.")] = None,
    wrong: Annotated[bool, typer.Option("--wrong", help="Only wrong answers.")] = False,
    right: Annotated[bool, typer.Option("--right", help="Only right answers.")] = False,
    unparsed: Annotated[
        bool, typer.Option("--unparsed", help="Only those in which no answer was found.")
    ] = False,
    cut: Annotated[bool, typer.Option("--cut", help="Only those cut at the limit.")] = False,
    against: Annotated[
        str | None, typer.Option(help="Another run: only items whose verdicts differ.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Items on a page: 20; in other forms, all.")
    ] = None,
    page: Annotated[int, typer.Option(min=1, help="Which page.")] = 1,
    as_json: options.AsJson = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Print one JSON object a line.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    store: options.StorePlace = "harness.db",
) -> None:
    """Show the items of a run: prompt, gold answer, answer, what was found, verdict.

    Several of --wrong, --right, --unparsed and --cut show the items of which all hold.
    """
    from harness.commands.one_run import items as command
    from results.analysis.items import Kind
    from results.reports.one_run import items as report

    asked: dict[Kind, bool] = {"wrong": wrong, "right": right, "unparsed": unparsed, "cut": cut}
    kinds = [kind for kind, wanted in asked.items() if wanted]
    found = command.items(store, run, benchmark, kinds, against)
    size = limit or (len(found.items) or 1 if as_json or jsonl or csv else report.PAGE)
    first = (page - 1) * size
    part = found.items[first : first + size]
    for note in found.notes:
        say(f"note: {note}", err=True)
    if as_json:
        say(report.json(part, indent=2))
    elif jsonl or csv:
        say(report.json_lines(part) if jsonl else report.comma_separated(part))
    else:
        say(report.pages(found.items, first, size))


def rerun(
    run: options.RunName,
    keep: Annotated[
        Path | None,
        typer.Option(help="Keep the new run folder below this folder; else it is removed."),
    ] = None,
    store: options.StorePlace = "harness.db",
    as_json: options.AsJson = False,
) -> None:
    """Run the exact spec of a stored run again and compare the answers, item by item.

    The stored run is left as it is. Ends with 1 if an answer is another one.
    """
    from harness.commands.one_run.rerun import rerun as command

    options.show(command(store, run, keep), as_json)
