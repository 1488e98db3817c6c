"""transformers' Trainer with a method's auxiliary loss and hooks, against a loop by hand."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.utils.data import IterableDataset
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

from harness import plugins
from harness.backbones import TINY
from methods.contract import Method
from methods.trainer import MethodTrainer
from methods.training.hooks import TrainingAhead
from methods.training.layer_selection import DynamicLayerSelection, LayerSelection

STEPS, ACCUMULATION, BATCH, CLIP, RATE = 4, 2, 2, 0.05, 0.01
ROWS = torch.randint(3, 600, (32, 9), generator=torch.Generator().manual_seed(3))

CASES: dict[str, tuple[Method, dict[str, Any]]] = {
    "auxiliary loss": (plugins.method("cascade"), {"K_dct": 200, "K_wav": 100, "lambda_bal": 5.0}),
    "auxiliary loss and hook after the step": (
        plugins.method("adalora"),
        {"init_r": 4, "target_r": 1, "tinit": 1, "tfinal": 1, "deltaT": 1},
    ),
    "layer selection": (
        replace(plugins.method("rosa"), dls=LayerSelection(ratio=0.3, interval=2)),
        {},
    ),
}

QUICK = "auxiliary loss and hook after the step"


class Rows(IterableDataset[dict[str, Tensor]]):
    """Rows in their order; every fourth scores but half of its tokens."""

    def __iter__(self) -> Iterator[dict[str, Tensor]]:
        for number, ids in enumerate(ROWS):
            labels = ids.clone()
            labels[: 5 * (number % 4 == 0)] = -100
            yield {"input_ids": ids, "labels": labels}


def adapt(method: Method, fields: dict[str, Any]) -> Any:
    torch.manual_seed(0)
    base = AutoModelForCausalLM.from_pretrained(TINY)
    model: Any = method.adapt(base, method.configure(**fields))
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data += 0.02 * torch.randn(parameter.shape)
    return model


def trained(model: PeftModel) -> Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters() if p.requires_grad])


def by_trainer(model: Any, folder: Path, kind: Any, **more: Any) -> Tensor:
    arguments = TrainingArguments(
        output_dir=str(folder),
        max_steps=STEPS,
        per_device_train_batch_size=BATCH,
        gradient_accumulation_steps=ACCUMULATION,
        max_grad_norm=CLIP,
        learning_rate=RATE,
        lr_scheduler_type="constant",
        optim="adamw_torch",
        use_cpu=True,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        seed=0,
    )
    kind(model=model, args=arguments, train_dataset=Rows(), **more).train()
    return trained(model)


def by_hand(model: Any, method: Method) -> Tensor:
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.0)
    plan = TrainingAhead(steps=STEPS, warmup_steps=0, seed=0)
    hooks = [method.hooks(model, plan)] if method.hooks else []
    if method.dls:
        hooks.append(DynamicLayerSelection(model, method.dls, plan))
    rows = iter(Rows())
    model.train()
    for step in range(1, STEPS + 1):
        batches = [[next(rows) for _ in range(BATCH)] for _ in range(ACCUMULATION)]
        tokens = sum(int((r["labels"][1:] != -100).sum()) for batch in batches for r in batch)
        for hook in hooks:
            hook.before_forward(step)
        for batch in batches:
            ids, labels = (torch.stack([r[k] for r in batch]) for k in ("input_ids", "labels"))
            logits = model(input_ids=ids).logits[:, :-1].flatten(0, 1)
            loss = cross_entropy(logits, labels[:, 1:].flatten(), reduction="sum") / tokens
            if method.auxiliary_loss:
                loss = loss + method.auxiliary_loss(model) / ACCUMULATION
            loss.backward()
        for hook in hooks:
            hook.after_backward(step)
        torch.nn.utils.clip_grad_norm_(parameters, CLIP)
        optimizer.step()
        for hook in hooks:
            hook.after_step(step)
        optimizer.zero_grad()
    return trained(model)


@pytest.mark.parametrize(
    ("method", "fields"),
    [
        pytest.param(*case, id=name, marks=() if name == QUICK else pytest.mark.parts)
        for name, case in CASES.items()
    ],
)
def test_the_trainer_trains_what_a_loop_by_hand_trains_and_the_plain_one_does_not(
    method: Method, fields: dict[str, Any], tmp_path: Path
) -> None:
    found = by_trainer(adapt(method, fields), tmp_path, MethodTrainer, method=method)
    expected = by_hand(adapt(method, fields), method)
    # Adam divides by the gradient's size, so that rounding of a small gradient is not small.
    assert (found - expected).abs().max() < 1e-5
    plain = by_trainer(adapt(method, fields), tmp_path, Trainer)
    assert (found - plain).abs().max() > 1e-3


def test_the_evaluation_loss_is_that_of_the_task(tmp_path: Path) -> None:
    method, fields = CASES[QUICK]
    model = adapt(method, fields)
    arguments = TrainingArguments(
        output_dir=str(tmp_path), use_cpu=True, report_to=[], disable_tqdm=True
    )
    trainer = MethodTrainer(model=model, args=arguments, method=method)
    found = trainer.evaluate([{"input_ids": ids, "labels": ids} for ids in ROWS[:4]])["eval_loss"]
    with torch.no_grad():
        logits = model.eval()(input_ids=ROWS[:4]).logits[:, :-1].flatten(0, 1)
    assert found == pytest.approx(cross_entropy(logits, ROWS[:4, 1:].flatten()).item(), rel=1e-5)


def test_a_training_that_hides_the_gradients_from_the_hooks_is_refused(tmp_path: Path) -> None:
    method = plugins.method("adalora")
    model = adapt(method, {"init_r": 4, "target_r": 2})
    arguments = TrainingArguments(output_dir=str(tmp_path), use_cpu=True, report_to=[])
    arguments.fp16 = True  # its constructor asks for an accelerator
    with pytest.raises(ValueError, match="AdaLoRA acts on the gradients"):
        MethodTrainer(model=model, args=arguments, method=method)
