"""Train `tiny` from nothing: `python -m harness.backbones.tiny.train [FOLDER]`.

A Llama of 914,944 parameters with grouped-query attention, and a byte-level BPE of 657 tokens that
splits numbers into digits. Seeds, data and the time it took: harness/README.md.
"""

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from harness.backbones.tiny.corpus import documents

SEED = 2026
BATCH = 32
BLOCK = 256


@dataclass(frozen=True)
class Stage:
    """A stretch of training: steps, peak rate, and how many instructions are solved."""

    steps: int
    lr: float
    solved_share: float
    seed: int


# First often enough to learn the form; then so rarely that telling the story is the default.
STAGES = (
    Stage(steps=2500, lr=4e-3, solved_share=0.1, seed=random.Random(SEED).randrange(2**32)),
    Stage(steps=300, lr=1e-3, solved_share=0.02, seed=SEED + 1),
)

FOLDER = Path(__file__).parent / "model"


def train_tokenizer() -> PreTrainedTokenizerFast:
    """Learn the vocabulary from 20,000 documents, whose words yield 657 of at most 768 tokens."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=768,
        special_tokens=["<s>", "</s>", "<pad>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(islice(documents(SEED, STAGES[0].solved_share), 20_000), trainer)
    bpe.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", 0)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        model_max_length=2048,
        clean_up_tokenization_spaces=False,
    )


def untrained(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Build the model with its random start."""
    torch.manual_seed(SEED)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=304,
        num_hidden_layers=5,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config)


def blocks(tokenizer: PreTrainedTokenizerFast, stage: Stage) -> Iterator[Tensor]:
    """Pack documents into batches of shape (BATCH, BLOCK)."""
    source = documents(stage.seed, stage.solved_share)
    stream: list[int] = []
    while True:
        while len(stream) < BATCH * BLOCK:
            for ids in tokenizer(list(islice(source, 500)))["input_ids"]:
                stream += [*ids, tokenizer.eos_token_id]
        yield torch.tensor(stream[: BATCH * BLOCK]).view(BATCH, BLOCK)
        del stream[: BATCH * BLOCK]


def fit(model: LlamaForCausalLM, batches: Iterator[Tensor], steps: int, peak_lr: float) -> None:
    """Minimise the next-token loss over `steps` batches."""
    decayed = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim == 1]
    groups: list[dict[str, Any]] = [{"params": decayed}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=peak_lr, betas=(0.9, 0.95), weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, peak_lr, steps, pct_start=0.05, cycle_momentum=False
    )
    for step, batch in enumerate(islice(batches, steps), 1):
        loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if step % 100 == 0:
            print(f"step {step} of {steps}, loss {loss.item():.4f}", flush=True)


def main() -> None:
    """Train and save model and tokenizer."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    tokenizer = train_tokenizer()
    model = untrained(tokenizer)
    for stage in STAGES:
        fit(model, blocks(tokenizer, stage), stage.steps, stage.lr)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main()
