"""What greedy decoding costs by slots, relative to one prompt at a time."""

import os
import random
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, GenerationConfig, LlamaConfig, LlamaForCausalLM

from benchmarks.ratios import Ratio, device, ratios
from harness import plugins
from harness.backbones import TINY
from harness.protocols import paper
from harness.spec.recipe import USUAL_BATCHES
from harness.worker import encode
from harness.worker.decoding import slots
from harness.worker.decoding.decode import Answer
from tasks.data.sets import load_test

# Two Llamas with the vocabulary of `tiny`: no weight matters to the time.
SMALL = {
    "hidden_size": 64,
    "intermediate_size": 172,
    "num_hidden_layers": 5,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
}
LARGE = {
    "hidden_size": 512,
    "intermediate_size": 1376,
    "num_hidden_layers": 8,
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
}
PROMPTS, SAMPLED = 100, 10
"""Prompts of a measurement, and one of how many is decoded alone, for the cost of them all."""

PAD, NEVER = 0, 10_000

Asked = tuple[list[int], int]
"""The tokens of a prompt, and how many the answer has."""


@dataclass(frozen=True)
class Work:
    """Prompts of benchmarks, and a model whose answers to them are as long as is drawn.

    Attributes:
        title: What a reader calls it.
        shape: Of the model, whose weights are random.
        benchmarks: That take equal shares of the prompts.
        least: Tokens of an answer.
        most: Likewise.
        rounds: Of the measurement.
    """

    title: str
    shape: dict[str, int]
    benchmarks: tuple[str, ...]
    least: int
    most: int
    rounds: int

    def ratio(self) -> Ratio:
        """Measure slots relative to one prompt at a time, for which one prompt in ten stands."""
        model, lists = self._model(), self._lists()
        every = [asked for one in lists for asked in one]
        sampled = sorted(every, key=lambda asked: len(asked[0]))[SAMPLED // 2 :: SAMPLED]
        share = sum(limit for _, limit in sampled) / sum(limit for _, limit in every)
        ways = {"alone": partial(_alone, model, sampled), "slots": partial(_slots, model, lists)}
        found = ratios(ways, "alone", self.rounds)["slots"]
        return Ratio(found.median * share, found.least * share, found.most * share)

    def _model(self) -> Any:
        torch.manual_seed(0)
        model: Any = LlamaForCausalLM(LlamaConfig(vocab_size=657, **self.shape))
        model.generation_config.eos_token_id = NEVER
        return model.to(device()).eval()

    def _lists(self) -> list[list[Asked]]:
        tokenizer, rng = AutoTokenizer.from_pretrained(TINY), random.Random(0)
        folder = Path(os.environ["HARNESS_DATA"]) if "HARNESS_DATA" in os.environ else None
        count = PROMPTS // len(self.benchmarks)
        lists = []
        for name in self.benchmarks:
            rows = load_test(name, plugins.benchmark(name), folder).rows
            drawn = rng.choices(rows, k=count)
            prompts = encode.prompt_ids(drawn, tokenizer, paper.protocol)
            lists.append([(prompt, rng.randint(self.least, self.most)) for prompt in prompts])
        return lists


MATH = ("multiarith", "gsm8k", "svamp", "addsub")
WORKS = (
    Work("80 to 240 tokens, 260 k weights", SMALL, MATH, 80, 240, 5),
    Work("6 to 20 tokens, ARC-Easy, 260 k weights", SMALL, ("arc_easy",), 6, 20, 5),
    Work("6 to 20 tokens, BoolQ, 260 k weights", SMALL, ("boolq",), 6, 20, 5),
    Work("6 to 20 tokens, ARC-Easy, 25 M weights", LARGE, ("arc_easy",), 6, 20, 3),
    Work("6 to 20 tokens, BoolQ, 25 M weights", LARGE, ("boolq",), 6, 20, 3),
    Work("80 to 240 tokens, 25 M weights", LARGE, MATH, 80, 240, 3),
)


def report() -> None:
    """Print a row for each work, as soon as it is measured."""
    data = "published rows" if "HARNESS_DATA" in os.environ else "samples"
    print(f"Greedy decoding by slots of {PROMPTS} prompts ({data}); one at a time = 1:\n")
    print("| answers | slots |\n| :--- | ---: |")
    for work in WORKS:
        print(f"| {work.title} | {work.ratio()} |", flush=True)


@torch.inference_mode()
def _alone(model: Any, asked: list[Asked]) -> None:
    for prompt, limit in asked:
        ids = torch.tensor([prompt], device=model.device)
        config = GenerationConfig(
            max_new_tokens=limit, do_sample=False, pad_token_id=PAD, eos_token_id=NEVER
        )
        model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), generation_config=config)


def _slots(model: Any, lists: list[list[Asked]]) -> None:
    answers = [[Answer(prompt, limit) for prompt, limit in one] for one in lists]
    for _ in slots.decode(model, answers, USUAL_BATCHES.batch_size, PAD):
        pass
