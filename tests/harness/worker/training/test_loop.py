import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from peft import PeftModel
from torch.utils._python_dispatch import TorchDispatchMode

from harness.spec.recipe import Recipe
from harness.spec.spec import Seeds
from harness.worker.encode import IGNORED, Example, collate
from harness.worker.journal import Journal
from harness.worker.training import objective
from harness.worker.training.batches import Training
from harness.worker.training.engine import Engine
from harness.worker.training.extras import Extras
from harness.worker.training.loop import Loop, Trained, fit, optimizer
from harness.worker.training.objective import validation_loss
from methods.conformance.models import VOCABULARY, build
from methods.lora import method
from tasks.data.splits import hold_out

SEEDS = Seeds(init=1, order=2, split=3)
PAD = 0


def rows(count: int) -> list[Example]:
    """Draw rows of 6 to 15 tokens, of which 4 are the prompt."""
    generator = torch.Generator().manual_seed(0)
    lengths = torch.randint(6, 16, (count,), generator=generator).tolist()
    draw = [torch.randint(3, VOCABULARY, (n,), generator=generator).tolist() for n in lengths]
    return [Example(ids, prompt_tokens=4) for ids in draw]


def training(count: int = 50, **fields: Any) -> Training:
    recipe = Recipe(**{"epochs": 1, "lr": 1e-2, **fields})
    train, validation = hold_out(rows(count), count // 10, SEEDS.split)
    return Training(train, validation, recipe, SEEDS.order, PAD)


def adapted() -> PeftModel:
    torch.manual_seed(0)
    return method.adapt(build("llama-gqa"), method.configure())


def fitted(plan: Training, folder: Path) -> tuple[PeftModel, list[dict[str, Any]], Trained]:
    model, events = adapted(), folder / "events.jsonl"
    with Journal(events) as journal:
        record = fit(model, plan, journal)
    return model, [json.loads(line) for line in events.read_text().splitlines()], record


def weights(model: PeftModel) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters() if p.requires_grad])


def test_the_loss_of_a_step_is_the_mean_over_all_its_tokens(tmp_path: Path) -> None:
    plan = training()
    batch = [example for part in next(plan.batches()) for example in part]
    total, count = 0.0, 0
    for example in batch:  # transformers' own loss, row by row, without padding
        ids = torch.tensor([example.ids])
        with torch.no_grad():
            total += float(adapted()(input_ids=ids, labels=ids).loss) * (len(example.ids) - 1)
        count += len(example.ids) - 1
    _, events, _ = fitted(plan, tmp_path)
    first = next(event for event in events if event.get("step") == 1)
    assert first["loss"] == pytest.approx(total / count, rel=1e-5)


