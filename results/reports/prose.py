"""The sentences around a table, and the numbers in it, whatever the format."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from results.analysis.averages import Overall
from results.analysis.columns import CLEAN_COLUMNS
from results.analysis.metrics import NOTHING, Metric, metric
from results.analysis.notes import NO_SCORE
from results.analysis.ranking import Cell
from results.analysis.runs.eras import POOLED
from results.analysis.runs.recipes import written
from results.analysis.runs.variants import full
from results.analysis.series import Conditions
from results.analysis.table import SIGNATURES, Block, Table, TableRow
from results.analysis.testing.evidence import Interval
from results.reports import testing
from results.reports.sheets.shown import AVERAGES
from results.statistics.sample import Sample
from results.statistics.test import ALPHA, Undefined

DAGGER = "†"
PUBLISHED = "‡"
"""Behind the name of a row that a paper prints."""
DIGITS = 8
"""Of the id of an environment; JSON and CSV have all."""
CLEAN = "clean: without test rows that are found in the training set after normalisation."


def title(table: Table, *, spread: bool = True, column: str = "", what: str = "") -> str:
    """Say what the numbers are, or that there are none.

    Args:
        table: The table.
        spread: Whether the SD is printed.
        column: The only one that is shown, if it is one.
        what: The metrics, where there are several.
    """
    over = column if column in AVERAGES else ""
    named = ", ".join(filter(None, [table.conditions.group, over, _recipes(table.conditions)]))
    if table.metric is NOTHING:
        return f"{named}: {table.metric.title} of {_seeds(table.seeds)}."
    listed = ", ".join(map(str, table.seeds))
    means = f"mean{' ± SD' if spread else ''} over {len(table.seeds)} seeds ({listed})"
    seeds = means if len(table.seeds) > 1 else f"seed {listed} alone"
    seeds += f"; one run of {', '.join(alone)}" if (alone := _alone(table)) else ""
    return f"{named}: {quantity(what or table.metric.title, table.folds)}, {seeds}."


def _alone(table: Table) -> list[str]:
    """Name the rows that have one seed and miss none, where the others have several."""
    if len(table.seeds) == 1:
        return []
    several = len(table.blocks) > 1
    return [
        f"{row.label} on {block.backbone}" if several else row.label
        for block in table.blocks
        for row in block.rows
        if len(row.seeds) == 1 and all(cell.complete for cell in row.cells)
    ]


def _seeds(seeds: Sequence[int]) -> str:
    return f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"


def quantity(title: str, folds: Sequence[int]) -> str:
    """Say what the one number of a seed is."""
    listed = ", ".join(map(str, folds))
    mean = f"mean over {len(folds)} folds" if len(folds) > 1 else f"fold {listed} alone"
    return f"{title} ({mean})" if folds else title


def subject(conditions: Conditions) -> str:
    """Name what was measured, and how: all that is not the default, and what tells it apart."""
    parts = [
        conditions.group,
        f"protocol {how(conditions.protocol, conditions.changed)}",
        _recipes(conditions),
        conditions.apart,
    ]
    return ", ".join(filter(None, parts))


def how(protocol: str, parts: Mapping[str, Mapping[str, Any]]) -> str:
    """Name the protocol, and what of recipe and batch plan is not the default."""
    return ", ".join(filter(None, [protocol, changed(parts)]))


def changed(parts: Mapping[str, Mapping[str, Any]]) -> str:
    """Write what is not the default, as the id of a protocol does; or nothing.

    >>> changed({"recipe": {"lr": 0.0001, "epochs": 1}, "batches": {"batch_size": 8}})
    'recipe [lr=0.0001, epochs=1], batches [batch_size=8]'
    """
    return ", ".join(
        f"{part} [{', '.join(f'{name}={written(value)}' for name, value in fields.items())}]"
        for part, fields in parts.items()
    )


def _recipes(conditions: Conditions) -> str:
    if conditions.tries > 1:
        return f"each method with the best of {conditions.tries} recipes by validation loss"
    return "each method with its own recipe" if conditions.own_recipes else ""


def marks(conditions: Conditions) -> str:
    """Say what sets the data apart from the published benchmarks, or nothing."""
    return f"Read with care: {'; '.join(conditions.marks)}." if conditions.marks else ""


def environment(conditions: Conditions) -> str:
    """Say on what stack the runs ran, or nothing of runs that ended before it was known."""
    if conditions.environment_id in ("", POOLED):  # the marks name those that were pooled
        return ""
    return f"Environment {conditions.environment_id}: {conditions.environment}."


def protocol(conditions: Conditions) -> str:
    """Say by which protocol and recipe runs were made, and what else tells them apart."""
    parts = [how(conditions.protocol, conditions.changed), conditions.apart]
    return f"Protocol {', '.join(filter(None, parts))}."


def stack(conditions: Conditions) -> str:
    """Say on what stack runs ran; or nothing of those that did not get so far."""
    told = conditions.environment_id
    if told in ("", POOLED):
        return ""
    return f"Environment {told[:DIGITS]} ({conditions.environment})."


def harness(versions: Sequence[str]) -> str:
    """Say by which versions of the harness the runs were made, or nothing if none is known."""
    return f"Harness {'; '.join(versions)}." if versions else ""


def part(table: Table) -> str:
    """Say of how many rows some are printed; or nothing, if all are."""
    told = [
        f"{where}{len(block.rows)} of {len(block.rows) + len(block.hidden)} methods"
        for where, block in _places(table)
        if block.hidden
    ]
    return f"Printed: {'; '.join(told)}. Ranks and tests are among all." if told else ""


def star(table: Table, *, brief: bool = False) -> str:
    """Explain the star; nothing if there is none."""
    rows = [row for block in table.blocks for row in block.rows]
    if not any(cell.significantly_best for row in rows for cell in row.cells):
        return ""
    declared = table.tests.declared if table.tests else ""
    ablation = {full(row.method) for row in rows} == {declared}
    others = "variant" if ablation else "other" if brief else "other trained method"
    largest = "largest p" if brief else "the largest p"
    return f"*: better than every {others}, {largest} < {ALPHA}{'' if brief else ', not adjusted'}."


def tests(table: Table, *, several: bool) -> list[str]:
    """Say what the tests leave open, and which were not made.

    `several` says whether tables of other metrics stand beside it, so that the metric is named.
    """
    untested = [f"{where}{note}" for where, block in _places(table) for note in _untested(block)]
    metric = f"{table.metric.name}: " * several
    return [f"{metric}{told}" for told in (*testing.sentences(table), *untested)]


def of_rows(table: Table) -> list[str]:
    """Write each note of a row once, with all the methods that have it."""
    return [
        f"{where}{note}"
        for where, block in _places(table)
        for note in (*_rows(block), *_absent(block))
    ]


def of_scores(table: Table) -> list[str]:
    """Say what the scores are, where their columns do not."""
    clean = [CLEAN] if set(CLEAN_COLUMNS) & set(table.columns) else []
    signature = [f"Signature: {one}." for one in table.signatures]
    return [*clean, *(several_signatures(table.signatures) or signature)]


def flags(lines: Sequence[str]) -> str:
    """List what is suspicious of the answers, and say where it is in full; or nothing."""
    head = "Flags (`harness show RUN` lists those of one run):\n\n"
    return head + "\n".join(f"- {line}" for line in lines) if lines else ""


def several_signatures(signatures: Sequence[str]) -> list[str]:
    """Say that scores do not compare, if they have several signatures."""
    several = len(signatures) > 1
    return [f"{SIGNATURES.capitalize()}: {'; '.join(signatures)}."] if several else []


def label(row: TableRow) -> str:
    """Name the method, with a dagger if it lacks a seed or a benchmark."""
    complete = all(cell.complete for cell in row.cells)
    return row.label if complete else row.label + DAGGER


def interval(metric: Metric, around: Interval | None) -> str:
    """Write the interval of a mean; nothing without one."""
    return f"{metric.written(around.low)} to {metric.written(around.high)}" if around else ""


def mean(metric: Metric, sample: Sample, spread: bool = True) -> str:
    """Write a mean with its spread, in the unit that the title names.

    >>> from results.analysis.metrics import metric
    >>> from results.statistics.sample import sample
    >>> mean(metric("accuracy"), sample({2333: 0.5, 1000: 0.75}))
    '62.50 ± 17.68'
    >>> mean(metric("perplexity"), sample({2333: 8.5})), mean(metric("bleu"), sample({}))
    ('8.500', '-')
    """
    if sample.mean is None:
        return "-"
    sd = f" ± {metric.written(sample.sd)}" if spread and sample.sd is not None else ""
    return f"{metric.written(sample.mean)}{sd}"


def missing(cell: Cell) -> str:
    """Say in a word why a cell has no number; a dash where nothing was to be there.

    >>> from results.statistics.sample import sample
    >>> from results.statistics.test import Undefined
    >>> none = sample({}), False, None, False, Undefined("")
    >>> missing(Cell("gsm8k", *none, missing={1: "failed: out of memory", 2: "not run"}))
    'failed'
    """
    words = [reason.partition(":")[0] for reason in cell.missing.values()]
    return next((word for word in words if word != NO_SCORE), "-")


def trainable(row: TableRow) -> str:
    """Write the share of trainable parameters."""
    return "-" if row.trainable_percent is None else f"{row.trainable_percent:.3g}"


def value(metric: Metric, value: float) -> str:
    """Write a value with its unit, for where no caption names the unit.

    >>> from results.analysis.metrics import metric
    >>> value(metric("accuracy"), 0.83254), value(metric("perplexity"), 8.316)
    ('83.25 %', '8.316')
    """
    return f"{metric.written(value)}{' %' if metric.share else ''}"


def overall(found: Overall | None) -> str:
    """Write the one number of a run with its metric and the name of the average.

    >>> overall(Overall("accuracy", "micro", 0.125)), overall(None)
    ('accuracy 12.50 % (micro)', '-')
    """
    if found is None:
        return "-"
    return f"{found.metric} {value(metric(found.metric), found.value)} ({found.average})"


def _places(table: Table) -> Iterator[tuple[str, Block]]:
    """Give each block with what a note on it begins with, where there are several."""
    for block in table.blocks:
        yield f"{block.backbone}, " if len(table.blocks) > 1 else "", block


def _rows(block: Block) -> Iterator[str]:
    having: dict[str, list[str]] = {}
    for row in block.rows:
        for note in row.notes:
            having.setdefault(note, []).append(label(row))
    for note, labels in having.items():
        yield f"{', '.join(labels)}: {note}."


def _absent(block: Block) -> Iterator[str]:
    if block.absent:
        yield f"no run of {', '.join(block.absent)}."


def _untested(block: Block) -> Iterator[str]:
    pairs = [
        (cell.test.reason, cell.column)
        for row in block.rows
        for cell in row.cells
        if cell.rank == 1 and isinstance(cell.test, Undefined)
    ]
    for reason in dict.fromkeys(reason for reason, _ in pairs):
        columns = dict.fromkeys(column for other, column in pairs if other == reason)
        everywhere = len(columns) == len(block.rows[0].cells)
        yield f"{'all columns' if everywhere else ', '.join(columns)}: {reason}, no test."
