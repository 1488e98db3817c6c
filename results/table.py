"""Comparison tables as values: what the runs of one setting and one environment show."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from results.averages import macro, micro
from results.record import Run
from results.standing import Cell, cells
from results.statistics import sample

AVERAGES = {"micro": micro, "macro": macro}

Key = TypeVar("Key", bound=Hashable)
Repeats = Mapping[str, Mapping[int, Run]]
"""Of each method, the run of each seed."""


@dataclass(frozen=True)
class Row:
    """One method on one backbone, a cell per column; the notes say what is missing."""

    method: str
    trainable_percent: float
    seeds: tuple[int, ...]
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """The methods on one backbone: the family within which best and second are named."""

    backbone: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Conditions:
    """What the runs of one table have in common; the environment is summed up in one line."""

    group: str
    protocol: str
    marks: tuple[str, ...]
    setting: str
    environment: str
    environment_id: str


@dataclass(frozen=True)
class Table:
    """All runs that finished under one setting in one environment."""

    conditions: Conditions
    seeds: tuple[int, ...]
    columns: tuple[str, ...]
    blocks: tuple[Block, ...]


def tables(runs: Iterable[Run]) -> list[Table]:
    """Make one table of the finished runs of each group, setting and environment.

    The newest comes first. Runs that differ in any of the three never share a table, hence
    never an average or a test.
    """
    finished = [run for run in runs if run.status == "finished"]
    newest_first = sorted(finished, key=lambda run: (run.started, run.run_id), reverse=True)
    shelves = _grouped(newest_first, lambda run: (run.group, run.setting, run.environment_id))
    return [_table(shelf) for shelf in shelves.values()]


def _table(runs: Sequence[Run]) -> Table:
    benchmarks = _united(tuple(run.headline) for run in runs)
    columns = (*benchmarks, *AVERAGES)
    backbones = _grouped(runs, lambda run: run.backbone)
    blocks = tuple(_block(name, backbones[name], columns) for name in sorted(backbones))
    seeds = {seed for block in blocks for row in block.rows for seed in row.seeds}
    return Table(_conditions(runs), tuple(sorted(seeds)), columns, blocks)


def _conditions(runs: Sequence[Run]) -> Conditions:
    newest = runs[0]
    facts = newest.environment.items()
    return Conditions(
        group=newest.group,
        protocol=newest.protocol,
        marks=_united(run.marks for run in runs),
        setting=newest.setting,
        environment=", ".join(
            f"{key} {fact}" for key, fact in facts if isinstance(fact, str | int)
        ),
        environment_id=newest.environment_id,
    )


def _block(backbone: str, runs: Sequence[Run], columns: Sequence[str]) -> Block:
    attempts = _grouped(runs, lambda run: run.method)
    repeats = {method: _repeats(attempts[method]) for method in sorted(attempts)}
    seeds = frozenset(seed for by_seed in repeats.values() for seed in by_seed)
    judged = [_column(name, repeats, columns, seeds) for name in columns]
    rows = (
        _row(attempts[method], by_seed, tuple(column[method] for column in judged), seeds)
        for method, by_seed in repeats.items()
    )
    return Block(backbone, tuple(rows))


def _repeats(attempts: Sequence[Run]) -> dict[int, Run]:
    """Keep the newest attempt at each seed, of the series of the newest attempt."""
    current = [run for run in attempts if run.series == attempts[0].series]
    return {run.seed: run for run in reversed(current)}


def _column(
    name: str, repeats: Repeats, columns: Sequence[str], seeds: frozenset[int]
) -> dict[str, Cell]:
    samples = {}
    for method, by_seed in repeats.items():
        numbers = {seed: _numbers(run, columns) for seed, run in sorted(by_seed.items())}
        samples[method] = sample({seed: n[name] for seed, n in numbers.items() if name in n})
    return cells(name, samples, seeds)


def _numbers(run: Run, columns: Sequence[str]) -> dict[str, float]:
    """Give the one number of a run in each column that it has."""
    scores = run.headline
    found = {benchmark: score.accuracy for benchmark, score in scores.items()}
    # An average over fewer benchmarks than the other runs have would be another quantity.
    if len(found) + len(AVERAGES) == len(columns):
        found |= {name: average(scores.values()) for name, average in AVERAGES.items()}
    return found


def _row(
    attempts: Sequence[Run],
    by_seed: Mapping[int, Run],
    cells: tuple[Cell, ...],
    seeds: frozenset[int],
) -> Row:
    newest = attempts[0]
    older = {run.run_id for run in attempts} - {run.run_id for run in by_seed.values()}
    notes = [_gap(seed, cells) for seed in sorted(seeds)]
    if older:
        notes.append(f"runs of an earlier version left out: {len(older)}")
    return Row(
        method=newest.method,
        trainable_percent=100 * newest.trainable_parameters / newest.total_parameters,
        seeds=tuple(sorted(by_seed)),
        cells=cells,
        notes=tuple(note for note in notes if note),
    )


def _gap(seed: int, cells: Sequence[Cell]) -> str:
    lacking = [cell.column for cell in cells if seed not in cell.sample.by_seed]
    if len(lacking) == len(cells):
        return f"seed {seed} is missing"
    return f"seed {seed} lacks {', '.join(lacking)}" if lacking else ""


def _united(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in lists for item in items))


def _grouped(runs: Iterable[Run], key: Callable[[Run], Key]) -> dict[Key, list[Run]]:
    found: dict[Key, list[Run]] = {}
    for run in runs:
        found.setdefault(key(run), []).append(run)
    return found