@pytest.mark.parametrize(("batch_size", "accumulation_steps"), [(4, 1), (1, 4)])
def test_how_a_step_is_cut_into_batches_does_not_change_it(
    batch_size: int, accumulation_steps: int, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    two_by_two, _, _ = fitted(training(), tmp_path / "a")
    other = training(batch_size=batch_size, accumulation_steps=accumulation_steps)
    cut_otherwise, _, _ = fitted(other, tmp_path)
    torch.testing.assert_close(weights(two_by_two), weights(cut_otherwise), rtol=0, atol=2e-5)


def test_chained_epochs_show_every_row_as_often_as_there_are_epochs() -> None:
    plan = training(count=40, epochs=3)  # 36 rows to train on, 27 steps of 4
    seen = [example for step in plan.batches() for batch in step for example in batch]
    assert len(seen) == 3 * 36
    assert all(seen.count(example) == 3 for example in plan.train)


def test_the_order_of_rows_depends_on_its_seed_alone() -> None:
    def order(seeds: Seeds) -> list[list[list[Example]]]:
        train, validation = hold_out(rows(50), 5, seeds.split)
        return list(Training(train, validation, Recipe(), seeds.order, PAD).batches())

    assert order(SEEDS) == order(Seeds(init=9, order=2, split=3))
    assert order(SEEDS) != order(Seeds(init=1, order=9, split=3))


def test_the_adapter_of_the_lowest_validation_loss_is_kept(tmp_path: Path) -> None:
    plan = training(epochs=4, lr=0.5, validations_per_epoch=3)  # far too high a rate
    model, events, record = fitted(plan, tmp_path)
    losses = {e["step"]: e["validation_loss"] for e in events if "validation_loss" in e}
    assert losses[max(losses)] > min(losses.values()), "the rate was not high enough to tell"
    assert losses[record.best_step] == min(losses.values()) == record.best_validation_loss
    assert validation_loss(model, plan) == pytest.approx(min(losses.values()), rel=1e-6)


@pytest.mark.parametrize("tokens", [1, 40, 100_000])
def test_validation_takes_each_row_once_in_passes_of_at_most_so_many_tokens(
    tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, model = training(), adapted()
    expected = validation_loss(model, replace(plan, validation=list(reversed(plan.validation))))
    monkeypatch.setattr(objective, "VALIDATION_TOKENS", tokens)
    passes: list[torch.Size] = []
    model.register_forward_pre_hook(
        lambda module, given, named: passes.append(named["input_ids"].shape), with_kwargs=True
    )
    assert validation_loss(model, plan) == pytest.approx(expected, rel=1e-6)
    assert sum(rows for rows, _ in passes) == len(plan.validation)
    assert all(rows == 1 or rows * longest <= tokens for rows, longest in passes)


def test_the_rate_rises_to_its_peak_and_falls_to_zero_by_a_cosine(tmp_path: Path) -> None:
    plan = training(epochs=4, warmup_ratio=0.1, validations_per_epoch=1)  # 45 steps, 4 of warm-up
    _, events, _ = fitted(plan, tmp_path)
    rates = [event["lr"] for event in events if "lr" in event]
    assert len(rates) == plan.steps == 45
    assert rates[:4] == pytest.approx([0.0025, 0.005, 0.0075, 0.01])
    half_way = 4 + (45 - 4) / 2
    assert rates[round(half_way) - 1] == pytest.approx(0.005, rel=0.1)
    assert rates[-1] == pytest.approx(0, abs=1e-12)


def test_loss_on_answers_leaves_the_prompt_out() -> None:
    example = Example([5, 6, 7, 8, 9], prompt_tokens=3)
    assert collate([example], PAD, "answer")["labels"].tolist() == [[IGNORED] * 3 + [8, 9]]
    assert collate([example], PAD, "all")["labels"].tolist() == [[5, 6, 7, 8, 9]]


@given(
    lengths=st.lists(st.integers(2, 9), min_size=1, max_size=4),
    prompt=st.integers(0, 1),
    loss=st.sampled_from(["all", "answer"]),
)
def test_the_tokens_counted_before_the_pass_are_those_that_the_labels_score(
    lengths: list[int], prompt: int, loss: Any
) -> None:
    batch = [Example(list(range(3, 3 + length)), prompt * (length - 1)) for length in lengths]
    labels = collate(batch, PAD, loss)["labels"][:, 1:]  # a label is predicted from the left
    assert sum(example.scored(loss) for example in batch) == int((labels != IGNORED).sum())


class Reads(TorchDispatchMode):
    """Counts how often a tensor is read as a number."""

    count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += func is torch.ops.aten._local_scalar_dense.default
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("auxiliary_loss", [None, lambda model: next(model.parameters()).sum() * 0])
def test_a_step_reads_no_number_of_ours(auxiliary_loss: Any) -> None:
    for accumulation_steps in (1, 4):
        plan = training(batch_size=1, accumulation_steps=accumulation_steps)
        extras = Extras(auxiliary_loss=auxiliary_loss)
        model = adapted()
        engine = Engine(plan.recipe)
        wrapped = engine.prepare(model, optimizer(model, plan.recipe))
        with Reads() as reads:
            Loop(model, wrapped, engine, plan, extras).step(1, next(plan.batches()))
        # transformers looks whether a batch is padded; the optimizer reads the number of its step.
        trained = sum(p.requires_grad for p in model.parameters())
        assert reads.count - accumulation_steps == trained


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_step_waits_for_the_gpu_only_where_transformers_looks_for_padding() -> None:
    plan = training(batch_size=1, accumulation_steps=4)
    model = adapted().cuda()
    engine = Engine(plan.recipe)
    wrapped = engine.prepare(model, optimizer(model, plan.recipe))
    loop, steps = Loop(model, wrapped, engine, plan, Extras()), plan.batches()
    loop.step(1, next(steps))  # sets up the states of the optimizer
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as waits:
            warnings.simplefilter("always")
            loop.step(2, next(steps))
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert len(waits) <= 4


def test_speed_is_that_of_the_steps_without_the_set_up_of_the_engine(tmp_path: Path) -> None:
    with Journal(tmp_path / "events.jsonl") as journal, journal.phase("train"):
        fit(adapted(), training(), journal)
    assert journal.seconds["adapt"] > 0
    events = map(json.loads, (tmp_path / "events.jsonl").read_text().splitlines())
    phases = [event["phase"] for event in events if "phase" in event]
    assert phases[:3] == ["train", "adapt", "train"]


def test_on_a_cpu_the_optimizer_is_the_one_that_it_was() -> None:
    assert optimizer(adapted(), Recipe()).defaults["fused"] is None


def test_padding_is_masked_and_carries_no_loss() -> None:
    batch = collate([Example([5, 6, 7], 1), Example([8], 1)], PAD, "all")
    assert batch["input_ids"].tolist() == [[5, 6, 7], [8, PAD, PAD]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0]]
    assert batch["labels"].tolist() == [[5, 6, 7], [8, IGNORED, IGNORED]]


def stopped(patience: int, folder: Path) -> tuple[list[dict[str, Any]], Trained, Training]:
    # So high a rate that the loss falls to a lowest value and rises from there.
    plan = training(epochs=8, lr=0.5, validations_per_epoch=3, patience=patience)
    _, events, record = fitted(plan, folder)
    return events, record, plan


@pytest.mark.parametrize("patience", [1, 3])
def test_training_ends_after_as_many_validations_without_a_lower_loss_as_patience_says(
    patience: int, tmp_path: Path
) -> None:
    events, record, plan = stopped(patience, tmp_path)
    validated = [(e["step"], e["validation_loss"]) for e in events if "validation_loss" in e]
    losses = [loss for _, loss in validated]
    best = losses.index(min(losses))
    assert len(losses) == best + 1 + patience
    # It would have gone on, and was not ended before: each run of rises up to there is shorter.
    assert record.steps == validated[-1][0] < plan.steps
    lowest = [min(losses[: n + 1]) for n in range(len(losses))]
    assert all(lowest[n] < lowest[n - patience] for n in range(patience, len(losses) - 1))
    assert (record.best_step, record.best_validation_loss) == validated[best]
    assert max(e["step"] for e in events if "loss" in e) == record.steps


def test_without_patience_training_goes_on_to_its_last_step(tmp_path: Path) -> None:
    events, record, plan = stopped(0, tmp_path)
    losses = [e["validation_loss"] for e in events if "validation_loss" in e]
    assert len(losses) == 24
    assert losses.index(min(losses)) < 20, "the rate was not high enough to tell"
    assert record.steps == plan.steps
