"""The sentences on tests: which were made, of what, and what they leave open."""

from collections.abc import Iterator, Mapping, Sequence

from results.analysis.metrics import Metric
from results.analysis.table import Block, Table, TableRow
from results.analysis.testing.family import Ranks
from results.analysis.testing.tests import Made, Named
from results.reports.sheets.shown import AVERAGES
from results.statistics.equivalence import Equivalence
from results.statistics.rank_sets import mostly_wide
from results.statistics.test import ALPHA, Claim, Test

CLAIMS: dict[Claim, str] = {
    "seeds": "new training runs on these items",
    "seeds and items": "new training runs and new items",
    "items": "new items and these trained models",
    "benchmarks": "new benchmarks",
}
"""What a test generalises to."""

MODELS = "With one seed, a test compares two trained models, not two methods"
NO_STAR = ": no star and no rank is drawn from it"

CORRECTIONS = {
    "holm": "adjusted by Holm",
    "bh": "adjusted by Benjamini and Hochberg",
    "none": "without adjustment",
}

BRIEF = {"holm": "Holm", "bh": "Benjamini and Hochberg", "none": "not adjusted"}

FEWEST = 3
"""Methods from which ranks say more than the star of the best."""

MANY = 8
"""Methods above which the ranks of each are left to JSON."""


def sentences(table: Table) -> list[str]:
    """Say what the tests of a table found and could not find; nothing if none was made."""
    if not table.tests:
        return []
    several = len(table.blocks) > 1
    return [
        f"{block.backbone}, {said}" if several else said[0].upper() + said[1:]
        for block in table.blocks
        for said in (
            *_impossible(block, table.tests),
            *_equivalent(table.metric, block, table.columns, table.tests),
            *_ranks(block, table.columns),
        )
    ]


def sentence(metric: Metric, made: Made, *, models: bool) -> str:
    """Say which tests were made, whether by default, what they speak of, and what was adjusted.

    `models` says whether they compare trained models, of one seed each.
    """
    how = "chosen for this table" if made.chosen else "default"
    family = f"{made.declared} against each other one" if made.declared else "all pairs"
    of_models = f" {MODELS}{'' if made.chosen else NO_STAR}." * models
    return (
        f"Test ({how}): {listed(metric, made.named)}; {family}, {CORRECTIONS[made.correction]} "
        f"within a column and backbone.{of_models}"
    )


def brief(made: Made, *, models: bool) -> str:
    """Say the same in a line or two of a narrow column."""
    how = "chosen" if made.chosen else "default"
    tests = ", ".join(dict.fromkeys(test.name for test in made.named))
    family = f"{made.declared} against each" if made.declared else "all pairs"
    of_models = "; of trained models, not methods" * models
    return f"Test ({how}): {tests}; {family} in a column, {BRIEF[made.correction]}{of_models}."


def listed(metric: Metric, tests: Sequence[Named]) -> str:
    """Name tests, with their columns if there are several, and what they speak of."""
    claims: dict[Claim, list[str]] = {}
    for test in tests:
        told = f"{test.name}{' of logarithms' * metric.logarithm}"
        columns = f" ({', '.join(test.columns)})" if len(tests) > 1 else ""
        claims.setdefault(test.claim, []).append(told + columns)
    return "; ".join(f"{' and '.join(one)}, for {CLAIMS[claim]}" for claim, one in claims.items())


def impossible(test: Test) -> str:
    """Say that samples like these can give no p below ALPHA; nothing if they can.

    >>> from results.statistics.test import Test
    >>> impossible(Test("permutation", "seeds", 0.1, None, 0.1, (3, 3), smallest_p=0.1))
    'cannot reach p < 0.05 with n = 3 (smallest 0.1)'
    >>> impossible(Test("McNemar", "items", 0.1, None, 0.5, (20, 20), smallest_p=0.5))
    'cannot reach p < 0.05, as too few of 20 items tell the two apart (smallest 0.5)'
    """
    return "" if test.possible else f"{_reach(test)} (smallest {test.smallest_p:.2g})"


def _reach(test: Test) -> str:
    n = " and ".join(map(str, dict.fromkeys(test.n)))
    if "seeds" in test.claim:
        return f"cannot reach p < {ALPHA} with n = {n}"
    return f"cannot reach p < {ALPHA}, as too few of {n} {test.claim} tell the two apart"


