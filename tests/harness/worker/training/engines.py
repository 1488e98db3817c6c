"""Trains methods by both engines, in a process of its own, since DeepSpeed leaves traces.

`python -m tests.harness.worker.training.engines FOLDER PRECISION METHOD...` writes the events of
each training to FOLDER/ENGINE/METHOD.jsonl, and beside it as JSON what the hooks recorded.
METHOD+packed is METHOD on packed rows.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch
from accelerate.state import AcceleratorState

from harness import plugins
from harness.planning.methods import complete
from harness.planning.parse import parse_method
from harness.spec.planned import PlannedRun
from harness.spec.recipe import Recipe
from harness.spec.spec import MethodSpec, Seeds
from harness.worker.encode import Example, collate
from harness.worker.journal import Journal
from harness.worker.machine import determinism
from harness.worker.model import adapted
from harness.worker.training.batches import Training
from harness.worker.training.extras import Extras, extras
from harness.worker.training.loop import fit
from harness.worker.training.objective import token_loss
from methods.conformance.models import build
from methods.training.hooks import StepHooks
from tasks.data.splits import hold_out
from tests.harness.conftest import make_spec

SEEDS = Seeds(init=1, order=2, split=3)
RATE = 3e-2
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
PACKED = "+packed"
ENGINES: Any = ("torch", "deepspeed")  # plain torch first

# Two tokens in turns, which every method can learn, in rows of 6 to 25 tokens.
ROWS = [Example([3 + 9 * (n % 2) for n in range(length)], 4) for length in range(6, 26)]


def described(name: str) -> MethodSpec:
    """Complete a method to the fields that fit a model of this size."""
    plugin = plugins.method(parse_method(name).name)
    small = ":small" if name.isidentifier() and "small" in plugin.variants else ""
    dls = '[dls={"interval":2}]' if plugin.dls else ""
    return complete(parse_method(name + small + dls))


def model_of(spec: MethodSpec, weights: Any, adapter: Any) -> Any:
    """Put the method on a small model, as a run does."""
    facts = make_spec(method=spec, weights=weights, adapter=adapter)
    planned = PlannedRun(spec=facts, backbone_place="", data_folder=None)
    base = build("llama-gqa").to(DEVICE, getattr(torch, weights))
    return adapted(planned, base, None)


def train(folder: Path, engine: Any, precision: Any, name: str) -> Any:
    """Train a method by an engine, from the start that it has under the other."""
    (folder / engine).mkdir(parents=True, exist_ok=True)
    spec = described(name.removesuffix(PACKED))
    recipe = Recipe(epochs=3, engine=engine, lr=RATE, packed=name.endswith(PACKED))
    adapter = precision if engine == "deepspeed" else "float32"
    plan = Training(*hold_out(ROWS, 2, 3), recipe, SEEDS.order, 0, "all", adapter)
    model, method = model_of(spec, precision, adapter), plugins.method(spec.name)
    torch.manual_seed(0)
    with Journal(folder / engine / f"{name}.jsonl") as journal, determinism.strict():
        added = extras(method, method.layer_selection(spec.fields), model, plan, seed=0)
        fit(model, plan, journal, added)
    # Accelerate sets up its engine once a process.
    AcceleratorState._reset_state(reset_partial_state=True)
    kept = [hook.record() for hook in added.hooks]
    (folder / engine / f"{name}.json").write_text(json.dumps(kept))
    return model


class Witness(StepHooks):
    """Keeps the gradients of the first step."""

    def __init__(self, model: Any) -> None:
        self.trained = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self.seen: dict[str, Any] = {}

    def after_backward(self, step: int) -> None:
        if not self.seen:
            self.seen = {name: p.grad.clone() for name, p in self.trained.items()}


def witness(folder: Path) -> None:
    """Write how often DeepSpeed was asked for a gradient, and how far it is from its sum by hand.

    By hand: the batches' gradients, each in bfloat16 as torch gives them, added up in float32.
    """
    import deepspeed.utils  # noqa: PLC0415 (after plain torch)

    fetched: list[int] = []
    fetch = deepspeed.utils.safe_get_full_grad
    deepspeed.utils.safe_get_full_grad = lambda p: (fetched.append(id(p)), fetch(p))[1]
    spec = described("lora")
    recipe = Recipe(epochs=1, engine="deepspeed", batch_size=1, accumulation_steps=4, lr=RATE)
    plan = Training(*hold_out(ROWS, 2, 3), recipe, SEEDS.order, 0, "all", "bfloat16")
    model = model_of(spec, "bfloat16", "bfloat16").train()
    watching, sums = Witness(model), dict[str, Any]()
    batches = next(plan.batches())
    scored = sum(len(example.ids) - 1 for batch in batches for example in batch)
    for (example,) in batches:
        (token_loss(model, collate([example], 0, "all")) / scored).backward()
        for name, parameter in watching.trained.items():
            sums[name] = sums.get(name, 0) + parameter.grad.float()
            parameter.grad = None
    with Journal(folder / "witness.jsonl") as journal:
        fit(model, plan, journal, Extras([watching]))
    largest = max(float(one.abs().max()) for one in sums.values())
    far = max(float((watching.seen[name] - one).abs().max()) for name, one in sums.items())
    found = {
        "dtypes": sorted({str(one.dtype) for one in watching.seen.values()}),
        "distance": far / largest,
        "fetches": len(fetched),
        "parameters": len(watching.trained),
        "steps": plan.steps,
    }
    (folder / "witness.json").write_text(json.dumps(found))


if __name__ == "__main__":
    place, chosen, *names = sys.argv[1:]
    determinism.ask()
    for engine in ENGINES:
        for name in names:
            train(Path(place), engine, chosen, name)
    if chosen == "bfloat16":
        witness(Path(place))
