"""Tables that are right: printed from drawn counts, and written without the code of the checks.

Right items are drawn from binomial distributions; everything that is printed is computed from them
in exact fractions, and cut to its digits by the decimal module.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from random import Random
from typing import Literal

import numpy as np
from scipy import stats

from results.audit.table import Cell, Column, PrintedTable, Row

SIZES = {
    "MultiArith": 600,
    "GSM8K": 1319,
    "AddSub": 395,
    "AQuA": 254,
    "SingleEq": 508,
    "SVAMP": 1000,
    "MAWPS": 238,
    "BoolQ": 3270,
    "PIQA": 1838,
    "SIQA": 1954,
    "ARC-C": 1172,
    "ARC-E": 2376,
    "OBQA": 500,
    "HellaSwag": 10042,
    "WinoGrande": 1267,
}
"""Test items of the fifteen QA sets, as DyPAM, KDD 2026, prints them in its appendix."""

EXACT = Context(prec=60)

Averaged = Literal["exact values", "printed cells", "printed seeds"]


@dataclass(frozen=True)
class Style:
    """How the numbers of a table were made."""

    seeds: int
    decimals: int
    rounding: str
    averaged: Averaged
    """What the averages are taken of."""
    cells: Literal["exact values", "printed seeds"]
    """What the mean over seeds in a cell is taken of."""
    sd: Literal["sample", "population"] | None
    p: Literal["welch", "student"] | None
    sides: Literal["two-sided", "greater", "less"]
    marked: Literal["exact values", "printed values"]

    def cut(self, value: Fraction) -> Fraction:
        return Fraction(self.printed(value))

    def printed(self, value: Fraction, decimals: int | None = None) -> Decimal:
        unit = Decimal(1).scaleb(-(self.decimals if decimals is None else decimals))
        exact = EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
        return exact.quantize(unit, self.rounding, EXACT)


def style(random: Random) -> Style:
    seeds = random.choice([1, 1, 3, 5, 5])
    spread: list[Literal["sample", "population"] | None] = ["sample", "population", None]
    return Style(
        seeds=seeds,
        decimals=random.choice([1, 2, 2, 2]),
        rounding=random.choice([ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_FLOOR]),
        averaged=random.choice(["exact values", "printed cells", "printed seeds"]),
        cells=random.choice(["exact values", "printed seeds"]),
        sd=random.choice(spread) if seeds > 1 else None,
        p=random.choice(["welch", "student", None]),
        sides=random.choice(["two-sided", "two-sided", "greater", "less"]),
        marked=random.choice(["exact values", "printed values"]),
    )


@dataclass(frozen=True)
class Method:
    """What one method scored, in percent: by benchmark, then by seed."""

    scores: tuple[tuple[Fraction, ...], ...]
    sizes: tuple[int, ...]

    def micro(self, seed: int) -> Fraction:
        right = sum(one[seed] * n for one, n in zip(self.scores, self.sizes, strict=True))
        return Fraction(right) / sum(self.sizes)

    def macro(self, seed: int) -> Fraction:
        return mean([one[seed] for one in self.scores])

    def columns(self) -> list[list[Fraction]]:
        """List the numbers of all seeds for each column: the benchmarks, micro and macro."""
        seeds = range(len(self.scores[0]))
        averages = [[self.micro(seed) for seed in seeds], [self.macro(seed) for seed in seeds]]
        return [*map(list, self.scores), *averages]


def right_table(seed: int) -> tuple[PrintedTable, Style]:
    """Draw a table of one to three blocks of up to ten methods on three to eight benchmarks."""
    random, draws = Random(seed), np.random.default_rng(seed)
    how = style(random)
    names = random.sample(sorted(SIZES), random.randint(3, 8))
    levels = np.array([random.uniform(0.2, 0.97) for _ in names])
    rows: list[Row] = []
    for block in range(random.randint(1, 3)):
        methods = [_method(draws, names, levels, how) for _ in range(random.randint(2, 10))]
        rows += _rows(f"backbone {block}", methods, how)
    return _table(names, rows, how), how


def _method(
    draws: np.random.Generator, names: Sequence[str], levels: np.ndarray, how: Style
) -> Method:
    """Draw what one method scores: a level of its own, other models by seed, items by chance."""
    sizes = tuple(SIZES[name] for name in names)
    own = levels + draws.normal(0, 0.02)
    spread = draws.uniform(0, 0.02) * draws.normal(size=(how.seeds, len(names)))
    counts = draws.binomial(sizes, np.clip(own + spread, 0.01, 0.99))
    scores = tuple(
        tuple(Fraction(100 * int(k), n) for k in column)
        for column, n in zip(counts.T, sizes, strict=True)
    )
    return Method(scores, sizes)


def _table(names: Sequence[str], rows: list[Row], how: Style) -> PrintedTable:
    columns = [Column(name, "benchmark", n=SIZES[name]) for name in names]
    columns += [Column("micro-avg", "micro"), Column("macro-avg", "macro")]
    columns += [Column("p", "p", of=len(names) + 1)]
    return PrintedTable(
        title="a right table",
        columns=tuple(columns),
        rows=tuple(rows),
        seeds=how.seeds,
        sizes_declared=True,
        sd_declared=True,
        against="method 0",
    )


def _rows(block: str, methods: Sequence[Method], how: Style) -> list[Row]:
    means = [_means(method, how) for method in methods]
    return [
        Row(
            block,
            f"method {index}",
            (
                *(
                    _cell(column, value, [one[column] for one in means], method, how)
                    for column, value in enumerate(means[index])
                ),
                _p(methods[0], method, how) if index else None,
            ),
        )
        for index, method in enumerate(methods)
    ]


def _means(method: Method, how: Style) -> list[Fraction]:
    """Average over seeds, exactly or after cutting the digits of each, and over benchmarks."""
    *scores, micro, macro = method.columns()
    cut_first = how.cells == "printed seeds"
    cells = [mean([how.cut(one) for one in column] if cut_first else column) for column in scores]
    if how.averaged == "printed cells":
        printed = [[how.cut(cell)] for cell in cells]
        as_one = Method(tuple(map(tuple, printed)), method.sizes)
        return [*cells, as_one.micro(0), as_one.macro(0)]
    if how.averaged == "printed seeds":
        return [*cells, mean([how.cut(one) for one in micro]), mean([how.cut(o) for o in macro])]
    return [*cells, mean(micro), mean(macro)]


def _cell(
    column: int, value: Fraction, block: Sequence[Fraction], method: Method, how: Style
) -> Cell:
    compared = [how.cut(one) for one in block] if how.marked == "printed values" else list(block)
    own = how.cut(value) if how.marked == "printed values" else value
    order = sorted(set(compared), reverse=True)
    return Cell(
        text="",
        value=how.printed(value),
        sd=_sd(method.columns()[column], how),
        bold=own == order[0],
        underlined=own == order[1] if len(order) > 1 else False,
    )


def _sd(values: Sequence[Fraction], how: Style) -> Decimal | None:
    if how.sd is None:
        return None
    shown = [how.cut(one) for one in values] if how.cells == "printed seeds" else list(values)
    middle = mean(shown)
    divisor = len(shown) - (how.sd == "sample")
    variance = sum((one - middle) ** 2 for one in shown) / divisor
    numerator, denominator = Decimal(variance.numerator), Decimal(variance.denominator)
    root = EXACT.sqrt(EXACT.divide(numerator, denominator))
    return root.quantize(Decimal(1).scaleb(-how.decimals), how.rounding, EXACT)


def _p(baseline: Method, method: Method, how: Style) -> Cell | None:
    """Test the macro averages of all seeds with SciPy."""
    if how.p is None or how.sd is None:
        return None
    a, b = (np.array([float(one) for one in m.columns()[-1]]) for m in (method, baseline))
    found = stats.ttest_ind(a, b, equal_var=how.p == "student", alternative=how.sides)
    return Cell("", how.printed(Fraction(float(found.pvalue)), decimals=3))


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)
