"""What must be said beside a table, in sentences, whatever its format."""

from collections.abc import Iterator, Sequence

from results.columns import CLEAN_COLUMNS
from results.metrics import Metric
from results.selection import Conditions
from results.statistics import welch
from results.statistics.sample import Sample
from results.statistics.test import ALPHA, Undefined
from results.table import SIGNATURES, Block, Row, Table

DAGGER = "†"
CLEAN = "clean: without test rows that are found in the training set after normalisation."


def title(table: Table) -> str:
    """Say what the numbers are."""
    listed = ", ".join(map(str, table.seeds))
    spread = f"mean ± SD over {len(table.seeds)} seeds ({listed})"
    what = spread if len(table.seeds) > 1 else f"seed {listed} alone"
    return f"{subject(table.conditions)}: {quantity(table.metric, table.folds)}, {what}."


def quantity(metric: Metric, folds: Sequence[int]) -> str:
    """Say what the one number of a seed is."""
    listed = ", ".join(map(str, folds))
    mean = f"mean over {len(folds)} folds" if len(folds) > 1 else f"fold {listed} alone"
    return f"{metric.title} ({mean})" if folds else metric.title


def subject(conditions: Conditions) -> str:
    """Name what was measured, and how."""
    return f"{conditions.group}, protocol {conditions.protocol}"


def marks(conditions: Conditions) -> str:
    """Say what sets the data apart from the published benchmarks, or nothing."""
    return f"Read with care: {'; '.join(conditions.marks)}." if conditions.marks else ""


def environment(conditions: Conditions) -> str:
    """Say where the numbers come from."""
    return f"Environment {conditions.environment_id}: {conditions.environment}."


def legend(metric: Metric, second: str) -> str:
    """Say what the marks of the cells mean; `second` is how the format shows the second."""
    best = "best (lowest)" if metric.lower_is_better else "best"
    return (
        f"Bold: {best}; {second}: second, on each backbone. "
        f"*: better than the best other method at p < {ALPHA} ({test(metric)})."
    )


def test(metric: Metric) -> str:
    """Name the test that is made of a metric."""
    number = "the logarithm of one number" if metric.logarithm else "one number"
    return f"{welch.NAME} on {number} per seed, not adjusted for multiple comparisons"


def notes(table: Table) -> list[str]:
    """Say what to mind, which tests could not be made, and where the numbers come from."""
    found = [note for block in table.blocks for note in (*_rows(block), *_untested(block))]
    clean = [CLEAN] if set(CLEAN_COLUMNS) <= set(table.columns) else []
    signature = [f"Signature: {one}." for one in table.signatures]
    told = mixed(table) or signature
    return [*found, *clean, *told, environment(table.conditions)]


def mixed(table: Table) -> list[str]:
    """Say that the scores of a table do not compare, if they have several signatures."""
    several = len(table.signatures) > 1
    return [f"{SIGNATURES.capitalize()}: {'; '.join(table.signatures)}."] if several else []


def label(row: Row) -> str:
    """Name the method, with a dagger if it lacks a seed or a benchmark."""
    complete = all(cell.complete for cell in row.cells)
    return row.method if complete else row.method + DAGGER


def printed(metric: Metric, sample: Sample) -> str:
    """Write a mean with its spread, in the unit that the title names.

    >>> from results.metrics import metric
    >>> from results.statistics.sample import sample
    >>> printed(metric("accuracy"), sample({2333: 0.5, 1000: 0.75}))
    '62.50 ± 17.68'
    >>> printed(metric("perplexity"), sample({2333: 8.5})), printed(metric("bleu"), sample({}))
    ('8.50', '-')
    """
    if sample.mean is None:
        return "-"
    spread = "" if sample.sd is None else f" ± {metric.points(sample.sd):.2f}"
    return f"{metric.points(sample.mean):.2f}{spread}"


def _rows(block: Block) -> Iterator[str]:
    for row in block.rows:
        if row.notes:
            yield f"{block.backbone}, {label(row)}: {'; '.join(row.notes)}."


def _untested(block: Block) -> Iterator[str]:
    pairs = [
        (cell.test.reason, cell.column)
        for row in block.rows
        for cell in row.cells
        if cell.standing == "best" and isinstance(cell.test, Undefined)
    ]
    for reason in dict.fromkeys(reason for reason, _ in pairs):
        columns = dict.fromkeys(column for other, column in pairs if other == reason)
        yield f"{block.backbone}, {', '.join(columns)}: {reason}, no test."
