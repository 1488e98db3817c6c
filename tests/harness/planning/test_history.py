"""What runs will take: as runs like them took, else scaled by rows, always a range."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from harness.planning.history import Estimate, History
from harness.spec.planned import PlannedRun
from harness.spec.recipe import Recipe
from harness.spec.spec import Data, MethodSpec, Seeds
from results.record import Run

Make = Callable[..., PlannedRun]
ROWS = Data(title="sample", kind="sample", sha256="ab" * 32, verified=True, rows=1000)
LORA = MethodSpec(name="lora", label="lora", fields={"r": 8}, source="a")
DORA = MethodSpec(name="dora", label="dora", fields={"r": 8}, source="b")
BASE = MethodSpec(name="base", label="base", fields={}, source="c")


@pytest.fixture
def make(planned: Make) -> Make:
    def one(**changes: Any) -> PlannedRun:
        seed = changes.pop("seed", 1)
        facts = {"method": LORA, "train_data": ROWS, "tests": {"gsm8k": ROWS}, **changes}
        return planned(seeds=Seeds(init=seed, order=seed, split=seed), **facts)

    return one


def took(run: PlannedRun, memory: int = 100, **seconds: float) -> Run:
    """Make the record of a planned run that finished after so many seconds of each phase."""
    spec, head = run.spec, run.head
    return Run(
        run_id=spec.run_id,
        status="finished",
        reason="",
        started=datetime(2026, 11, 22, tzinfo=UTC),
        seconds=seconds,
        group=spec.group,
        method=spec.method.label,
        backbone=spec.backbone.name,
        seed=spec.seeds.init,
        fold=None,
        marks=(),
        flags=(),
        setting=head.setting,
        recipe=head.recipe,
        series=head.series,
        protocol=head.protocol,
        spec=spec.model_dump(mode="json"),
        provenance={},
        environment={"device": "a card"},
        environment_id="",
        trainable_parameters=0,
        total_parameters=0,
        adapter_bytes=8 if "train" in seconds else 0,
        peak_memory_bytes=memory,
        train_tokens_per_second=0.0,
        folder="",
        scores=(),
    )


def test_runs_that_differ_in_seed_rate_or_source_give_the_range(make: Make) -> None:
    past = [
        took(make(seed=2), memory=70, wall=10.0, train=6.0),
        took(make(train=Recipe(lr=0.5)), memory=90, wall=14.0, train=9.0),
        took(make(method=LORA.model_copy(update={"source": "z"})), wall=12.0, train=7.0),
        took(make(train=Recipe(epochs=9)), memory=999, wall=99.0, train=90.0),
    ]
    found = History(past).estimate(make())
    assert found == Estimate(10.0, 14.0, 100, frozenset({"a card"}))


def test_others_of_the_backbone_and_group_are_scaled_by_their_rows(make: Make) -> None:
    past = [took(make(limit=100, train_limit=200), wall=17.0, train=10.0, generate=4.0)]
    # 3 s of loading; 600 instead of 200 rows trained on, 50 instead of 100 tested on.
    asked = make(method=DORA, limit=50, train_limit=600)
    assert History(past).estimate(asked) == Estimate(35.0, 35.0, None, frozenset({"a card"}))


def test_a_method_that_does_not_train_is_not_charged_for_training(make: Make) -> None:
    past = [took(make(limit=100), wall=17.0, train=10.0, generate=4.0)]
    found = History(past).estimate(make(method=BASE, limit=100))
    assert found == Estimate(7.0, 7.0, None, frozenset({"a card"}))


def test_runs_that_tell_nothing_are_left_out(make: Make) -> None:
    resumed = replace(took(make(), wall=1.0), adapter_bytes=8)
    base = took(make(method=BASE), wall=3.0)
    elsewhere = took(make(group="commonsense"), wall=5.0, train=1.0)
    coarse = took(make(weights="bfloat16"), wall=5.0, train=1.0)
    assert History([resumed, base, elsewhere, coarse]).estimate(make()) is None
    assert History([]).estimate(make()) is None
