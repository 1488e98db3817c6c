"""What share of tokens the way of decoding moves in bfloat16, against one prompt at a time.

Sums in another order round otherwise. Where two tokens are nearly as likely, the other one then
wins, and all tokens after it differ.
"""

from itertools import zip_longest
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from benchmarks.ratios import device
from harness import plugins
from harness.backbones import TINY
from harness.protocols import paper
from harness.spec.recipe import USUAL_BATCHES, BatchPlan
from harness.worker import encode
from harness.worker.decoding import slots
from harness.worker.decoding.decode import Answer, generate
from tasks.data.sets import load_test

BENCHMARKS = ("gsm8k", "svamp", "aqua", "mawps")
ROWS = 15
"""Of each benchmark."""

Written = list[list[int]]
"""The tokens of each answer."""


def report() -> None:
    """Print the share of tokens and of answers that slots and rounds move, in both precisions."""
    tokenizer = AutoTokenizer.from_pretrained(TINY)
    prompts = [
        prompt
        for name in BENCHMARKS
        for prompt in encode.prompt_ids(
            load_test(name, plugins.benchmark(name), None).rows[:ROWS], tokenizer, paper.protocol
        )
    ]
    print(f"Answers of `tiny` to {len(prompts)} prompts of math samples, against one at a time:\n")
    print("| decoding | precision | tokens moved | answers moved |\n| :--- | :--- | ---: | ---: |")
    for precision in ("float32", "bfloat16"):
        model: Any = AutoModelForCausalLM.from_pretrained(TINY, dtype=getattr(torch, precision))
        model = model.to(device())
        alone = in_rounds(model, prompts, BatchPlan(batch_size=1))
        ways = {
            "slots": by_slots(model, prompts),
            "rounds": in_rounds(model, prompts, BatchPlan()),
        }
        for name, written in ways.items():
            tokens, answers = moved(alone, written)
            print(f"| {name} | {precision} | {tokens:.2%} | {answers:.1%} |", flush=True)


def in_rounds(model: Any, prompts: Written, plan: BatchPlan) -> Written:
    """Decode by `generate` in batches."""
    answers = [Answer(prompt, paper.protocol.max_new_tokens) for prompt in prompts]
    list(generate(model, answers, plan, paper.protocol, 0))
    return [answer.tokens for answer in answers]


def by_slots(model: Any, prompts: Written) -> Written:
    """Decode by slots."""
    answers = [Answer(prompt, paper.protocol.max_new_tokens) for prompt in prompts]
    for _ in slots.decode(model, [answers], USUAL_BATCHES.batch_size, 0):
        pass
    return [answer.tokens for answer in answers]


def moved(expected: Written, found: Written) -> tuple[float, float]:
    """Return the share of tokens that differ at their place, and that of answers with one."""
    differ = [
        [one != other for one, other in zip_longest(*pair)]
        for pair in zip(expected, found, strict=True)
    ]
    tokens = sum(map(sum, differ)) / sum(map(len, differ))
    return tokens, sum(map(any, differ)) / len(differ)
