"""The command line: each command parses, delegates and prints."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

# Nothing heavy is imported at the top: `harness --help` has to answer at once.

app = typer.Typer(
    name="harness",
    help="Fine-tune, evaluate and compare parameter-efficient methods on language models.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
data_app = typer.Typer(help="The data files: what is there, and whether it is right.")
app.add_typer(data_app, name="data", no_args_is_help=True)

StorePlace = Annotated[
    str,
    typer.Option("--store", envvar="HARNESS_STORE", help="Database: a file or a SQLAlchemy URL."),
]
RunsRoot = Annotated[
    Path, typer.Option("--runs", envvar="HARNESS_RUNS", help="Folder of the run folders.")
]
DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data", envvar="HARNESS_DATA", help="Folder of the real data; samples without it."
    ),
]
TrainData = Annotated[
    Path | None,
    typer.Option("--train-data", help="A training file instead of the group's own."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Backbone = Annotated[
    str | None, typer.Option(help="`tiny`, a folder, or a hub repository owner/name[@revision].")
]


@app.command()
def run(
    methods: Annotated[str, typer.Option(help='Such as "dypam,lora[r=64,lora_alpha=128]".')],
    tasks: Annotated[str, typer.Option(help="A group, or benchmarks of one group.")],
    backbones: Annotated[str, typer.Option(help="`tiny`, folders, hub repositories.")] = "tiny",
    seeds: Annotated[
        str, typer.Option(help="How many of the papers' five seeds, or a list such as 7,8.")
    ] = "1",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A field of recipe, batch plan or protocol: train.lr=5e-4."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Rows per benchmark.")] = None,
    train_limit: Annotated[int | None, typer.Option(min=20, help="Training rows.")] = None,
    data: DataFolder = None,
    protocol: Annotated[str, typer.Option(help="paper, llm-adapters or hycam.")] = "paper",
    train_data: TrainData = None,
    store: StorePlace = "harness.db",
    runs: RunsRoot = Path("runs"),
    slots: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time: GPUs, or shares of the cores.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the runs.")] = False,
) -> None:
    """Fine-tune and evaluate every method on every backbone and seed, then print the table.

    Runs that are in the store already are not run again.
    """
    from harness.commands import run as running
    from harness.planning.plan import Wish

    wish = Wish(
        methods,
        tasks,
        backbones,
        seeds,
        settings or [],
        limit,
        train_limit,
        data,
        protocol,
        train_data,
    )
    if dry_run:
        typer.echo(running.preview(wish, store))
    else:
        raise typer.Exit(running.run(wish, store, runs, slots))


@app.command()
def methods(
    name: Annotated[str | None, typer.Argument(help="One method, in full.")] = None,
    backbone: Backbone = None,
    as_json: AsJson = False,
) -> None:
    """List the methods, with trainable parameters on a backbone; no weights are loaded."""
    from harness.commands import catalogue as listing

    _print(listing.methods(name, backbone), as_json)


@app.command()
def tasks(
    name: Annotated[str | None, typer.Argument(help="One benchmark, in full.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the groups and their benchmarks."""
    from harness.commands import catalogue as listing

    _print(listing.tasks(name), as_json)


@data_app.command()
def status(data: DataFolder = None, as_json: AsJson = False) -> None:
    """Say which data files are there, and which groups can run."""
    from harness.commands import data as files

    _print(files.status(data), as_json)


@data_app.command()
def fetch(group: str, data: DataFolder = None, as_json: AsJson = False) -> None:
    """Download the files of a group that are missing; a transfer that was cut goes on."""
    from harness.commands import data as files

    report = files.fetch(group, data)
    _print(report, as_json)
    raise typer.Exit(0 if report.sound else 1)


@data_app.command()
def verify(data: DataFolder = None, as_json: AsJson = False) -> None:
    """Read every data file that is there: each row, the number of rows, the SHA-256."""
    from harness.commands import data as files

    report = files.verify(data)
    _print(report, as_json)
    raise typer.Exit(0 if report.sound else 1)


