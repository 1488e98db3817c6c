"""Commands on runs that failed, or that a user wants to stop or to leave out."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options, resources


def retry(
    context: typer.Context,
    runs: Annotated[
        list[str] | None, typer.Argument(help="First digits of ids, or run folders.")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="All runs that failed.")] = False,
    store: options.StorePlace = "harness.db",
    root: options.RunsRoot = Path("runs"),
    slots: resources.Slots = None,
    per_gpu: resources.PerGpu = 1,
    cpus_per_run: resources.CpusPerRun = None,
    executor: resources.Executor = "local",
    address: resources.Address = None,
    partition: resources.Partition = None,
    account: resources.Account = None,
    time: resources.Time = None,
) -> None:
    """Run failed runs again as they were planned, those that ended with an exception too."""
    from harness.commands.leaving import Leaving
    from harness.errors import UserError

    leaving = context.with_resource(Leaving())

    from harness.commands.retry import retry as command
    from harness.commands.started import started
    from harness.scheduling.resources import Resources

    if bool(runs) == failed:
        raise UserError("Name the runs to run again, or give --failed for all that failed.")
    takes = Resources(slots, per_gpu, cpus_per_run=cpus_per_run)
    own = resources.of_executor(address, partition, account, time)
    with started(executor, takes, leaving, options=own) as opened:
        found = command(store, runs or [], root, opened)
        if leaving.status:
            leaving.leave()
    options.show(found, as_json=False)


def cancel(
    run: options.RunName,
    store: options.StorePlace = "harness.db",
    root: options.RunsRoot = Path("runs"),
    as_json: options.AsJson = False,
) -> None:
    """Stop a run after the step at work, in whichever process on whichever machine it is."""
    from harness.commands.one_run.wishes import cancel as command

    options.show(command(store, run, root), as_json)


def forget(
    run: options.RunName,
    reason: Annotated[str, typer.Option(help="Why it is not to count; the store keeps it.")],
    files: Annotated[bool, typer.Option("--files", help="Delete its folder too.")] = False,
    store: options.StorePlace = "harness.db",
    root: options.RunsRoot = Path("runs"),
    as_json: options.AsJson = False,
) -> None:
    """Leave a run out of tables, leaderboards and averages; the store keeps it, and why."""
    from harness.commands.one_run.wishes import forget as command

    options.show(command(store, run, root, reason, files=files), as_json)
