"""What an optimizer step costs with the rows of the step in one sequence.

Rows have the lengths of real ones where `HARNESS_DATA` names them, a token for four characters, and
those of samples elsewhere. The plain loop takes batches of two rows in the order in which they are
drawn; the harness sorts the rows of a step by length first.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from benchmarks.ratios import Ratio, device, ratios
from harness import plugins, protocols
from harness.spec.recipe import Recipe
from harness.worker.encode import Example
from harness.worker.training.batches import Training
from harness.worker.training.engine import Engine
from harness.worker.training.extras import Extras
from harness.worker.training.loop import Loop, optimizer
from tasks.data.sets import load_test

CHARACTERS, STEPS, ROUNDS = 4, 4, 5
VOCABULARY = 1024
WIDTHS = {"as `tiny`, 0.9 M": (128, 5, 4, 2), "width 512, 24 M": (512, 8, 8, 4)}
"""Width, layers, heads and key heads of Llamas."""

SMALL, LARGE = WIDTHS
CASES = (
    (SMALL, "gsm8k", "lora"),
    (SMALL, "gsm8k", "dypam"),
    (SMALL, "siqa", "lora"),
    (LARGE, "gsm8k", "lora"),
)
"""Shape, benchmark and method."""


def report() -> None:
    """Print a step of the harness, padded and packed, relative to the plain loop."""
    folder = os.environ.get("HARNESS_DATA")
    print(
        f"Optimizer steps of 4 rows, {'real' if folder else 'sample'} rows; the plain loop = 1:\n"
    )
    print("| shape | rows | method | padded | packed |\n| :--- | :--- | :--- | ---: | ---: |")
    for shape, benchmark, method in CASES:
        found = measured(shape, method, lengths(benchmark, folder))
        print(f"| {shape} | {benchmark} | {method} | {found['padded']} | {found['packed']} |")


def lengths(benchmark: str, folder: str | None) -> list[int]:
    """Return the tokens of the rows of a benchmark, prompt and answer."""
    loaded = load_test(benchmark, plugins.benchmark(benchmark), Path(folder) if folder else None)
    protocol = protocols.resolve("paper", "math", {}, None)
    return [len("".join(protocol.teach(row))) // CHARACTERS for row in loaded.rows]


def measured(shape: str, method: str, rows: Sequence[int]) -> dict[str, Ratio]:
    """Compare the three ways over the same rows."""
    draw = torch.Generator().manual_seed(0)
    examples = [
        Example(torch.randint(3, VOCABULARY, (size,), generator=draw).tolist(), 1) for size in rows
    ]
    plans = {
        packed: Training(examples, [], Recipe(packed=packed), order_seed=0, pad=0)
        for packed in (False, True)
    }
    model = adapted(shape, method)
    padded, packed = (first_steps(plans[one]) for one in (False, True))
    ways = {
        "plain": steps(model, plans[False], [as_drawn(one) for one in padded]),
        "padded": steps(model, plans[False], padded),
        "packed": steps(model, plans[True], packed),
    }
    return ratios(ways, "plain", ROUNDS)


def first_steps(plan: Training) -> list[list[list[Example]]]:
    """Draw the rows of the first steps, in their passes."""
    drawn = plan.batches()
    return [next(drawn) for _ in range(STEPS)]


def as_drawn(step: list[list[Example]]) -> list[list[Example]]:
    """Put the rows of a step into batches of two without sorting them."""
    rows = [row for one in step for row in one]
    Random(0).shuffle(rows)
    return [rows[:2], rows[2:]]


def adapted(shape: str, method: str) -> Any:
    """Put a method on a Llama with random weights."""
    width, layers, heads, key_heads = WIDTHS[shape]
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=width,
        intermediate_size=width * 11 // 4,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=key_heads,
        vocab_size=VOCABULARY,
        tie_word_embeddings=True,
    )
    plugin = plugins.method(method)
    model: Any = LlamaForCausalLM(config)
    return plugin.adapt(model.to(device()), plugin.configure())


def steps(model: Any, plan: Training, passes: Sequence[Any]) -> Callable[[], object]:
    """Return the optimizer steps over given rows."""
    engine = Engine(plan.recipe, ())
    wrapped = engine.prepare(model, optimizer(model, plan.recipe)).train()
    loop = Loop(model, wrapped, engine, plan, Extras())

    def take() -> None:
        for rows in passes:
            loop.step(1, rows)

    return take
