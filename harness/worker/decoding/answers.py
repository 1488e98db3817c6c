"""Generations of a model for a benchmark, and its likelihoods of options and references."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from typing import Any

from transformers import PreTrainedTokenizerBase

from harness import plugins
from harness.spec.planned import PlannedRun
from harness.worker import encode
from harness.worker.decoding import slots
from harness.worker.decoding.decode import Answer, generate
from harness.worker.decoding.likelihood import likelihoods
from harness.worker.journal import Journal
from results.runfolder.values import Generation, OptionLikelihoods, ReferenceLikelihood
from tasks.contract import Row
from tasks.data.contamination import contaminated


@dataclass(frozen=True)
class Answering:
    """A trained model with what its evaluation needs; `shots` stand solved before each question."""

    planned: PlannedRun
    model: Any
    tokenizer: PreTrainedTokenizerBase
    journal: Journal
    shots: Sequence[Row] = ()

    def generations(
        self, tests: Mapping[str, Sequence[Row]], train: Sequence[Row]
    ) -> Iterator[tuple[str, list[Generation]]]:
        """Answer benchmarks; give each as soon as its last answer is there.

        Args:
            tests: The rows of each benchmark, by name.
            train: Tells which of them the training set holds.
        """
        protocol = self.planned.spec.protocol
        with self.journal.phase("contamination"):
            asked = [row.question for row in train]
            known = {
                name: contaminated(asked, [row.question for row in rows])
                for name, rows in tests.items()
            }
        prompts = {
            name: encode.prompt_ids(rows, self.tokenizer, protocol, self.shots)
            for name, rows in tests.items()
        }
        for name, answers in self._answered(prompts):
            yield name, self._generations(name, tests[name], answers, known[name])

    def _answered(
        self, prompts: Mapping[str, list[list[int]]]
    ) -> Iterator[tuple[str, Sequence[Answer]]]:
        """Answer the prompts of benchmarks: by slots where plan and model allow it."""
        plan, protocol = self.planned.spec.generate, self.planned.spec.protocol
        refused = slots.refusal(self.model)
        if plan.slots and protocol.beams == 1 and not refused:
            yield from self._by_slots(prompts)
            return
        if plan.slots and refused:
            print(f"Answers are written in rounds. Slots cannot take this model: {refused}.")
        pad = encode.pad_token(self.tokenizer)
        for name, asked in prompts.items():
            self._begin(name)
            yield name, generate(self.model, asked, plan, protocol, pad, self._progress(name))

    def _by_slots(
        self, prompts: Mapping[str, list[list[int]]]
    ) -> Iterator[tuple[str, Sequence[Answer]]]:
        spec = self.planned.spec
        limit, size, pad = (
            spec.protocol.max_new_tokens,
            spec.generate.batch_size,
            encode.pad_token(self.tokenizer),
        )
        lists = {name: [Answer(one, limit) for one in asked] for name, asked in prompts.items()}
        names = {id(answer): name for name, answers in lists.items() for answer in answers}
        done = dict.fromkeys(lists, 0)
        for answer in slots.decode(self.model, self._begun(lists), size, pad):
            name = names[id(answer)]
            done[name] += 1
            complete = done[name] == len(lists[name])
            if complete or done[name] % size == 0:
                self._progress(name)(done[name], len(lists[name]))
            if complete:
                yield name, lists[name]

    def _generations(
        self, name: str, rows: Sequence[Row], answers: Sequence[Answer], known: Set[int]
    ) -> list[Generation]:
        protocol = self.planned.spec.protocol
        texts = encode.prompts(rows, self.tokenizer, protocol, self.shots)
        longest = min(protocol.max_prompt_length, self._positions)
        judged = bool(plugins.benchmark(name).extractors)
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
                long=len(answers[place].prompt) > longest,
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

    def _begun(self, lists: Mapping[str, list[Answer]]) -> Iterator[list[Answer]]:
        for name, answers in lists.items():
            self._begin(name)
            yield answers

    def _begin(self, name: str) -> None:
        self.journal.write(phase="generate", benchmark=name)

    def _progress(self, name: str) -> Callable[[int, int], None]:
        return lambda done, of: self.journal.write(benchmark=name, done=done, of=of)
