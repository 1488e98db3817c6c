"""Commands on all finished runs together: tables and comparisons."""

from typing import Annotated, Literal

import typer

from harness.cli import options

Width = Literal["column", "page"]
Group = Annotated[str | None, typer.Option("--tasks", help="Only these groups and benchmarks.")]


def table(
    context: typer.Context,
    tasks: Group = None,
    format: Annotated[str, typer.Option(help="latex, markdown, html, csv or json.")] = "markdown",
    layout: Annotated[
        str,
        typer.Option(
            help="main (methods by benchmarks), sizes (by backbones), ablation (variants), "
            "metrics (PPL, BLEU, ROUGE) or costs."
        ),
    ] = "main",
    clean: Annotated[
        bool,
        typer.Option("--clean", help="Also average over test rows not in the training set."),
    ] = False,
    extractors: Annotated[
        bool, typer.Option("--extractors", help="Show how scores depend on the extractor.")
    ] = False,
    own_recipes: options.OwnRecipes = False,
    columns: Annotated[
        str | None, typer.Option(help="Only these benchmarks and averages: gsm8k,macro.")
    ] = None,
    no_sd: Annotated[bool, typer.Option("--no-sd", help="Print means without SD.")] = False,
    wide: options.Wide = False,
    width: Annotated[
        Width, typer.Option(help="LaTeX: as wide as a column of text, or as the page.")
    ] = "page",
    label: Annotated[str, typer.Option(help="LaTeX: the label to refer to.")] = "",
    store: options.StorePlace = "harness.db",
    as_json: options.AsJson = False,
    costs: options.Costs = False,
    runs: Annotated[
        bool, typer.Option("--runs", help="Also list the ids of the runs behind the cells.")
    ] = False,
    choose: Annotated[
        str | None,
        typer.Option(help="`validation`: of each method's tries the one of the lowest loss there."),
    ] = None,
    published: Annotated[
        str, typer.Option(help="Also what this paper prints of the same: dypam.")
    ] = "",
) -> None:
    """Print the table of all finished runs: means, averages and tests."""
    from harness.commands import tables
    from results.reports.printing import Printing

    printing = Printing(
        columns=tuple(filter(None, map(str.strip, (columns or "").split(",")))),
        spread=not no_sd,
        characters=None if wide else Printing.characters,
        width=width,
        label=label,
        costs=costs,
        runs=runs,
        published=published,
        command=options.given(context),
    )
    text = tables.table(
        store,
        tasks,
        "json" if as_json else format,
        printing,
        layout=layout,
        extractors=extractors,
        clean=clean,
        own_recipes=own_recipes,
        choose=choose,
    )
    typer.echo(text)


def compare(
    first: str,
    second: str,
    tasks: Group = None,
    own_recipes: options.OwnRecipes = False,
    store: options.StorePlace = "harness.db",
    as_json: options.AsJson = False,
) -> None:
    """Compare two methods: differences, their intervals, Welch's test."""
    from harness.commands import tables

    report = tables.compare(store, tasks, first, second, own_recipes=own_recipes)
    options.show(report, as_json)
