"""What options of a prompt cost as branches of one sequence, alone and beside an answer."""

import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from benchmarks.ratios import Work, device, ratios
from harness import plugins
from harness.backbones import TINY
from harness.protocols import paper
from harness.spec.recipe import BatchPlan
from harness.worker import encode
from harness.worker.decoding import branches, slots
from harness.worker.decoding.decode import Answer, generate
from harness.worker.decoding.likelihood import likelihoods
from tasks.contract import Row

SHAPES = {
    "260 thousand": ({"hidden_size": 64, "intermediate_size": 172, "num_hidden_layers": 5}, 60),
    "25 million": ({"hidden_size": 384, "intermediate_size": 1280, "num_hidden_layers": 11}, 20),
}
"""Shapes of models by their parameters, and how many prompts each reads."""

PAD, TOKENS, LIMIT, ROUNDS = 0, 2048, 20, 5
FILES = {"arc_challenge": "qa/ARC-Challenge/test.json", "obqa": "qa/openbookqa/test.json"}


def report() -> None:
    """Print both for two sizes of model, relative to full texts, and to one after the other."""
    if not os.environ.get("HARNESS_DATA"):
        print("Options are not measured: set HARNESS_DATA to where ARC-Challenge and OBQA are.")
        return
    print("Options of ARC-Challenge and OBQA, four each; random weights:\n")
    print("| parameters | work | ratio (range) |\n| :--- | :--- | ---: |")
    for name, (shape, count) in SHAPES.items():
        model, answers = _model(shape), _answers(count)
        alone = {"full texts": _texts(model, answers), "branches": _branches(model, answers)}
        together = {"apart": _apart(model, answers), "together": _together(model, answers)}
        print(f"| {name} | options | {ratios(alone, 'full texts', ROUNDS)['branches']} |")
        found = ratios(together, "apart", ROUNDS)["together"]
        print(f"| {name} | answer and options together | {found} |", flush=True)


def _model(shape: dict[str, int]) -> Any:
    """Build a model that ends an answer at one token of 13."""
    torch.manual_seed(0)
    vocabulary = len(AutoTokenizer.from_pretrained(TINY))
    heads = {"num_attention_heads": 8, "num_key_value_heads": 4}
    config = LlamaConfig(vocab_size=vocabulary, max_position_embeddings=1024, **heads, **shape)
    model: Any = LlamaForCausalLM(config).to(device()).eval()
    model.generation_config.eos_token_id = list(range(0, vocabulary, 13))
    return model


def _answers(count: int) -> list[Answer]:
    """Encode prompts with their options, half of them of each benchmark."""
    tokenizer = AutoTokenizer.from_pretrained(TINY)
    return [one for name in FILES for one in _of_median_length(name, tokenizer, count // 2)]


def _of_median_length(name: str, tokenizer: Any, count: int) -> list[Answer]:
    """Take prompts of nearly one length, as in the passes over all that a benchmark has."""
    rows = json.loads(Path(os.environ["HARNESS_DATA"], FILES[name]).read_text())
    found = [_answer(name, Row(id=place, **one), tokenizer) for place, one in enumerate(rows)]
    four = [one for one in found if len(one.options) == len("ABCD")]
    start = (len(four) - count) // 2
    return sorted(four, key=lambda one: len(one.prompt))[start : start + count]


def _answer(name: str, row: Row, tokenizer: Any) -> Answer:
    offer: Any = plugins.benchmark(name).options
    (prompt,) = encode.prompt_ids([row], tokenizer, paper.protocol)
    golds, texts = zip(*offer(row).items(), strict=True)
    ids = tokenizer(list(texts), add_special_tokens=False)["input_ids"]
    return Answer(prompt, LIMIT, dict(zip(golds, ids, strict=True)))


def _texts(model: Any, answers: Sequence[Answer]) -> Work:
    texts = [
        encode.Example([*answer.prompt, *option], len(answer.prompt))
        for answer in answers
        for option in answer.options.values()
    ]
    return lambda: list(likelihoods(model, texts, PAD, TOKENS))


def _branches(model: Any, answers: Sequence[Answer]) -> Work:
    def work() -> None:
        fresh = [Answer(one.prompt, one.limit, one.options) for one in answers]
        list(branches.read_and_score(model, fresh, PAD))

    return work


def _apart(model: Any, answers: Sequence[Answer]) -> Work:
    protocol = paper.protocol.model_copy(update={"max_new_tokens": LIMIT})
    texts = _texts(model, answers)

    def work() -> None:
        fresh = [Answer(one.prompt, LIMIT) for one in answers]
        list(generate(model, fresh, BatchPlan(), protocol, PAD))
        texts()

    return work


def _together(model: Any, answers: Sequence[Answer]) -> Work:
    def work() -> None:
        fresh = [Answer(one.prompt, one.limit, one.options) for one in answers]
        score = partial(branches.score, model, pad=PAD)
        list(slots.decode(model, [fresh], BatchPlan().batch_size, PAD, score))

    return work