def _impossible(block: Block, made: Made) -> Iterator[str]:
    """Name the columns whose tests could not find a difference, whatever the numbers are."""
    found: dict[str, list[str]] = {}
    for column in zip(*(row.cells for row in block.rows), strict=True):
        tests = [cell.test for cell in column if isinstance(cell.test, Test)]
        # How many of the hidden rows are tested too is not known here.
        why_not = (
            impossible(test) if block.hidden else _hopeless(test, len(tests), made)
            for test in tests
        )
        for why in dict.fromkeys(why_not):
            found.setdefault(why, []).append(column[0].column)
    for why, columns in found.items():
        if why:
            everywhere = len(columns) == len(block.rows[0].cells)
            yield f"the test of {'all columns' if everywhere else ', '.join(columns)} {why}."


def _hopeless(test: Test, methods: int, made: Made) -> str:
    """Say that a test, or its adjusted p, cannot come below ALPHA; nothing if it can."""
    pairs = methods - 1 if made.declared else methods * (methods - 1) // 2
    if not test.possible or made.correction != "holm" or test.smallest_p * pairs < ALPHA:
        return impossible(test)
    return f"{_reach(test)} after the adjustment for {pairs} comparisons"


def _ranks(block: Block, columns: Sequence[str]) -> Iterator[str]:
    """Say which ranks the tests leave to each method in the first average."""
    column = _first_average(columns)
    place = columns.index(column)
    found: dict[Ranks, list[str]] = {}
    for row in block.rows:
        if ranks := row.cells[place].ranks:
            found.setdefault(ranks, []).append(row.label)
    methods = sum(map(len, found.values()))
    if not methods or methods + len(block.hidden) < FEWEST:
        return
    sets = sorted(found, key=lambda one: (one.first, one.last))
    if methods > MANY:
        yield f"top band in {column} (possibly the best): {_top(found)}.{_wide(found)}"
        return
    listed = "; ".join(f"{_set(one)}: {', '.join(found[one])}" for one in sets)
    among = " among trained methods" if any(_untrained(row, place) for row in block.rows) else ""
    top = ", ".join(label for one in sets if one.top_band for label in found[one])
    yield f"possible ranks in {column}{among}: {listed}; top band: {top}.{_wide(found)}"


def _untrained(row: TableRow, place: int) -> bool:
    """Tell whether a method has a number, and no test ranks it."""
    return row.cells[place].sample.mean is not None and row.cells[place].ranks is None


def _top(found: Mapping[Ranks, Sequence[str]]) -> str:
    """Name the methods of the top band, or those that are not in it, whichever are fewer."""
    top = [label for one, labels in found.items() if one.top_band for label in labels]
    rest = [label for one, labels in found.items() if not one.top_band for label in labels]
    if len(top) <= len(rest):
        return ", ".join(top)
    return f"all but {', '.join(rest)}" if rest else f"all {len(top)} methods"


def _equivalent(metric: Metric, block: Block, columns: Sequence[str], made: Made) -> Iterator[str]:
    """Say which pairs are shown to differ by less than the margin in the first average."""
    column = _first_average(columns)
    cells = [(row.label, row.cells[columns.index(column)]) for row in block.rows]
    # A method and its rival may be each other's.
    found = {
        frozenset((label, cell.rival)): (f"{label} and {cell.rival}", cell.equivalence)
        for label, cell in cells
        if isinstance(cell.equivalence, Equivalence)
    }
    if not found:
        return
    tests = [one for _, one in found.values()]
    shown = [pair for pair, one in found.values() if one.equivalent]
    least = min(one.smallest_margin for one in tests)
    yield (
        f"differences smaller than {metric.points(tests[0].margin):g} in {column} (two one-sided "
        f"tests at {ALPHA}, each method and {made.declared or 'the best other one'}) are shown for "
        f"{', '.join(shown) or 'none'}; the smallest margin that could be shown is "
        f"{metric.written(least)}."
    )


def _first_average(columns: Sequence[str]) -> str:
    return next((name for name in AVERAGES if name in columns), columns[0])


def _set(ranks: Ranks) -> str:
    return f"{ranks.first}" if ranks.first == ranks.last else f"{ranks.first} to {ranks.last}"


def _wide(found: Mapping[Ranks, Sequence[str]]) -> str:
    every = [(one.first, one.last) for one, labels in found.items() for _ in labels]
    told = " Most sets are wide: these runs tell few of the methods apart."
    return told if mostly_wide(every) else ""
