"""Commands on all finished runs together: tables and comparisons."""

from typing import Annotated, Literal

import typer

from harness.cli import options

Width = Literal["column", "page"]
Group = Annotated[str | None, typer.Option("--tasks", help="Only this group.")]


def table(
    tasks: Group = None,
    format: Annotated[str, typer.Option(help="latex, markdown, csv or json.")] = "markdown",
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
) -> None:
    """Print the table of all finished runs: means, averages and tests."""
    from harness.commands import tables

    if extractors:
        if clean or own_recipes or format not in ("markdown", "json"):
            from harness.errors import UserError

            raise UserError(
                "--extractors supports markdown and json, and cannot be combined with --clean or "
                "--own-recipes."
            )
        options.show(tables.extractors(store, tasks), as_json or format == "json")
    else:
        from results.reports.layout import Layout

        layout = Layout(
            columns=tuple(filter(None, map(str.strip, (columns or "").split(",")))),
            spread=not no_sd,
            characters=None if wide else Layout.characters,
            width=width,
            label=label,
        )
        name = "json" if as_json else format
        found = tables.table(store, tasks, name, layout, clean=clean, own_recipes=own_recipes)
        typer.echo(found)


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
