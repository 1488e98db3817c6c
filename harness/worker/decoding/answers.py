"""Generations of a model for a benchmark, and its likelihoods of options and references."""

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import torch
from transformers import PreTrainedTokenizerBase

from harness import plugins
from harness.spec.planned import PlannedRun
from harness.worker import encode, stopping
from harness.worker.decoding import branches, slots
from harness.worker.decoding.decode import Answer, generate
from harness.worker.decoding.likelihood import Likelihood, likelihoods
from harness.worker.journal import Journal
from harness.worker.rows import in_training
from results.runfolder import partial
from results.runfolder.folder import RunFolder
from results.runfolder.partial import Partial
from results.runfolder.values import (
    FileValue,
    Generation,
    OptionLikelihoods,
    PartialAnswer,
    PartialLikelihood,
    ReferenceLikelihood,
)
from tasks.contract import Row

V = TypeVar("V", bound=FileValue)


@dataclass(frozen=True)
class Answering:
    """A trained model with what its evaluation needs; `shots` stand solved before each question.

    What is answered or weighed is kept in the folder at once. The next attempt goes on behind it.
    Where a method draws random numbers, each attempt draws those of a benchmark from its first
    prompt on instead: so it ends with the answers of one that was never cut.
    """

    planned: PlannedRun
    model: Any
    tokenizer: PreTrainedTokenizerBase
    journal: Journal
    folder: RunFolder
    shots: Sequence[Row] = ()

    def generations(
        self, tests: Mapping[str, Sequence[Row]], train: Sequence[Row], weighed: Collection[str]
    ) -> Iterator[tuple[str, list[Generation], list[OptionLikelihoods]]]:
        """Answer benchmarks; give each as soon as its last answer is there.

        Args:
            tests: The rows of each benchmark, by name.
            train: Tells which of them the training set holds.
            weighed: Benchmarks whose options are scored too where that takes no other reading of
                the prompts; of all others the likelihoods are empty.
        """
        with self.journal.phase("contamination"):
            known = {name: in_training(train, rows) for name, rows in tests.items()}
        joint = self._takes_slots and self._takes_branches
        with ExitStack() as opened:
            path = self.folder.path
            kept = {name: opened.enter_context(partial.answers(path, name)) for name in tests}
            # An earlier attempt may have needed none, which was lost since.
            beside = {
                name
                for name in tests
                if joint and name in weighed and all(one.options for one in kept[name].found)
            }
            asked = {
                name: self._asked(name, rows, options=name in beside)
                for name, rows in tests.items()
            }
            for name, answers in asked.items():
                _take_up(answers, self._found(kept[name]))
            for name, written in self._answered(asked, kept):
                rows = tests[name]
                options = _options(rows, written) if name in beside else []
                yield name, self._generations(name, rows, written, known[name]), options

    def _asked(self, name: str, rows: Sequence[Row], *, options: bool) -> list[Answer]:
        """Encode the prompts of a benchmark, with their options or without."""
        protocol = self.planned.spec.protocol
        prompts = encode.prompt_ids(rows, self.tokenizer, protocol, self.shots)
        offered = self._offered(name, rows) if options else [{} for _ in rows]
        return [
            Answer(prompt, protocol.max_new_tokens, one, benchmark=name, id=row.id)
            for prompt, one, row in zip(prompts, offered, rows, strict=True)
        ]

    def _offered(self, name: str, rows: Sequence[Row]) -> list[dict[str, list[int]]]:
        """Encode the options of each row."""
        offer = plugins.benchmark(name).options
        assert offer is not None
        offered = [offer(row) for row in rows]
        texts = [text for options in offered for text in options.values()]
        ids = iter(self.tokenizer(texts, add_special_tokens=False)["input_ids"])
        return [{gold: next(ids) for gold in options} for options in offered]

    def _answered(
        self, asked: Mapping[str, list[Answer]], kept: Mapping[str, Partial[PartialAnswer]]
    ) -> Iterator[tuple[str, Sequence[Answer]]]:
        """Write the answers of benchmarks: by slots where plan and model allow it."""
        if self._takes_slots:
            yield from self._by_slots(asked, kept)
            return
        plan, protocol = self.planned.spec.generate, self.planned.spec.protocol
        if plan.slots and (refused := slots.refusal(self.model)):
            print(f"Answers are written in rounds. Slots cannot take this model: {refused}.")
        for name, answers in asked.items():
            self._begin(name)
            for batch in generate(self.model, answers, plan, protocol, self._pad):
                _keep(kept[name], map(_written, batch))
                self._progress(name)(sum(answer.ended for answer in answers), len(answers))
            yield name, answers

    def _by_slots(
        self, asked: Mapping[str, list[Answer]], kept: Mapping[str, Partial[PartialAnswer]]
    ) -> Iterator[tuple[str, Sequence[Answer]]]:
        left = {name: sum(not one.done for one in answers) for name, answers in asked.items()}
        yield from ((name, asked[name]) for name in asked if not left[name])
        waiting = {name: answers for name, answers in asked.items() if left[name]}
        size, score = self._size, functools.partial(branches.score, self.model, pad=self._pad)
        for answer in slots.decode(self.model, self._begun(waiting), size, self._pad, score):
            name = answer.benchmark
            _keep(kept[name], [_written(answer)])
            left[name] -= 1
            done = len(asked[name]) - left[name]
            if not left[name] or done % size == 0:
                self._progress(name)(done, len(asked[name]))
            if not left[name]:
                yield name, asked[name]

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
        answers = self._asked(name, rows, options=True)
        if self._takes_branches:
            self._score_branches(name, answers)
        else:
            self._score_texts(name, answers)
        return _options(rows, answers)

    def _score_branches(self, name: str, answers: Sequence[Answer]) -> None:
        """Score the options of each answer as branches of one sequence."""
        by_id = {answer.id: answer for answer in answers}
        with partial.likelihoods(self.folder.path, name, OptionLikelihoods) as kept:
            for known in kept.found:
                by_id[known.id].scores = dict(known.options)
            for read in branches.read_and_score(self.model, answers, self._pad, self._size):
                _keep(kept, (OptionLikelihoods(id=one.id, options=one.scores) for one in read))
                self._progress(name)(sum(answer.scored for answer in answers), len(answers))

    def _score_texts(self, name: str, answers: Sequence[Answer]) -> None:
        """Score each option as a text with its prompt."""
        examples = [
            encode.Example([*answer.prompt, *option], len(answer.prompt))
            for answer in answers
            for option in answer.options.values()
        ]
        scored = iter(self._likelihoods(name, examples))
        for answer in answers:
            answer.scores = {gold: -next(scored).answer for gold in answer.options}

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
    def _takes_slots(self) -> bool:
        """Whether answers are written by slots."""
        plan, protocol = self.planned.spec.generate, self.planned.spec.protocol
        return plan.slots and protocol.beams == 1 and slots.refusal(self.model) is None

    @property
    def _takes_branches(self) -> bool:
        """Whether options are scored as branches of one sequence."""
        named = self.planned.spec.method
        method = plugins.method(named.name)
        by_token = method.by_token(method.configure(**named.fields))
        return by_token and slots.refusal(self.model) is None

    @property
    def _size(self) -> int:
        return self.planned.spec.generate.batch_size

    @property
    def _pad(self) -> int:
        return encode.pad_token(self.tokenizer)

    @property
    def _positions(self) -> int:
        return int(self.model.config.max_position_embeddings)

    def _likelihoods(self, name: str, examples: Sequence[encode.Example]) -> list[Likelihood]:
        """Score texts, in the order of `examples`."""
        tokens = self.planned.memory.likelihood_tokens
        with partial.likelihoods(self.folder.path, name, PartialLikelihood) as kept:
            found = {
                known.place: Likelihood(**known.model_dump(exclude={"place"}))
                for known in self._found(kept)
            }
            self._seed()
            for scored in likelihoods(self.model, examples, self._pad, tokens, found):
                records = (PartialLikelihood(place=n, **asdict(one)) for n, one in scored.items())
                _keep(kept, records)
                found |= scored
                self._progress(name)(len(found), len(examples))
        return [found[place] for place in range(len(examples))]

    def _begun(self, lists: Mapping[str, list[Answer]]) -> Iterator[list[Answer]]:
        for name, answers in lists.items():
            self._begin(name)
            yield answers

    def _begin(self, name: str) -> None:
        self.journal.write(phase="generate", benchmark=name)
        self._seed()

    def _seed(self) -> None:
        if slots.draws(self.model):
            torch.manual_seed(self.planned.spec.seeds.init)

    def _found(self, kept: Partial[V]) -> Sequence[V]:
        """Give what an earlier attempt has left that can be taken up."""
        return [] if slots.draws(self.model) else kept.found

    def _progress(self, name: str) -> Callable[[int, int], None]:
        return lambda done, of: self.journal.write(benchmark=name, done=done, of=of)


def _take_up(answers: Sequence[Answer], kept: Iterable[PartialAnswer]) -> None:
    """Put answers to where an earlier attempt has written them."""
    by_id = {answer.id: answer for answer in answers}
    for known in kept:
        answer = by_id[known.id]
        answer.tokens, answer.ended = list(known.tokens), known.ended
        answer.scores = dict(known.options)


def _written(answer: Answer) -> PartialAnswer:
    return PartialAnswer(
        id=answer.id, tokens=tuple(answer.tokens), ended=answer.ended, options=answer.scores
    )


def _keep(kept: Partial[V], records: Iterable[V]) -> None:
    """Keep records; here an attempt may end.

    Raises:
        Interrupted: That was asked for.
    """
    kept.append(records)
    stopping.leave_if_asked()


def _options(rows: Sequence[Row], answers: Sequence[Answer]) -> list[OptionLikelihoods]:
    return [
        OptionLikelihoods(id=row.id, options=answer.scores)
        for row, answer in zip(rows, answers, strict=True)
    ]
