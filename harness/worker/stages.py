"""The stages of a run, each skipped where its files are there from an earlier attempt."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase

from harness import plugins
from harness.scoring.score import score
from harness.spec.planned import PlannedRun
from harness.spec.recipe import FEWEST_TRAINING_ROWS, Recipe
from harness.worker import encode, rows
from harness.worker.decoding.answers import Answering
from harness.worker.journal import Journal
from harness.worker.machine import determinism, device
from harness.worker.model import adapted, load, save
from harness.worker.ranks import ALONE, Rank
from harness.worker.training.batches import Training
from harness.worker.training.checkpoint import Checkpoints
from harness.worker.training.divergence import DivergedError
from harness.worker.training.extras import extras
from harness.worker.training.loop import PHASES, fit
from methods.contract import size
from methods.training import packing
from methods.tuners.kept import keeping
from methods.tuners.room import Room
from results.runfolder import damage, earlier
from results.runfolder.claims import Claim
from results.runfolder.values import TrainRecord
from tasks.data.splits import hold_out


class Stages:
    """One planned run at work."""

    def __init__(
        self, claim: Claim, planned: PlannedRun, journal: Journal, rank: Rank = ALONE
    ) -> None:
        self.claim, self.folder = claim, claim.folder
        self.planned, self.journal, self.rank = planned, journal, rank
        self.spec = planned.spec
        self.method = plugins.method(self.spec.method.name)
        self.rows = rows.load(planned)
        self.checkpoints = Checkpoints(self.folder.checkpoints, planned.checkpoint_minutes, rank)
        self.model: Any = None

    def run(self) -> dict[str, Any]:
        """Load, adapt, train, generate and score; return the facts of the result.

        Raises:
            DivergedError: The training came to a loss that is not finite.
        """
        for sentence in damage.mend_kept(self.folder, trains=self.method.trains):
            print(sentence, flush=True)
        trained = self.folder.train_record()
        if trained:
            self.journal.go_on(trained.model_dump(include={"seconds", "peak_memory"}))
        else:
            tokenizer = self.learn()
        if trained or (self.method.trains and self.spec.train.partitioned):
            # After ZeRO-3 no process has the whole model.
            self.forget()
            tokenizer = self.load(self.folder.adapter)
        self.checkpoints.clear()
        self.journal.go_on({"seconds": earlier.seconds(self.folder), "peak_memory": {}})
        shots = self.spec.protocol.draw(self.rows.train)
        answering = Answering(self.planned, self.model, tokenizer, self.journal, self.folder, shots)
        with self.evaluating(rounding=self.spec.generate.merge):
            self.answer(answering)
            for name in self.spec.tests:
                self.weigh(name, answering)
        with self.journal.phase("score"):
            judged = score(self.folder, self.spec)
        weights = self.folder.adapter / "adapter_model.safetensors"
        return {
            "resumed": trained is not None,
            "adapter_bytes": weights.stat().st_size if self.method.trains else 0,
            "scores": judged.scores,
            "flags": judged.flags,
        }

    def load(self, trained: Path | None) -> PreTrainedTokenizerBase:
        """Load tokenizer and model, with the adapter at its start or as it was trained."""
        to_train = self.method.trains and trained is None
        with self.journal.phase("load"):
            tokenizer, base = load(self.planned, to_train=to_train)
        with self.journal.phase("adapt"):
            self.model = adapted(self.planned, base, trained)
        return tokenizer

    def learn(self) -> PreTrainedTokenizerBase:
        """Load model and adapter, and train."""
        tokenizer = self.load(None)
        if self.rank.number:
            # All ranks began alike; what drops out in training is another part on each.
            torch.manual_seed(self.spec.seeds.init + self.rank.number)
        if self.method.trains:
            self.train(self.model, tokenizer)
        return tokenizer

    def forget(self) -> None:
        """Make room for the model that is loaded next."""
        self.model = None
        gc.collect()
        torch.cuda.empty_cache()

    def size(self) -> dict[str, int]:
        """Count parameters, and the memory that the run has taken."""
        parameters, own = size(self.model), device.peak_memory_bytes(self.journal.peak_memory)
        return {
            "trainable_parameters": parameters.trainable,
            "total_parameters": parameters.total,
            "peak_memory_bytes": max(own, earlier.peak_memory_bytes(self.folder)),
        }

    def train(self, model: Any, tokenizer: PreTrainedTokenizerBase) -> None:
        """Train and save the adapter, as rank 0; the others only train."""
        spec = self.spec
        with self.journal.phase("load"):
            training, counts = self.training(model, tokenizer)
        if self.planned.checkpoints:
            model.gradient_checkpointing_enable({"use_reentrant": False})
        with self.journal.phase("train"), determinism.strict():
            selection = self.method.layer_selection(spec.method.fields)
            added = extras(self.method, selection, model, training, spec.seeds.init)
            # There is nothing whole that could be kept for an evaluation under ZeRO-3.
            evaluating = nullcontext if spec.train.partitioned else self.evaluating
            try:
                trained = fit(model, training, self.journal, added, evaluating, self.checkpoints)
            except DivergedError:
                self.checkpoints.clear()
                raise
        if self.rank.number:
            return
        if self.planned.checkpoints:
            model.gradient_checkpointing_disable()
        with self.journal.phase("save"):
            self.claim.confirm()
            kept = {name: value for hook in added.hooks for name, value in hook.record().items()}
            if kept:
                self.folder.write_method_record(kept)
            save(self.planned, model, self.folder.adapter)
            seconds = self.journal.spent(PHASES)["seconds"]
            record = TrainRecord(
                **counts,
                **asdict(trained),
                tokens_per_second=trained.tokens / seconds["train"],
                peak_memory=self.journal.peak_memory,
                halvings=self.planned.memory.halvings,
                seconds=seconds,
            )
            self.folder.write_train_record(record)

    def training(
        self, model: Any, tokenizer: PreTrainedTokenizerBase
    ) -> tuple[Training, dict[str, int]]:
        """Encode the rows to train and to validate on; count them, and those cut or dropped.

        Raises:
            ValueError: Too few rows have an answer within the limit of tokens.
        """
        spec, recipe = self.spec, self.recipe(model)
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
        training = Training(
            examples,
            validation,
            recipe,
            seeds.order,
            pad,
            spec.protocol.loss,
            spec.adapter,
            self.planned.memory.halvings,
            self.rank,
        )
        return training, counts

    def recipe(self, model: Any) -> Recipe:
        """Give the recipe with rows padded where they cannot be packed; the log says why."""
        recipe = self.spec.train
        reason = packing.refusal(self.method.unpacked, model.config)
        if not recipe.packed or not reason:
            return recipe
        print(f"Rows are padded, not packed: {reason}.")
        return recipe.model_copy(update={"packed": False})

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
                # First, so that both can be made again while the generations are not there.
                if options:
                    self.folder.write_likelihoods(name, options)
                self.folder.write_generations(name, generations)

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
