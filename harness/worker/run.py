"""The stages of a run, each skipped where its files are there from an earlier attempt."""

import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase
from transformers.utils import logging

from harness import environment, plugins
from harness.backbones import fetch
from harness.runfolder import Job, RunFolder
from harness.spec import Spec
from harness.worker import encode, score
from harness.worker import train as training
from harness.worker.generate import generate
from harness.worker.journal import Journal
from methods.base import size
from tasks.base import Row
from tasks.data.sets import load_test, load_training


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

    def __init__(self, folder: RunFolder, job: Job, journal: Journal) -> None:
        self.folder, self.job, self.journal = folder, job, journal
        self.spec: Spec = job.spec
        self.method = plugins.method(self.spec.method.name)
        self.data = None if job.data_folder is None else Path(job.data_folder)

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
        with self.journal.phase("score"):
            scores = [score for name in self.spec.tests for score in self.score(name)]
        parameters = size(model)
        return {
            "resumed": resumed,
            "trainable_parameters": parameters.trainable,
            "total_parameters": parameters.total,
            "adapter_bytes": (self.folder.adapter / "adapter_model.safetensors").stat().st_size,
            "peak_memory_bytes": peak_memory_bytes(),
            "training": self.folder.read("adapter/train.json"),
            "scores": scores,
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
            names = plugins.group(spec.group).benchmarks
            benchmarks = [plugins.benchmark(name) for name in names]
            rows = load_training(spec.group, plugins.group(spec.group), benchmarks, self.data).rows[
                : spec.train_limit
            ]
            limit = min(spec.train.max_length, model.config.max_position_embeddings)
            examples, counts = encode.examples(rows, tokenizer, spec.protocol, limit)
            if not examples:
                raise ValueError(f"no training row has an answer within {limit} tokens")
            plan = training.split(examples, spec.train, spec.seeds, encode.pad_token(tokenizer))
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

    def answer(self, name: str, model: PeftModel, tokenizer: PreTrainedTokenizerBase) -> None:
        """Generate the answers of a benchmark."""
        file, spec = f"generations/{name}.jsonl", self.spec
        if self.folder.has(file):
            return
        with self.journal.phase("generate"):
            rows = self.rows(name)
            prompts = encode.prompt_ids(rows, tokenizer, spec.protocol)

            def progress(done: int, of: int) -> None:
                self.journal.write(benchmark=name, done=done, of=of)

            answers = generate(
                model,
                prompts,
                spec.generate,
                spec.protocol.max_new_tokens,
                encode.pad_token(tokenizer),
                progress,
            )
            texts = tokenizer.batch_decode([a.tokens for a in answers], skip_special_tokens=True)
            lines = [
                {"id": row.id, "tokens": len(answer.tokens), "ended": answer.ended, "text": text}
                for row, answer, text in zip(rows, answers, texts, strict=True)
            ]
            self.folder.write_lines(file, lines)

    def score(self, name: str) -> list[dict[str, Any]]:
        """Judge the answers of a benchmark."""
        completions = [line["text"] for line in self.folder.read_lines(f"generations/{name}.jsonl")]
        verdicts = score.verdicts(plugins.benchmark(name), self.rows(name), completions)
        self.folder.write_lines(f"verdicts/{name}.jsonl", verdicts)
        return score.scores(name, verdicts, self.spec.protocol.extractor)

    def rows(self, name: str) -> tuple[Row, ...]:
        """Load the rows of a benchmark, as many as the spec says."""
        return load_test(name, plugins.benchmark(name), self.data).rows[: self.spec.limit]


def peak_memory_bytes() -> int:
    """Return the most memory that was held: on the GPU where there is one, else by the process."""
    if torch.cuda.is_available():
        return torch.cuda.max_memory_allocated()
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
