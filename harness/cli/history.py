"""Commands that ask the store for runs, and write on them."""

from typing import Annotated

import typer

from harness.cli import options

WHICH, HOW = "Which runs", "How they are shown"


def history(
    tasks: Annotated[
        str, typer.Option(help="Of these groups and benchmarks.", rich_help_panel=WHICH)
    ] = "",
    method: Annotated[
        str,
        typer.Option(
            help=r"Of this method, such as lora or 'lora\[r=64,train.lr=2e-4]'.",
            rich_help_panel=WHICH,
        ),
    ] = "",
    backbone: Annotated[str, typer.Option(help="On this.", rich_help_panel=WHICH)] = "",
    seed: Annotated[str, typer.Option(help="With these, such as 7,8.", rich_help_panel=WHICH)] = "",
    status: Annotated[
        str,
        typer.Option(
            help="That ended so: finished, diverged, failed; or forgotten.", rich_help_panel=WHICH
        ),
    ] = "",
    protocol: Annotated[
        str, typer.Option(help="Whose protocol begins so: paper/2.", rich_help_panel=WHICH)
    ] = "",
    environment: Annotated[
        str, typer.Option(help="In the environment whose id begins so.", rich_help_panel=WHICH)
    ] = "",
    start: Annotated[
        str, typer.Option("--from", help="Begun on that day, or later.", rich_help_panel=WHICH)
    ] = "",
    end: Annotated[
        str, typer.Option("--to", help="Begun on that day, or before.", rich_help_panel=WHICH)
    ] = "",
    tag: Annotated[
        list[str] | None, typer.Option(help="With this tag, and this.", rich_help_panel=WHICH)
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="With such scores: accuracy:60..80, gsm8k.accuracy:60.. .", rich_help_panel=WHICH
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            help="'FIELD OP VALUE' with = != < <= > >= ~ (contains): 'lr >= 1e-4'. All must hold.",
            rich_help_panel=WHICH,
        ),
    ] = None,
    sort: Annotated[
        str,
        typer.Option(
            help="By a field or score; -FIELD: the largest first. Only runs that have it.",
            rich_help_panel=HOW,
        ),
    ] = "",
    group_by: Annotated[
        str, typer.Option(help="Count runs by these fields.", rich_help_panel=HOW)
    ] = "",
    limit: Annotated[
        int, typer.Option(min=1, max=2**31 - 1, help="So many.", rich_help_panel=HOW)
    ] = 50,
    columns: Annotated[
        str, typer.Option(help="These fields: run,lr,gsm8k.accuracy.", rich_help_panel=HOW)
    ] = "",
    wide: options.Wide = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    store: options.StorePlace = "harness.db",
    as_json: options.AsJson = False,
    costs: options.Costs = False,
) -> None:
    """List stored runs, the newest first: every attempt, or those that are asked for."""
    from harness.commands import history as command
    from harness.commands.asked import Asked

    asked = Asked(
        tasks=tasks,
        method=method,
        backbone=backbone,
        status=status,
        protocol=protocol,
        environment=environment,
        seeds=seed,
        tags=tag or (),
        start=start,
        end=end,
        metrics=metric or (),
        where=where or (),
        sort=sort,
    )
    shown = command.Shown(limit, columns, group_by, "csv" if csv else "table", wide, costs)
    options.show(command.history(store, asked, shown), as_json)


def diff(
    first: options.RunName,
    second: options.RunName,
    store: options.StorePlace = "harness.db",
    as_json: options.AsJson = False,
) -> None:
    """Compare two runs: spec, environment, scores, and the items that one alone answers right."""
    from harness.commands.one_run.diff import diff as command

    options.show(command(store, first, second), as_json)


def tag(
    run: options.RunName,
    names: Annotated[list[str], typer.Argument(help="Words to find it by.")],
    remove: Annotated[bool, typer.Option("--remove", help="Take them away again.")] = False,
    store: options.StorePlace = "harness.db",
) -> None:
    """Tag a run, in the store and in its folder; `harness history --tag NAME` finds it."""
    from harness.commands.one_run.named import run_id
    from harness.commands.one_run.remarks import tag as add
    from harness.commands.one_run.remarks import untag

    change = untag if remove else add
    options.show(change(store, run_id(run), names), as_json=False)


def note(
    run: options.RunName,
    text: Annotated[str, typer.Argument(help="What there is to say.")],
    store: options.StorePlace = "harness.db",
) -> None:
    """Write a note on a run, in the store and in its folder; history and `show` tell it."""
    from harness.commands.one_run.named import run_id
    from harness.commands.one_run.remarks import note as command

    options.show(command(store, run_id(run), text), as_json=False)
