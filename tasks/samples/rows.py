"""The generated stand-ins of the benchmarks and of the training sets: the same rows on any machine.

They are not the published sets: they have another hash, are marked wherever they show, and are
never pooled with them.
"""

import random
from collections.abc import Iterable
from functools import cache
from itertools import cycle, islice

from tasks.contract import Benchmark, Row
from tasks.form import Form, Problem, distinct

SEED = 2026


def test_rows(name: str, benchmark: Benchmark) -> tuple[Row, ...]:
    """Draw the test set of the benchmark `name`."""
    return _drawn(name, benchmark.sample)


@cache  # the three numbers of a problem are drawn about a hundred times, until the split is right
def _drawn(name: str, sample: tuple[tuple[Form, int], ...]) -> tuple[Row, ...]:
    drawn = [
        problem
        for number, (form, count) in enumerate(sample)
        for problem in islice(distinct(form, "test", _rng(name, number)), count)
    ]
    return _rows(drawn)


def training_rows(name: str, benchmarks: Iterable[Benchmark], count: int) -> tuple[Row, ...]:
    """Draw `count` worked problems for the group `name`, the forms of its benchmarks in turn."""
    forms = [form for benchmark in benchmarks for form, _ in benchmark.sample]
    sources = [distinct(form, "train", _rng(name, number)) for number, form in enumerate(forms)]
    turns = islice(cycle(sources), count)
    return _rows([next(source) for source in turns])


def _rng(name: str, number: int) -> random.Random:
    return random.Random(f"{SEED}/{name}/{number}")


def _rows(drawn: list[Problem]) -> tuple[Row, ...]:
    return tuple(
        Row(
            id=number,
            instruction=problem.question,
            output=problem.worked,
            answer=problem.answer,
            input=problem.context,
        )
        for number, problem in enumerate(drawn)
    )