@data_app.command(name="contamination")
def contamination(
    group: str, data: DataFolder = None, train_data: TrainData = None, as_json: AsJson = False
) -> None:
    """Count the test rows of a group that its training set holds, and what benchmarks share."""
    from harness.commands import data as files

    _print(files.contaminated(group, data, train_data), as_json)


@app.command()
def table(
    tasks: Annotated[str | None, typer.Option(help="Only this group.")] = None,
    format: Annotated[str, typer.Option(help="latex, markdown, csv or json.")] = "markdown",
    clean: Annotated[
        bool, typer.Option("--clean", help="Averages without rows of the training set too.")
    ] = False,
    extractors: Annotated[
        bool, typer.Option("--extractors", help="What each extractor makes of the answers.")
    ] = False,
    store: StorePlace = "harness.db",
    as_json: AsJson = False,
) -> None:
    """Print the table of all finished runs: means, averages and tests."""
    from harness.commands import run as running

    name = "json" if as_json else format
    typer.echo(running.table(store, tasks, name, clean=clean, extractors=extractors))


@app.command()
def compare(
    first: str,
    second: str,
    tasks: Annotated[str | None, typer.Option(help="Only this group.")] = None,
    store: StorePlace = "harness.db",
    as_json: AsJson = False,
) -> None:
    """Compare two methods: differences, their intervals, Welch's test."""
    from results.analysis.pairwise import compare as compare_methods
    from results.reports.pairwise import markdown
    from results.reports.to_json import to_json

    found = compare_methods(_reader(store).runs(groups=_listed(tasks)), first, second)
    typer.echo(to_json(found) if as_json else markdown(found))


@app.command()
def history(
    tasks: Annotated[str | None, typer.Option(help="Only this group.")] = None,
    method: Annotated[str | None, typer.Option(help="Only this method.")] = None,
    backbone: Annotated[str | None, typer.Option(help="Only this backbone.")] = None,
    store: StorePlace = "harness.db",
    as_json: AsJson = False,
) -> None:
    """List every run ever stored, newest first."""
    from results.analysis.history import history as summed_up
    from results.reports.history import markdown
    from results.reports.to_json import to_json

    found = _reader(store).runs(
        groups=_listed(tasks), methods=_listed(method), backbones=_listed(backbone)
    )
    entries = summed_up(found)
    typer.echo(to_json(entries) if as_json else markdown(entries))


@app.command()
def show(run: str, store: StorePlace = "harness.db", as_json: AsJson = False) -> None:
    """Show one run in full; the first digits of its id will do."""
    from harness.commands import run as running

    typer.echo(running.show(store, run, as_json))


@app.command()
def doctor(method: str) -> None:
    """Check that a method keeps the contract, on the embedded model; `all` checks every method.

    METHOD is a name, an entry point of another distribution, or the path of a method's file.
    """
    from harness.commands.doctor import examine

    sound = True
    for finding in examine(method):
        typer.echo(str(finding))
        sound = sound and not finding.fault
    raise typer.Exit(0 if sound else 1)


@app.command()
def rescore(store: StorePlace = "harness.db", runs: RunsRoot = Path("runs")) -> None:
    """Apply the extractors and metrics of today to the generations of yesterday."""
    from harness.scoring.rescore import rescore as score_anew

    said, whole = score_anew(store, runs)
    typer.echo(said)
    raise typer.Exit(0 if whole else 1)


@app.command()
def reindex(store: StorePlace = "harness.db", runs: RunsRoot = Path("runs")) -> None:
    """Build the store anew from the run folders."""
    from harness.commands import run as running

    typer.echo(running.reindex(store, runs))


def main() -> None:
    """Run the command line; a user's mistake is one message and exit code 2."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # Whether there is a GPU is asked without taking hold of one.
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        from harness.errors import message

        text = message(error)
        if text is None:
            raise
        typer.echo(f"error: {text}", err=True)
        sys.exit(2)


def _reader(place: str) -> Any:
    from results.store import Reader

    return Reader(place)


def _listed(name: str | None) -> list[str]:
    return [name] if name else []


def _print(report: Any, as_json: bool) -> None:
    from results.reports.to_json import to_json

    typer.echo(to_json(report.value) if as_json else report.text)
