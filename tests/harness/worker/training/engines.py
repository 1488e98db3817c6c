"""Trains methods by several engines, in processes of their own, since DeepSpeed leaves traces.

`python -m tests.harness.worker.training.engines FOLDER PRECISION ENGINE,... METHOD...` writes the
events of each training to FOLDER/ENGINE/METHOD.jsonl, beside it as JSON what the hooks recorded,
and the adapter of each rank. METHOD+packed is METHOD on packed rows. An engine is `torch`, or
`zero` with a stage; with `x2` two processes train.
"""

import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import torch

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
from harness.worker.ranks import ALONE, Rank, together
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


def recipe_of(engine: str, **fields: Any) -> Recipe:
    """Say what the name of an engine stands for."""
    kind, _, processes = engine.partition("x")
    zero = int(kind.removeprefix("zero")) if kind != "torch" else 1
    return Recipe(
        engine="torch" if kind == "torch" else "deepspeed",
        zero=zero,
        processes=int(processes or 1),
        lr=RATE,
        **fields,
    )


def train(folder: Path, engine: str, precision: Any, name: str, rank: Rank = ALONE) -> Any:
    """Train a method by an engine, from the start that it has under the others."""
    spec = described(name.removesuffix(PACKED))
    recipe = recipe_of(engine, epochs=3, packed=name.endswith(PACKED))
    adapter = precision if recipe.engine == "deepspeed" else "float32"
    plan = Training(*hold_out(ROWS, 2, 3), recipe, SEEDS.order, 0, "all", adapter, rank=rank)
    model, method = model_of(spec, precision, adapter), plugins.method(spec.name)
    torch.manual_seed(0)
    place = folder / engine / str(rank.number or "")
    place.mkdir(parents=True, exist_ok=True)
    with Journal(place / f"{name}.jsonl") as journal, determinism.strict():
        added = extras(method, method.layer_selection(spec.fields), model, plan, seed=0)
        fit(model, plan, journal, added)
    if precision == "float32":
        method.save(model, str(place / name), "model")
    kept = [hook.record() for hook in added.hooks]
    (place / f"{name}.json").write_text(json.dumps(kept))
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


def apart(work: Callable[..., None], *arguments: Any) -> None:
    """Do work in a process of its own, which has the imports done."""
    if child := os.fork():
        assert os.waitpid(child, 0)[1] == 0
        return
    status = 1
    try:
        work(*arguments)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def by(engine: str, folder: Path, precision: str, name: str) -> None:
    """Train a method by an engine, in as many processes as it has."""

    def work(rank: Rank) -> None:
        train(folder, engine, precision, name, rank)

    processes = recipe_of(engine).processes
    with together(processes, work, print) as own:
        work(own)
        # The block ends the others, which may still be writing.
        written = [folder / engine / str(n) / f"{name}.json" for n in range(1, processes)]
        while not all(file.exists() for file in written):
            time.sleep(0.01)


if __name__ == "__main__":
    place, chosen, engines, *names = sys.argv[1:]
    determinism.ask()
    if "zero" in engines:
        import deepspeed  # noqa: F401 (seconds, which the processes need not spend)
    for engine, name in product(engines.split(","), names):
        apart(by, engine, Path(place), chosen, name)
    if chosen == "bfloat16":
        witness(Path(place))
