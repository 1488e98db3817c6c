"""The memory that a run needs, phase by phase."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import torch

from harness import plugins
from harness.planning.footprint.parameters import config_of
from harness.planning.footprint.simulation import Measured, Setting, measure
from harness.spec.planned import Located, Need, PlannedRun
from harness.spec.protocol import Protocol
from harness.spec.recipe import PACKED_TOKENS, VALIDATION_ROWS, VALIDATION_TOKENS
from harness.spec.spec import MethodSpec
from methods.training import packing
from tasks.contract import Row

CHARACTERS = 2
"""Of a text for each token, at least: English has about four, program text three."""


@dataclass(frozen=True)
class Texts:
    """The longest texts of a group, in characters: of training, and of evaluation."""

    taught: int
    asked: int


def longest(train: Sequence[Row], tests: Sequence[Row], protocol: Protocol) -> Texts:
    """Write all rows as the protocol does, and measure the longest."""
    solved = protocol.solved(protocol.draw(train))
    return Texts(
        taught=max(sum(map(len, protocol.teach(row))) for row in train),
        asked=max(len(protocol.text(protocol.ask(row), solved)) for row in tests),
    )


def need_of(run: PlannedRun, texts: Texts, *, keeps: bool = True) -> Need | None:
    """Work out what a run needs on a GPU.

    None if its method computes on numbers, which are not there, or where DeepSpeed divides more
    among processes than its first stage does in one, by buckets of its own.

    Args:
        run: What was planned.
        texts: The longest ones of its group.
        keeps: Whether its evaluations keep what depends on parameters alone.
    """
    method, recipe = run.spec.method, run.spec.train
    if recipe.engine == "deepspeed" and (recipe.zero, recipe.processes) != (1, 1):
        return None
    fields = json.dumps(method.fields, sort_keys=True)
    return _need(method.name, fields, run.located, replace(setting(run, texts), keeps=keeps))


@cache
def _need(method: str, fields: str, located: Located, setting: Setting) -> Need | None:
    spec = MethodSpec(name=method, label=method, fields=json.loads(fields), source="")
    try:
        return need(measure(spec, config_of(located), setting))
    except Exception:  # a method may fail in any way where there are shapes but no numbers
        return None


def setting(run: PlannedRun, texts: Texts) -> Setting:
    """Say how large the batches of a run get at most; no text is encoded for that."""
    spec, protocol, recipe = run.spec, run.spec.protocol, run.spec.train
    positions = int(config_of(run.located).get_text_config().max_position_embeddings)
    tokens = max(1, min(protocol.max_length, positions, texts.taught // CHARACTERS))
    rows, longest = recipe.batch_size, tokens
    if packs(run):
        step = recipe.batch_size * recipe.accumulation_steps * tokens
        rows, longest = 1, max(tokens, min(PACKED_TOKENS, step))
    asked = min(positions, texts.asked // CHARACTERS + protocol.max_new_tokens)
    return Setting(
        weights=getattr(torch, spec.weights),
        rows=rows,
        tokens=longest,
        checkpointing=run.checkpoints,
        validated=(max(1, min(VALIDATION_ROWS, VALIDATION_TOKENS // tokens)), tokens),
        decoded=(spec.generate.batch_size * protocol.beams, asked),
        quantize=spec.quantize,
        merge=spec.generate.merge,
    )


def packs(run: PlannedRun) -> bool:
    """Whether the run trains on packed rows."""
    unpacked = plugins.method(run.spec.method.name).unpacked
    return run.spec.train.packed and not packing.refusal(unpacked, config_of(run.located))


def need(found: Measured) -> Need:
    """Add up what a run holds.

    AdamW keeps two numbers for each trained one, and the state of the lowest validation loss is a
    third; gradients are among what training makes.
    """
    loaded = found.frozen + found.trained
    kept = loaded + 3 * found.trained
    return Need(
        training=round(kept + found.training) if found.trained else 0,
        validation=round(kept + found.validation) if found.trained else 0,
        generation=round(loaded + found.generation),
    )
