"""Runs to try the reports on, made from the few facts a test is about."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest

from results.analysis.items import Item
from results.record import Run, Score


def make_run(
    method: str = "lora",
    seed: int = 2333,
    correct: Mapping[str, int] | None = None,
    minute: int = 0,
    **changes: Any,
) -> Run:
    """Make a finished run; `correct` are the right answers of 100 by benchmark."""
    facts: dict[str, Any] = {
        "status": "finished",
        "reason": "",
        "started": datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute),
        "seconds": {"train": 6.0, "generate": 3.0, "wall": 12.0},
        "group": "math",
        "backbone": "tiny",
        "fold": None,
        "marks": ("sample data",),
        "flags": (),
        "setting": "setting-a",
        "recipe": "recipe-a",
        "protocol": "paper/1",
        "spec": {"train": {"lr": 0.001, "epochs": 3}},
        "environment": {"python": "3.11", "packages": {"torch": "2.13"}},
        "environment_id": "environment-a",
        "trainable_parameters": 5,
        "total_parameters": 1000,
        "adapter_bytes": 20,
        "peak_memory_bytes": 4096,
        "train_tokens_per_second": 1234.5,
        "folder": "/runs/lora",
        "provenance": {"commit": "abc"},
        "scores": tuple(
            Score(benchmark, "accuracy", "llm-adapters", True, right / 100, 100)
            for benchmark, right in (correct or {"gsm8k": 50}).items()
        ),
        **changes,
    }
    facts.setdefault("series", f"{facts['setting']} {method} {facts['backbone']}")
    run_id = sha256(f"{facts['series']} {seed} {facts['fold']}".encode()).hexdigest()[:16]
    return Run(**{"run_id": run_id, "method": method, "seed": seed, **facts})


@pytest.fixture(scope="session")
def make() -> Callable[..., Run]:
    # A fixture, since test files cannot import one another.
    return make_run


def make_item(found: str = "7", **changes: Any) -> Item:
    """Make an item whose deciding extractor found `found`; it is right if that is the gold one."""
    gold = changes.get("gold", "7")
    facts: dict[str, Any] = {
        "benchmark": "gsm8k",
        "id": 0,
        "prompt": "How many?",
        "gold": gold,
        "reference": "",
        "answer": "The answer is 7.",
        "judged": "The answer is 7.",
        "tokens": (1, 2, 3),
        "ended": True,
        "long": False,
        "in_training": False,
        "extractor": "strict",
        "extracted": {"other": "1", "strict": found},
        "correct": {"other": False, "strict": found == gold},
        "likelihoods": {},
        **changes,
    }
    return Item(**facts)


@pytest.fixture(scope="session")
def item() -> Callable[..., Item]:
    return make_item
