"""What must be said beside a table, in sentences, whatever its format."""

from collections.abc import Iterator

from results.standing import points
from results.statistics import ALPHA, Sample, Undefined
from results.table import Block, Conditions, Row, Table

DAGGER = "†"
TEST = "Welch's two-sided t-test on one number per seed, not adjusted for multiple comparisons"


def title(table: Table) -> str:
    """Say what the numbers are."""
    listed = ", ".join(map(str, table.seeds))
    spread = f"mean ± SD over {len(table.seeds)} seeds ({listed})"
    what = spread if len(table.seeds) > 1 else f"seed {listed} alone"
    return f"{subject(table.conditions)}: accuracy in percent, {what}."


def subject(conditions: Conditions) -> str:
    """Name what was measured, and how."""
    return f"{conditions.group}, protocol {conditions.protocol}"


def marks(conditions: Conditions) -> str:
    """Say what sets the data apart from the published benchmarks, or nothing."""
    return f"Read with care: {'; '.join(conditions.marks)}." if conditions.marks else ""


def environment(conditions: Conditions) -> str:
    """Say where the numbers come from."""
    return f"Environment {conditions.environment_id}: {conditions.environment}."


def legend(second: str) -> str:
    """Say what the marks of the cells mean; `second` is how the format shows the second."""
    return (
        f"Bold: best; {second}: second, on each backbone. "
        f"*: better than the best other method at p < {ALPHA} ({TEST})."
    )


def notes(table: Table) -> list[str]:
    """Say what is missing, which tests could not be made, and where the numbers come from."""
    found = [note for block in table.blocks for note in (*_gaps(block), *_untested(block))]
    return [*found, environment(table.conditions)]


def label(row: Row) -> str:
    """Name the method, with a dagger if it lacks a seed or a benchmark."""
    complete = all(cell.complete for cell in row.cells)
    return row.method if complete else row.method + DAGGER


def printed(sample: Sample) -> str:
    """Write a mean with its spread, in percent.

    >>> from results.statistics import sample
    >>> printed(sample({2333: 0.5, 1000: 0.75})), printed(sample({}))
    ('62.50 ± 17.68', '-')
    """
    if sample.mean is None:
        return "-"
    spread = "" if sample.sd is None else f" ± {points(sample.sd):.2f}"
    return f"{points(sample.mean):.2f}{spread}"


def _gaps(block: Block) -> Iterator[str]:
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
