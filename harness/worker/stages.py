"""The stages of a run, each skipped where its files are there from an earlier attempt."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase
from transformers.utils import logging

from harness import plugins
from harness.plugins import named_files
from harness.scoring.score import score
from harness.spec.planned import PlannedRun
from harness.spec.recipe import FEWEST_TRAINING_ROWS
from harness.worker import card, encode, rows
from harness.worker.decoding.answers import Answering
from harness.worker.journal import Journal
from harness.worker.machine import determinism, device, environment, launcher
from harness.worker.model import adapted, load, save
from harness.worker.training.batches import Training
from harness.worker.training.divergence import DivergedError
from harness.worker.training.extras import extras
from harness.worker.training.loop import fit
from methods.contract import size
from methods.tuners.kept import keeping
from methods.tuners.room import Room
from results.runfolder.claims import Claim
from results.runfolder.values import Divergence, Result, TrainRecord
from tasks.data.splits import hold_out


def execute(claim: Claim) -> None:
    """Take a run to its end: to its result, or to where its training diverged.

    Args:
        claim: Of this process on the run.

    Raises:
        LostError: Another process took the run over.
    """
    folder, started = claim.folder, time.time()
    logging.disable_progress_bar()
    launcher.forget()
    determinism.ask()
    planned = PlannedRun.of(folder)
    device.require(planned)
    torch.set_float32_matmul_precision(planned.spec.float32_matmul)
    for file in planned.files:
        named_files.check(file.texts)
        plugins.add(file.kind, Path(file.path))
    described = environment.describe(
        planned.memory.model_dump(exclude_defaults=True),
        quantized=planned.spec.quantize is not None,
    )
    folder.write_environment(described)
    with Journal(folder.events, device.meter) as journal, determinism.noted() as kernels:
        claim.measure = lambda: (
            journal.so_far(),
            device.peak_memory_bytes(dict(journal.peak_memory)),
        )
        stages = Stages(claim, planned, journal)
        facts: dict[str, Any]
        try:
            facts, ending = stages.run(), "finished"
        except DivergedError as error:
            facts, ending = {"step": error.step, "reason": error.reason}, "diverged"
        facts |= {
            "started": started,
            "seconds": {**journal.seconds, "wall": claim.seconds},
            "environment_id": described.identity,
            **stages.size(),
            "peak_memory": journal.peak_memory,
            "nondeterministic_kernels": sorted(kernels),
            "attempt": claim.token,
        }
        claim.confirm()
        if ending == "finished":
            folder.write_result(Result(**facts))
            claim.end("finished")
            card.write(folder)
        else:
            folder.write_divergence(Divergence(**facts))
            claim.end("diverged", f"step {facts['step']}: {facts['reason']}")
        journal.write(phase=ending)


class Stages:
    """One planned run at work."""

    def __init__(self, claim: Claim, planned: PlannedRun, journal: Journal) -> None:
        self.claim, self.folder = claim, claim.folder
        self.planned, self.journal = planned, journal
        self.spec = planned.spec
        self.method = plugins.method(self.spec.method.name)
        self.rows = rows.load(planned)
        self.model: Any = None

    def run(self) -> dict[str, Any]:
        """Load, adapt, train, generate and score; return the facts of the result.

        Raises:
            DivergedError: The training came to a loss that is not finite.
        """
        resumed = self.folder.train_record() is not None
        with self.journal.phase("load"):
            tokenizer, base = load(self.planned)
        with self.journal.phase("adapt"):
            self.model = adapted(self.planned, base, self.folder.adapter if resumed else None)
        if self.method.trains and not resumed:
            self.train(self.model, tokenizer)
        shots = self.spec.protocol.draw(self.rows.train)
        answering = Answering(self.planned, self.model, tokenizer, self.journal, shots)
        with self.evaluating(rounding=self.spec.generate.merge):
            self.answer(answering)
            for name in self.spec.tests:
                self.weigh(name, answering)
        with self.journal.phase("score"):
            judged = score(self.folder, self.spec)
        weights = self.folder.adapter / "adapter_model.safetensors"
        return {
            "resumed": resumed,
            "adapter_bytes": weights.stat().st_size if self.method.trains else 0,
            "scores": judged.scores,
            "flags": judged.flags,
        }

    def size(self) -> dict[str, int]:
        """Count parameters, and the memory that the run has taken."""
        parameters = size(self.model)
        return {
            "trainable_parameters": parameters.trainable,
            "total_parameters": parameters.total,
            "peak_memory_bytes": device.peak_memory_bytes(self.journal.peak_memory),
        }

    def train(self, model: Any, tokenizer: PreTrainedTokenizerBase) -> None:
        """Train and save the adapter."""
        spec = self.spec
        with self.journal.phase("load"):
            training, counts = self.training(model, tokenizer)
        if self.planned.checkpoints:
            model.gradient_checkpointing_enable({"use_reentrant": False})
        with self.journal.phase("train"), determinism.strict():
            selection = self.method.layer_selection(spec.method.fields)
            added = extras(self.method, selection, model, training, spec.seeds.init)
            trained = fit(model, training, self.journal, added, self.evaluating)
        if self.planned.checkpoints:
            model.gradient_checkpointing_disable()
        with self.journal.phase("save"):
            self.claim.confirm()
            kept = {name: value for hook in added.hooks for name, value in hook.record().items()}
            if kept:
                self.folder.write_method_record(kept)
            save(self.planned, model, self.folder.adapter)
            rate = trained.tokens / self.journal.seconds["train"]
            record = TrainRecord(
                **counts,
                **asdict(trained),
                tokens_per_second=rate,
                peak_memory=self.journal.peak_memory,
            )
            self.folder.write_train_record(record)

    def training(
        self, model: Any, tokenizer: PreTrainedTokenizerBase
    ) -> tuple[Training, dict[str, int]]:
        """Encode the rows to train and to validate on; count them, and those cut or dropped.

        Raises:
            ValueError: Too few rows have an answer within the limit of tokens.
        """
        spec, recipe = self.spec, self.spec.train
        limit = int(min(spec.protocol.max_length, model.config.max_position_embeddings))
        examples, counts = encode.examples(self.rows.train, tokenizer, spec.protocol, limit)
        if len(examples) < FEWEST_TRAINING_ROWS:
            raise ValueError(
                f"{len(examples) or 'no'} training rows have an answer within {limit} tokens; at "
                f"least {FEWEST_TRAINING_ROWS} are needed to train and to validate"
            )
        if self.rows.validation:
            held, _ = encode.examples(self.rows.validation, tokenizer, spec.protocol, limit)
            # As many as other groups validate on; the rows of all sets take turns.
            validation = held[: recipe.validation_rows]
        else:
            count = min(recipe.validation_rows, len(examples) // 10)
            examples, validation = hold_out(examples, count, spec.seeds.split)
        counts |= {"trained_rows": len(examples), "validated_rows": len(validation)}
        pad, seeds = encode.pad_token(tokenizer), spec.seeds
        return (
            Training(
                examples, validation, recipe, seeds.order, pad, spec.protocol.loss, spec.adapter
            ),
            counts,
        )

    @contextmanager
    def evaluating(self, *, rounding: bool = False) -> Iterator[None]:
        """Keep for the block what depends on parameters alone, in half of the free memory.

        The other half is for activations and caches.
        """
        room = Room(device.free_memory() // 2)
        with keeping(self.model, self.method, rounding=rounding, room=room):
            yield
        if room.short:
            self.journal.write(recomputed=True)

    def answer(self, answering: Answering) -> None:
        """Generate the answers of the benchmarks that have none, and score options on the way."""
        asked = {
            name: self.rows.tests[name]
            for name in self.spec.tests
            if not self.folder.has_generations(name)
        }
        if not asked:
            return
        weighed = [
            name
            for name in asked
            if plugins.benchmark(name).options and not self.folder.has_likelihoods(name)
        ]
        with self.journal.phase("generate", benchmark=next(iter(asked))):
            answered = answering.generations(asked, self.rows.train, weighed)
            for name, generations, options in answered:
                self.folder.write_generations(name, generations)
                if options:
                    self.folder.write_likelihoods(name, options)

    def weigh(self, name: str, answering: Answering) -> None:
        """Take the likelihoods of a benchmark that has options or references and no file yet."""
        benchmark, tested = plugins.benchmark(name), self.rows.tests[name]
        weighed = bool(benchmark.options) or not benchmark.extractors
        if weighed and not self.folder.has_likelihoods(name):
            with self.journal.phase("likelihood", benchmark=name):
                found = (
                    answering.options(name, tested)
                    if benchmark.options
                    else answering.references(name, tested)
                )
                self.folder.write_likelihoods(name, found)
