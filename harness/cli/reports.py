"""Commands on all finished runs together: tables and comparisons."""

from typing import Annotated, Literal

import typer

from harness.cli import options
from harness.printed import say

seeds_app = typer.Typer(help="How many seeds a comparison needs.")
Width = Literal["column", "page"]
Group = Annotated[str | None, typer.Option("--tasks", help="Only these groups and benchmarks.")]


def table(
    context: typer.Context,
    tasks: Group = None,
    backbones: Annotated[str, typer.Option(help="Only runs on these, as tables name them.")] = "",
    methods: Annotated[
        str, typer.Option(help="Only the rows of these; ranks and tests stay among all.")
    ] = "",
    protocol: Annotated[str, typer.Option(help="Only tables of this protocol: paper/1.")] = "",
    environment: Annotated[
        str, typer.Option(help="Only tables of the environment whose id begins so.")
    ] = "",
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
    pool_eras: options.PoolEras = False,
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
    test: options.TestName = "",
    correction: options.Correction = "holm",
    against: Annotated[
        str, typer.Option(help="Test only this method, against each other one; else all pairs.")
    ] = "",
    one_sided: options.OneSided = False,
    margin: options.Margin = None,
) -> None:
    """Print the table of all finished runs: means, averages and tests."""
    from harness.commands import audit, testing
    from harness.commands.table import table as command
    from results.analysis.runs.selection import split_names
    from results.reports.sheets.printing import Printing

    printing = Printing(
        columns=tuple(filter(None, map(str.strip, (columns or "").split(",")))),
        methods=tuple(split_names(methods)),
        protocol=protocol,
        environment=environment,
        spread=not no_sd,
        characters=None if wide else Printing.characters,
        width=width,
        label=label,
        costs=costs,
        runs=runs,
        published=audit.paper(published),
        command=options.given(context),
    )
    text = command(
        store,
        tasks,
        "json" if as_json else format,
        printing,
        layout=layout,
        extractors=extractors,
        backbones=split_names(backbones),
        clean=clean,
        own_recipes=own_recipes,
        pool_eras=pool_eras,
        choose=choose,
        testing=testing.asked(test, correction, against, one_sided, margin),
    )
    say(text)


def compare(
    first: str,
    second: Annotated[str, typer.Argument(help="The first again without it.")] = "",
    tasks: Group = None,
    own_recipes: options.OwnRecipes = False,
    pool_eras: options.PoolEras = False,
    backbones: Annotated[
        str, typer.Option(help="A,B: the first on backbone A, the second on B.")
    ] = "",
    protocols: Annotated[
        str, typer.Option(help="A,B: the first under protocol A, the second under B.")
    ] = "",
    test: options.TestName = "",
    one_sided: options.OneSided = False,
    margin: options.Margin = None,
    store: options.StorePlace = "harness.db",
    as_json: options.AsJson = False,
) -> None:
    """Compare two methods, also on two backbones or under two protocols: differences and tests."""
    from harness.commands import compare as command
    from harness.commands import testing

    report = command.compare(
        store,
        tasks,
        (first, second or first),
        own_recipes=own_recipes,
        testing=testing.asked(
            test, against=first if one_sided else "", one_sided=one_sided, margin=margin
        ),
        across=command.across(backbones, protocols, pool_eras=pool_eras),
    )
    options.show(report, as_json)


@seeds_app.command()
def plan(
    delta: Annotated[float, typer.Option(help="The difference to be found, in points.")],
    methods: Annotated[
        str, typer.Option(help="Take the spread from these methods; all trained ones without.")
    ] = "",
    tasks: Group = None,
    pool_eras: options.PoolEras = False,
    store: options.StorePlace = "harness.db",
    as_json: options.AsJson = False,
) -> None:
    """Say how many seeds or items a difference needs, from the spread of stored runs."""
    from harness.commands import seeds

    options.show(seeds.plan(store, tasks, delta, methods, pool_eras=pool_eras), as_json)
