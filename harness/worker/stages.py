"""The stages of a run, each skipped where its files are there from an earlier attempt."""

import os
import resource
import sys
import time
from dataclasses import asdict
from typing import Any

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase
from transformers.utils import logging

from harness import plugins
from harness.backbones import fetch
from harness.scoring.score import score
from harness.spec.planned import PlannedRun
from harness.spec.spec import Spec
from harness.worker import encode, environment, rows
from harness.worker.decoding.decode import generate
from harness.worker.decoding.likelihood import likelihoods
from harness.worker.journal import Journal
from harness.worker.training import loop as training
from methods.contract import size
from results.runfolder.folder import RunFolder

FEWEST_ROWS = 10


def execute(folder: RunFolder) -> None:
    """Run the job of `folder` to its result.

    Raises:
        AlreadyRunningError: Another process works in the folder.
    """
    started = time.time()
    quiet_and_deterministic()
    with folder.locked():
        if folder.has("result.json"):
            return
        folder.drop("failure.json")
        described = environment.describe()
        folder.write("environment.json", described)
        with Journal(folder.events) as journal:
            record = Run(folder, folder.job(), journal).stages()
            seconds = {**journal.seconds, "wall": time.time() - started}
            identity = environment.identity(described)
            head = {"started": started, "seconds": seconds, "environment_id": identity}
            folder.write("result.json", head | record)
            journal.write(phase="finished")


def quiet_and_deterministic() -> None:
    """Leave the log to what matters, and ask for repeatable kernels where there are any."""
    logging.disable_progress_bar()
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.use_deterministic_algorithms(True, warn_only=True)
    # Every new tensor would be filled first, to find reads of what was never written.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


