"""`python -m benchmarks.gpu.one_method METHOD`: memory and time of a method at a real shape.

The weights are random. What it measured goes to standard output as JSON objects, one a line, of
which the last holds most.
"""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from benchmarks.gpu.kept import EXPECTED
from benchmarks.gpu.part import Row, judged
from harness import plugins, protocols
from harness.planning.footprint import simulation
from harness.planning.footprint.cards import visible_cards
from harness.planning.footprint.need import need
from harness.planning.footprint.parameters import shapes
from harness.planning.footprint.simulation import Setting
from harness.planning.footprint.speed import H200, Work
from harness.planning.methods import complete
from harness.planning.parse import parse_method
from harness.spec.planned import Need
from harness.spec.recipe import VALIDATION_ROWS, BatchPlan, Recipe
from harness.spec.spec import MethodSpec
from harness.worker.decoding.decode import Answer, generate
from harness.worker.encode import Example
from harness.worker.journal import Journal
from harness.worker.machine import determinism, device
from harness.worker.training.batches import Training
from harness.worker.training.extras import extras
from harness.worker.training.loop import fit
from methods.contract import Method, size
from methods.tuners.kept import keeping
from results.runfolder.events import read_new

SHAPE = "llama-3.2-3b"
PHASES = {"train": "training", "validate": "validation", "generate": "generation"}
"""Of the journal, and of the model of memory."""
TOLERANCE = 0.25
RECIPE = Recipe.model_validate({"epochs": 1, "validations_per_epoch": 1})

Meter = Callable[[], Mapping[str, int]]


@dataclass(frozen=True)
class Place:
    """A device, and the precision of the frozen weights on it."""

    device: str
    weights: torch.dtype

    def random(self, config: Any) -> Any:
        """Make a model with random weights there."""
        with torch.device(self.device):
            return AutoModelForCausalLM.from_config(config, dtype=self.weights)


@dataclass(frozen=True)
class Sizes:
    """How much is trained and generated.

    Attributes:
        steps: Optimizer steps, of two batches each as the recipe has them.
        tokens: Of each row.
        prompts: Rows of the one batch that is decoded.
        prompt: Tokens of each.
        new: Tokens that each is given.
    """

    steps: int = 3
    tokens: int = 512
    prompts: int = 32
    prompt: int = 128
    new: int = 64

    def setting(self, weights: torch.dtype) -> Setting:
        """Say it as the model of memory does."""
        return Setting(
            weights=weights,
            rows=RECIPE.batch_size,
            tokens=self.tokens,
            checkpointing=False,
            validated=(VALIDATION_ROWS, self.tokens),
            decoded=(self.prompts, self.prompt + self.new),
        )


def measure(method: MethodSpec, config: Any, sizes: Sizes, place: Place, meter: Meter) -> Row:
    """Put a method on random weights, train and generate.

    Args:
        method: With all its fields.
        config: Of the model.
        sizes: How much is trained and generated.
        place: Where the weights are made, and in which precision.
        meter: Gives the most memory since the last call; see `harness.worker.machine.device`.

    Raises:
        torch.OutOfMemoryError: It does not fit.
    """
    plugin = plugins.method(method.name)
    torch.manual_seed(0)
    with TemporaryDirectory() as folder, Journal(Path(folder) / "events", meter) as journal:
        with journal.phase("load"):
            base = place.random(config)
        with journal.phase("adapt"):
            model = plugin.adapt(base, plugin.configure(**method.fields))
        _train(plugin, model, sizes, journal)
        with keeping(model, plugin):
            written = _generate(model, sizes, journal)
        events, _ = read_new(Path(folder) / "events", 0)
    times = [event.time for event in events if event.loss is not None]
    peaks = {PHASES[name]: peak for name, peak in journal.peak_memory.items() if name in PHASES}
    return {
        "trained, M": size(model).trainable / 1e6,
        "adapt, s": journal.seconds["adapt"],
        # The first step sets up what the others find.
        "step, s": (times[-1] - times[0]) / (sizes.steps - 1),
        "tokens/s": written / journal.seconds["generate"],
        **{f"{phase}, GB": peak["allocated"] / 1e9 for phase, peak in peaks.items()},
    }


def _train(method: Method, model: Any, sizes: Sizes, journal: Journal) -> None:
    words = model.config.vocab_size
    count = sizes.steps * RECIPE.batch_size * RECIPE.accumulation_steps + VALIDATION_ROWS
    ids = torch.randint(words, (count, sizes.tokens)).tolist()
    rows = [Example(one, prompt_tokens=1) for one in ids]
    training = Training(rows[VALIDATION_ROWS:], rows[:VALIDATION_ROWS], RECIPE, 0, pad=0)
    with journal.phase("train"), determinism.strict():
        selection = method.layer_selection({})
        added = extras(method, selection, model, training, seed=0)
        fit(model, training, journal, added, partial(keeping, model, method))


def _generate(model: Any, sizes: Sizes, journal: Journal) -> int:
    """Decode a batch; return how many tokens were written."""
    words = model.config.vocab_size
    prompts = torch.randint(words, (sizes.prompts, sizes.prompt)).tolist()
    protocol = protocols.load("paper").model_copy(update={"max_new_tokens": sizes.new})
    plan = BatchPlan(batch_size=sizes.prompts, round_tokens=sizes.new)
    with journal.phase("generate"):
        answers = [Answer(prompt, sizes.new) for prompt in prompts]
        list(generate(model, answers, plan, protocol, 0))
    return sum(len(answer.tokens) for answer in answers)


def against(row: Row, expected: Need) -> Row:
    """Set the memory of each phase against what the model of memory expects, as a ratio."""
    found = {
        f"{phase}, of model": row[f"{phase}, GB"] * 1e9 / getattr(expected, phase)
        for phase in PHASES.values()
        if f"{phase}, GB" in row
    }
    far = [f"{name} {value:.2f}" for name, value in found.items() if abs(value - 1) > TOLERANCE]
    return {**row, **found, "outcome": judged(not far, "; ".join(far))}


def main(text: str) -> None:
    """Measure a method at the shape on the first card, and print its row."""
    (config,) = shapes(SHAPE).values()
    method, sizes, place = complete(parse_method(text)), Sizes(), Place("cuda", torch.bfloat16)
    determinism.ask()
    try:
        row = measure(method, config, sizes, place, device.meter)
    except torch.OutOfMemoryError:
        row = {}
    # What was measured is said before anything else can go wrong.
    print(json.dumps(row), flush=True)
    simulated = simulation.measure(method, config, sizes.setting(place.weights))
    expected = need(simulated)
    found = {**against(row, expected), **_timed(row, simulated.work)} if row else _misfit(expected)
    print(json.dumps(found))


def _timed(row: Row, work: Work) -> Row:
    """Set the time of a step against what an H200 takes at best."""
    return {"step, of an H200": row["step, s"] / (RECIPE.accumulation_steps * H200.seconds(work))}


def _misfit(expected: Need) -> Row:
    """Say that a method did not fit on the first card, and whether the model of memory knew."""
    (card, *_) = visible_cards()
    known = "" if card.holds(expected.peak) else f"{EXPECTED}: "
    return {"outcome": f"{known}out of memory; the model says {expected.peak / 1e9:.1f} GB"}


if __name__ == "__main__":
    main(sys.argv[1])
