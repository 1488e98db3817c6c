"""Stores as large as those of a laboratory, with made-up scores."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from harness.planning.parse import PAPER_SEEDS
from results.record import Run, Score, Verdicts
from results.store import Store, database, rows, schema, verdicts

GROUPS, METHODS, BACKBONES, SETTINGS, RECIPES = 50, 20, 2, 5, 2
ROWS = dict.fromkeys(("gsm8k", "aqua", "svamp", "mawps", "addsub"), 60)
FAILED = 0.02

ITEMS = {
    "boolq": 3270,
    "piqa": 1838,
    "siqa": 1954,
    "hellaswag": 10042,
    "winogrande": 1267,
    "arc_easy": 2376,
    "arc_challenge": 1172,
    "obqa": 500,
}
"""Rows of the commonsense benchmarks, 22,419 in all."""

AT_ONCE = 1_000
"""Runs in one insertion."""

Judged = tuple[Run, Collection[Verdicts]]


def make(place: Path, runs: Iterable[Judged]) -> None:
    """Write runs into a new store, in one transaction: one for each would take an hour."""
    Store(place)
    keys: dict[str, dict[str, object]] = {}
    with database.to_write(place).transaction() as connection:
        numbered = enumerate(runs, 1)
        while some := list(islice(numbered, AT_ONCE)):
            for _, (run, _) in some:
                if run.series not in keys:
                    keys[run.series] = rows.facts_of(connection, run)
            found = [(run, keys[run.series] | {"attempt": n}) for n, (run, _) in some]
            for table in (schema.runs, schema.documents):
                connection.execute(sa.insert(table), [rows.columns(table, *one) for one in found])
            rows.add_scores(connection, {n: run.scores for n, (run, _) in some})
            for n, (_, bits) in some:
                verdicts.replace(connection, n, bits)


def many_groups() -> Iterator[Judged]:
    """Make 100,000 runs with ten scores each, in 50 groups of 2,000 whose runs took turns.

    A group has 20 methods on 2 backbones with 5 seeds, under 5 settings with 2 recipes each. A run
    has 5 benchmarks, read by 2 extractors. Of the runs 2 % failed.
    """
    draw = np.random.default_rng(0)
    sizes = (SETTINGS, RECIPES, len(PAPER_SEEDS), BACKBONES, METHODS, GROUPS)
    for minute, place in enumerate(product(*map(range, sizes))):
        setting, recipe, seed, backbone, method, group = place
        names = {"group": group, "method": method, "backbone": backbone}
        failed = draw.random() < FAILED
        accuracies = {} if failed else {name: draw.integers(61) / 60 for name in ROWS}
        conditions = {"setting": setting, "recipe": recipe}
        yield _run(minute, PAPER_SEEDS[seed], names | conditions, accuracies, ROWS), ()


def many_items() -> Iterator[Judged]:
    """Make 22 methods with 5 seeds, each run judged on 22,419 items.

    An item is as hard for one run as for another, and a method is right 0.1 % more often than the
    one before it.
    """
    draw = np.random.default_rng(0)
    ease = {name: draw.beta(2, 1, n) for name, n in ITEMS.items()}
    for minute, (method, seed) in enumerate(product(range(22), PAPER_SEEDS)):
        right = {name: draw.random(one.size) < one + 0.001 * method for name, one in ease.items()}
        names = {"group": 0, "method": method, "backbone": 0, "setting": 0, "recipe": 0}
        accuracies = {name: float(one.mean()) for name, one in right.items()}
        bits = [
            Verdicts(name, _digits(name), one.size, np.packbits(one).tobytes(), None)
            for name, one in right.items()
        ]
        yield _run(minute, seed, names, accuracies, ITEMS), bits


def _run(
    minute: int,
    seed: int,
    names: Mapping[str, int],
    accuracies: Mapping[str, float],
    rows: Mapping[str, int],
) -> Run:
    """Make a run; its spec and environment are as large as those of real runs."""
    called = {kind: f"{kind}-{number}" for kind, number in names.items()}
    series = " ".join(called.values())
    finished = bool(accuracies)
    return Run(
        **called,
        run_id=_digits(f"{series} {seed}"),
        status="finished" if finished else "failed",
        reason="" if finished else "OutOfMemoryError: CUDA out of memory.",
        started=datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=minute),
        seconds={"load": 1.5, "train": 612.5, "generate": 244.25, "score": 0.5, "wall": 870.0},
        seed=seed,
        fold=None,
        marks=(),
        flags=("gsm8k: cut at the limit: 3 %",) if finished else (),
        series=_digits(series),
        protocol="paper/2",
        spec=_spec(called, seed, rows),
        provenance={"chosen": "for all methods", "tries": 1, "command": ["harness", "run"]},
        environment=ENVIRONMENT,
        environment_id="environment",
        trainable_parameters=20_000_000 * finished,
        total_parameters=3_000_000_000 * finished,
        adapter_bytes=80_000_000 * finished,
        peak_memory_bytes=20_000_000_000 * finished,
        train_tokens_per_second=5000.0 * finished,
        folder=f"/runs/{_digits(f'{series} {seed}')}",
        scores=tuple(
            Score(name, "accuracy", extractor, extractor == "strict", value, rows[name])
            for name, value in accuracies.items()
            for extractor in ("strict", "llm-adapters")
        ),
        conditions={"recipe": {"lr": _rate(called)}},
        validation_loss=0.5 if finished else None,
    )


def _digits(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def _rate(called: Mapping[str, str]) -> float:
    return 1e-4 * (1 + int(called["recipe"].rpartition("-")[2]))


def _spec(called: Mapping[str, str], seed: int, rows: Mapping[str, int]) -> dict[str, Any]:
    data = {"title": "A test set", "kind": "published", "sha256": "ab" * 32, "verified": True}
    return {
        "method": {
            "name": called["method"],
            "label": called["method"],
            "fields": {f"field_{n}": None for n in range(32)},
            "source": sha256(called["method"].encode()).hexdigest(),
        },
        "backbone": {"name": called["backbone"], "revision": "cd" * 20},
        "group": called["group"],
        "train_data": data | {"rows": 9919},
        "tests": {name: data | {"rows": n} for name, n in rows.items()},
        "train": {"lr": _rate(called), "epochs": 3, "batch_size": 16, "betas": [0.9, 0.999]},
        "generate": {"batch_size": 32, "round_tokens": 64},
        "protocol": {"id": "paper", "version": 2, "prompts": "Below is an instruction. " * 60},
        "setting": called["setting"],
        "seeds": {"data": 42, "adapter": seed},
    }


ENVIRONMENT: Mapping[str, Any] = {
    "packages": {f"package-{n}": f"{n}.{n}.{n}" for n in range(12)},
    "python": "3.11.7",
    "torch": "2.13.0",
    "device": "a GPU",
    "driver": "570.0",
    "machine": {"host": "node", "threads": 8},
    "harness": {"version": "0.1.0", "commit": "0123456789abcdef", "dirty": False},
    "memory": {},
    "determinism": {"train": "warn"},
}