class Run:
    """One job at work."""

    def __init__(self, folder: RunFolder, job: PlannedRun, journal: Journal) -> None:
        self.folder, self.job, self.journal = folder, job, journal
        self.spec: Spec = job.spec
        self.method = plugins.method(self.spec.method.name)
        self.rows = rows.load(job)

    def stages(self) -> dict[str, Any]:
        """Load, adapt, train, generate and score; return what the run came to."""
        resumed = self.folder.has("adapter/train.json")
        with self.journal.phase("load"):
            tokenizer, base = self.load()
        with self.journal.phase("adapt"):
            model = self.adapted(base, resumed)
        if not resumed:
            self.train(model, tokenizer)
        for name in self.spec.tests:
            self.answer(name, model, tokenizer)
            self.weigh(name, model, tokenizer)
        with self.journal.phase("score"):
            judged = score(self.folder, self.spec, self.rows)
        parameters = size(model)
        return {
            "resumed": resumed,
            "trainable_parameters": parameters.trainable,
            "total_parameters": parameters.total,
            "adapter_bytes": (self.folder.adapter / "adapter_model.safetensors").stat().st_size,
            "peak_memory_bytes": peak_memory_bytes(),
            "training": self.folder.read("adapter/train.json"),
            **judged,
        }

    def load(self) -> tuple[PreTrainedTokenizerBase, Any]:
        """Load tokenizer and frozen model, in the precision of the spec."""
        place = fetch(self.job.located)
        tokenizer = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
        model: Any = AutoModelForCausalLM.from_pretrained(
            place,
            dtype=getattr(torch, self.spec.weights),
            use_safetensors=True,
            trust_remote_code=False,
        )
        return tokenizer, model.cuda() if torch.cuda.is_available() else model

    def adapted(self, base: Any, resumed: bool) -> PeftModel:
        """Put the method on the model: at its start, or as an earlier attempt trained it."""
        torch.manual_seed(self.spec.seeds.init)
        if resumed:
            return self.method.load(base, str(self.folder.adapter))
        return self.method.adapt(base, self.method.configure(**self.spec.method.fields))

    def train(self, model: PeftModel, tokenizer: PreTrainedTokenizerBase) -> None:
        """Train and save the adapter."""
        spec = self.spec
        with self.journal.phase("load"):
            plan, counts = self.training(model, tokenizer)
        with self.journal.phase("train"):
            selection = self.method.layer_selection(self.spec.method.fields)
            extras = training.extras(self.method, selection, model, plan, spec.seeds.init)
            record = training.fit(model, plan, self.journal, extras)
        with self.journal.phase("save"):
            kept = {name: value for hook in extras.hooks for name, value in hook.record().items()}
            if kept:
                self.folder.write("method.json", kept)
            model.save_pretrained(str(self.folder.adapter))
            seconds = self.journal.seconds["train"]
            record = {**counts, **record, "tokens_per_second": record["tokens"] / seconds}
            self.folder.write("adapter/train.json", record)

    def training(
        self, model: PeftModel, tokenizer: PreTrainedTokenizerBase
    ) -> tuple[training.Training, dict[str, int]]:
        """Encode the rows to train and to validate on; count those that are cut or dropped."""
        spec, limit = self.spec, self.limit(model)
        found, counts = encode.examples(self.rows.train, tokenizer, spec.protocol, limit)
        if len(found) < FEWEST_ROWS:
            raise ValueError(
                f"{len(found) or 'no'} training rows have an answer within {limit} tokens; at "
                f"least {FEWEST_ROWS} are needed to train and to validate"
            )
        if self.rows.validation:
            held, _ = encode.examples(self.rows.validation, tokenizer, spec.protocol, limit)
            # As many as other groups validate on; the rows of all sets take turns.
            validation = held[: spec.train.validation_rows]
        else:
            found, validation = training.split(found, spec.train, spec.seeds)
        pad = encode.pad_token(tokenizer)
        plan = training.Training(
            found, validation, spec.train, spec.seeds.order, pad, spec.protocol.loss
        )
        return plan, counts

    def limit(self, model: PeftModel) -> int:
        """Return the tokens that a training row may have."""
        return int(min(self.spec.protocol.max_length, model.config.max_position_embeddings))

    def answer(self, name: str, model: PeftModel, tokenizer: PreTrainedTokenizerBase) -> None:
        """Generate the answers of a benchmark."""
        file, spec = f"generations/{name}.jsonl", self.spec
        if self.folder.has(file):
            return
        with self.journal.phase("generate"):
            rows = self.rows.tests[name]
            prompts = encode.prompt_ids(rows, tokenizer, spec.protocol)
            longest = min(spec.protocol.max_prompt_length, model.config.max_position_embeddings)

            def progress(done: int, of: int) -> None:
                self.journal.write(benchmark=name, done=done, of=of)

            pad = encode.pad_token(tokenizer)
            answers = generate(model, prompts, spec.generate, spec.protocol, pad, progress)
            texts = tokenizer.batch_decode([a.tokens for a in answers], skip_special_tokens=True)
            lines = [
                {
                    "id": row.id,
                    "tokens": len(answer.tokens),
                    "ended": answer.ended,
                    "long": len(prompt) > longest,
                    "text": text,
                }
                for row, prompt, answer, text in zip(rows, prompts, answers, texts, strict=True)
            ]
            self.folder.write_lines(file, lines)

    def weigh(self, name: str, model: PeftModel, tokenizer: PreTrainedTokenizerBase) -> None:
        """Take the likelihoods of a benchmark's options, or of its references."""
        file, benchmark = f"likelihoods/{name}.jsonl", plugins.benchmark(name)
        if self.folder.has(file) or (benchmark.extractors and not benchmark.options):
            return
        take = self.options if benchmark.options else self.references
        with self.journal.phase("likelihood"):
            self.folder.write_lines(file, take(name, model, tokenizer))

    def options(
        self, name: str, model: PeftModel, tokenizer: PreTrainedTokenizerBase
    ) -> list[dict[str, Any]]:
        """Give the log-likelihood of each option of each row."""
        offer = plugins.benchmark(name).options
        assert offer is not None
        rows, offered = self.rows.tests[name], [offer(row) for row in self.rows.tests[name]]
        prompts = encode.prompt_ids(rows, tokenizer, self.spec.protocol)
        texts = [text for one in offered for text in one.values()]
        answers = iter(tokenizer(texts, add_special_tokens=False)["input_ids"])
        found = [
            encode.Example([*prompt, *next(answers)], len(prompt))
            for prompt, one in zip(prompts, offered, strict=True)
            for _ in one
        ]
        scored = iter(likelihoods(model, found, encode.pad_token(tokenizer)))
        return [
            {"id": row.id, "options": {gold: -next(scored).answer for gold in one}}
            for row, one in zip(rows, offered, strict=True)
        ]

    def references(
        self, name: str, model: PeftModel, tokenizer: PreTrainedTokenizerBase
    ) -> list[dict[str, Any]]:
        """Give the likelihood of each reference, cut where the model can read no further."""
        rows, limit = self.rows.tests[name], model.config.max_position_embeddings
        found = encode.encoded(rows, tokenizer, self.spec.protocol)
        read = [encode.Example(one.ids[:limit], one.prompt_tokens) for one in found]
        scored = likelihoods(model, read, encode.pad_token(tokenizer))
        return [
            {"id": row.id, "cut": len(whole.ids) > limit, **asdict(one)}
            for row, whole, one in zip(rows, found, scored, strict=True)
        ]


def peak_memory_bytes() -> int:
    """Return the most memory that was held: on the GPU where there is one, else by the process."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated()
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
