"""Generations of a model for a benchmark, and its likelihoods of options and references."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from transformers import PreTrainedTokenizerBase

from harness import plugins
from harness.spec.planned import PlannedRun
from harness.worker import encode
from harness.worker.decoding.decode import generate
from harness.worker.decoding.likelihood import likelihoods
from harness.worker.journal import Journal
from harness.worker.rows import in_training
from results.runfolder.values import Generation, OptionLikelihoods, ReferenceLikelihood
from tasks.contract import Row


@dataclass(frozen=True)
class Answering:
    """A trained model with what its evaluation needs; `shots` stand solved before each question."""

    planned: PlannedRun
    model: Any
    tokenizer: PreTrainedTokenizerBase
    journal: Journal
    shots: Sequence[Row] = ()

    def generations(self, name: str, rows: Sequence[Row], train: Sequence[Row]) -> list[Generation]:
        """Answer the rows of a benchmark; `train` tells which of them the training set holds."""
        spec = self.planned.spec
        texts = encode.prompts(rows, self.tokenizer, spec.protocol, self.shots)
        prompts = encode.prompt_ids(rows, self.tokenizer, spec.protocol, self.shots)
        longest = min(spec.protocol.max_prompt_length, self._positions)
        judged = bool(plugins.benchmark(name).extractors)
        with self.journal.phase("contamination"):
            known = in_training(train, rows)

        plan, pad = spec.generate, encode.pad_token(self.tokenizer)
        answers = generate(self.model, prompts, plan, spec.protocol, pad, self._progress(name))
        spoken = self.tokenizer.batch_decode(
            [answer.tokens for answer in answers], skip_special_tokens=True
        )
        return [
            Generation(
                id=row.id,
                prompt=texts[place],
                answer=row.answer if judged else "",
                reference="" if judged else row.output,
                in_training=place in known,
                tokens=tuple(answers[place].tokens),
                ended=answers[place].ended,
                long=len(prompts[place]) > longest,
                text=spoken[place],
            )
            for place, row in enumerate(rows)
        ]

    def options(self, name: str, rows: Sequence[Row]) -> list[OptionLikelihoods]:
        """Give the log-likelihood of each option of each row."""
        offer = plugins.benchmark(name).options
        assert offer is not None
        offered = [offer(row) for row in rows]
        protocol = self.planned.spec.protocol
        prompts = encode.prompt_ids(rows, self.tokenizer, protocol, self.shots)
        texts = [text for options in offered for text in options.values()]
        answers = iter(self.tokenizer(texts, add_special_tokens=False)["input_ids"])
        examples = [
            encode.Example([*prompt, *next(answers)], len(prompt))
            for prompt, options in zip(prompts, offered, strict=True)
            for _ in options
        ]
        scored = iter(self._likelihoods(name, examples))
        return [
            OptionLikelihoods(id=row.id, options={gold: -next(scored).answer for gold in options})
            for row, options in zip(rows, offered, strict=True)
        ]

    def references(self, name: str, rows: Sequence[Row]) -> list[ReferenceLikelihood]:
        """Give the likelihood of each reference, cut where the model can read no further."""
        limit = self._positions
        examples = encode.encoded(rows, self.tokenizer, self.planned.spec.protocol)
        read = [encode.Example(whole.ids[:limit], whole.prompt_tokens) for whole in examples]
        return [
            ReferenceLikelihood(id=row.id, cut=len(whole.ids) > limit, **asdict(likelihood))
            for row, whole, likelihood in zip(
                rows, examples, self._likelihoods(name, read), strict=True
            )
        ]

    @property
    def _positions(self) -> int:
        return int(self.model.config.max_position_embeddings)

    def _likelihoods(self, name: str, examples: Sequence[encode.Example]) -> Any:
        pad, tokens = encode.pad_token(self.tokenizer), self.planned.memory.likelihood_tokens
        return likelihoods(self.model, examples, pad, tokens, self._progress(name))

    def _progress(self, name: str) -> Callable[[int, int], None]:
        return lambda done, of: self.journal.write(benchmark=name, done=done, of=of)
