"""The embedded backbone is what its script makes, and has something to adapt."""

import json
import re
from collections.abc import Callable
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from harness import plugins
from harness.backbones import TINY
from harness.backbones.tiny import corpus, train
from harness.protocols import paper
from harness.spec.recipe import BatchPlan
from harness.worker import encode
from harness.worker.decoding.decode import Answer, generate
from tasks.data.sets import load_test
from tasks.form import split_of


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return train.train_tokenizer()


def test_the_script_makes_the_tokenizer_that_is_shipped(
    tokenizer: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    tokenizer.save_pretrained(tmp_path)
    made, shipped = (json.loads((f / "tokenizer.json").read_text()) for f in (tmp_path, TINY))
    assert made == shipped


def test_the_script_makes_a_model_of_the_shape_that_is_shipped(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    made = train.untrained(tokenizer).state_dict()
    shipped = AutoModelForCausalLM.from_pretrained(TINY).state_dict()
    assert {n: w.shape for n, w in made.items()} == {n: w.shape for n, w in shipped.items()}


def test_two_trainings_make_the_same_weights(tokenizer: PreTrainedTokenizerFast) -> None:
    models = [train.untrained(tokenizer) for _ in range(2)]
    for model in models:
        batches = (block[:2] for block in train.blocks(tokenizer, train.STAGES[0]))
        train.fit(model, batches, steps=3, peak_lr=1e-3)
    weights = [torch.cat([p.flatten() for p in model.parameters()]) for model in models]
    assert torch.equal(*weights)
    assert not torch.equal(weights[0], train.untrained(tokenizer).lm_head.weight.flatten())


def test_the_weights_take_at_most_4_megabytes() -> None:
    assert (TINY / "model.safetensors").stat().st_size <= 4_000_000


def test_any_text_survives_the_tokenizer() -> None:
    tokenizer = AutoTokenizer.from_pretrained(TINY)
    for text in ("12.5 + 3 = 15.5", "Ünïcode, 数学 — and\ttabs\n\n", " outer "):
        ids = tokenizer(text)["input_ids"]
        assert ids[0] == tokenizer.bos_token_id
        assert tokenizer.decode(ids, skip_special_tokens=True) == text


def test_no_problem_of_its_training_text_uses_a_number_pair_of_a_test_set() -> None:
    documents = islice(corpus.documents(seed=1, solved_share=0.5), 2000)
    posed = [d for d in documents if d.startswith(("Problem", "Below")) and "Choices" not in d]
    assert len(posed) > 1000
    for text in posed:
        question = re.split(r"\nSolution|### Response", text.split("### Instruction:\n")[-1])[0]
        numbers = set(re.findall(r"\d+(?:\.\d+)?", question))
        assert all(split_of(pair) == "train" for pair in combinations(numbers, 2)), question


def test_the_bare_model_scores_at_most_15_percent_on_the_samples() -> None:
    tokenizer: Any = AutoTokenizer.from_pretrained(TINY)
    model = AutoModelForCausalLM.from_pretrained(TINY)
    judged = []
    for name in plugins.group("math").benchmarks:
        benchmark = plugins.benchmark(name)
        rows = load_test(name, benchmark, None).rows
        prompts = encode.prompt_ids(rows, tokenizer, paper.protocol)
        pad = encode.pad_token(tokenizer)
        answers = [Answer(prompt, paper.protocol.max_new_tokens) for prompt in prompts]
        list(generate(model, answers, BatchPlan(), paper.protocol, pad))
        texts = tokenizer.batch_decode([a.tokens for a in answers], skip_special_tokens=True)
        judged += [
            benchmark.judge(benchmark.extractors["llm-adapters"](text), row.answer)
            for row, text in zip(rows, texts, strict=True)
        ]
    right = sum(judged)
    assert right / len(judged) <= 0.15


@pytest.mark.parts
def test_lora_scores_at_least_50_percent_after_half_the_rows_of_the_samples_once(
    harness: Callable[..., Any], tmp_path: Path
) -> None:
    # A sixth of the default recipe, three passes over 1,000 rows, which takes too long here.
    grid = ("run", "--methods", "lora", "--tasks", "math", "--slots", "1")
    less = ("--set", "train.epochs=1", "--train-limit", "500")
    done = harness(tmp_path, *grid, *less)
    assert done.returncode == 0, done.stderr
    (entry,) = json.loads(harness(tmp_path, "history", "--json").stdout)
    assert entry["overall"]["value"] >= 0.5
