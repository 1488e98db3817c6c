"""What the tests on items cost, for 22 methods on the eight commonsense sets.

The verdicts are drawn at random, the same ones each time; what a test costs depends on their number
and not on what they say.
"""

import time
from collections.abc import Callable
from itertools import combinations

import numpy as np

from benchmarks.reading import load
from results.statistics.components import crossed
from results.statistics.items import default
from results.statistics.items.bootstrap import bootstrap
from results.statistics.items.drawn import DRAWS
from results.statistics.items.hierarchical import hierarchical
from results.statistics.items.sign_flip import sign_flip
from results.statistics.items.verdicts import Answers, Average, Items

SIZES = {
    "boolq": 3270,
    "piqa": 1838,
    "social_i_qa": 1954,
    "hellaswag": 10042,
    "winogrande": 1267,
    "arc_easy": 2376,
    "arc_challenge": 1172,
    "openbookqa": 500,
}
METHODS, SEEDS = 22, 5
RIGHT = 0.8
ROUNDS = 3

Work = Callable[[Average], object]


def report() -> None:
    """Print the seconds of each test, of the micro and of the macro average."""
    print(f"{sum(SIZES.values()):,} items, {DRAWS:,} draws, fastest of {ROUNDS}, {load()}:\n")
    print("| test | seconds, micro | seconds, macro |\n| :--- | ---: | ---: |")
    for name, work in _tests().items():
        micro, macro = (_seconds(work, average) for average in ("micro", "macro"))
        print(f"| {name} | {micro:.2f} | {macro:.2f} |")


def _tests() -> dict[str, Work]:
    five, one = _methods(SEEDS), _methods(1)
    a, b = five[:2]
    return {
        f"paired bootstrap, 2 methods, {SEEDS} seeds": lambda average: bootstrap(a, b, average),
        f"sign flips, 2 methods, {SEEDS} seeds": lambda average: sign_flip(a, b, average),
        f"hierarchical bootstrap, 2 methods, {SEEDS} seeds": lambda average: hierarchical(
            a, b, average
        ),
        f"seeds and items, {METHODS} methods, {SEEDS} seeds": lambda average: [
            crossed(first, second, average) for first, second in combinations(five, 2)
        ],
        f"default on items, {METHODS} methods, one seed": lambda average: [
            default(first, second, average) for first, second in combinations(one, 2)
        ],
    }


def _methods(seeds: int) -> list[Answers]:
    random = np.random.default_rng(0)
    return [
        {
            name: Items(tuple(range(seeds)), (random.random((seeds, n)) < RIGHT).astype(float))
            for name, n in SIZES.items()
        }
        for _ in range(METHODS)
    ]


def _seconds(work: Work, average: Average) -> float:
    """Take the fastest of a few rounds, whatever else the machine does."""
    found = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work(average)
        found.append(time.perf_counter() - start)
    return min(found)
