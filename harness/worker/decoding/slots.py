"""Greedy decoding by slots: an answer that has ended leaves, and a waiting prompt takes its place.

What all prompts of a list begin with is read once. The rest of about ten prompts is read in one
pass, before there are slots for all of them, so that no slot waits.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from harness.worker.decoding.decode import Answer, end_tokens
from harness.worker.decoding.rows import Rows, Source
from methods.tuners import prefix

TOGETHER = 10
"""Prompts that are read in one pass."""

STEPS = 8
"""Steps of a GPU before it is asked which answers have ended, for which it has to be waited."""


@dataclass(frozen=True)
class Read:
    """Prompts that one pass has read.

    Attributes:
        answers: To them, with no token yet.
        lengths: Tokens of each prompt.
        cache: Keys and values of each prompt in its first columns; padding follows.
        logits: After the last token of each prompt: (prompts, vocabulary).
    """

    answers: Sequence[Answer]
    lengths: list[int]
    cache: DynamicCache
    logits: Tensor

    def sources(self) -> list[Source]:
        """Say where each prompt is in the cache."""
        return [Source(self.cache, row, length) for row, length in enumerate(self.lengths)]


@torch.inference_mode()
def decode(
    model: Any,
    lists: Iterable[Sequence[Answer]],
    slots: int,
    pad: int,
    read: Callable[[Read], None] = lambda _: None,
) -> Iterator[Answer]:
    """Write answers, one list after the other through the same slots; yield each when it is done.

    In float32 the tokens are those of decoding one by one.

    Args:
        model: A causal language model for which `refusal` gives no reason.
        lists: Answers that have no token yet; a list shares the start of its prompts.
        slots: The most answers that are written at once.
        pad: The token on the right of shorter prompts, hidden by the attention mask.
        read: Called with prompts that were just read; it leaves them as they are.
    """
    model.eval()
    ends, writing = end_tokens(model), _Writing(model, slots)
    passes = (one for answers in lists for one in read_prompts(model, answers, pad))
    ready: deque[tuple[Answer, Source]] = deque()
    while True:
        while len(ready) < writing.free and (one := next(passes, None)):
            read(one)
            for answer, token in zip(one.answers, one.logits.argmax(-1).tolist(), strict=True):
                answer.add([token], ends)
            yield from (answer for answer in one.answers if answer.done)
            found = zip(one.answers, one.sources(), strict=True)
            ready += [(answer, source) for answer, source in found if not answer.done]
        writing.arrange([ready.popleft() for _ in range(min(writing.free, len(ready)))])
        if not writing.answers:
            return
        for answer, tokens in zip(writing.answers, writing.write(), strict=True):
            answer.add(tokens, ends)
        yield from (answer for answer in writing.answers if answer.done)


class _Writing:
    """The answers at work, a row each."""

    def __init__(self, model: Any, slots: int) -> None:
        self.model, self.slots = model, slots
        self.at_once = STEPS if model.device.type == "cuda" else 1
        self.kinds = kinds(model)
        self.answers: list[Answer] = []
        self.rows: Any = None
        self.next = self.positions = torch.empty(0)

    @property
    def free(self) -> int:
        """How many answers can be taken up."""
        return self.slots - sum(not answer.done for answer in self.answers)

    def arrange(self, entering: Sequence[tuple[Answer, Source]]) -> None:
        """Let answers go that are done, and take up others; the last rows fill what is left."""
        staying = [row for row, answer in enumerate(self.answers) if not answer.done]
        if not entering and len(staying) == len(self.answers):
            return
        count = len(staying) + len(entering)
        pairs = [(self.answers[row], row) for row in staying]
        in_place = {row: (answer, row) for answer, row in pairs if row < count}
        others = iter([*pairs[len(in_place) :], *entering])
        placed = [in_place.get(place) or next(others) for place in range(count)]
        self.answers = [answer for answer, _ in placed]
        if placed:
            self._take([row for _, row in placed])

    def _take(self, rows: Sequence[int | Source]) -> None:
        if self.rows is None:
            like = next(row.cache for row in rows if isinstance(row, Source))
            self.rows = Rows(like, [window for _, window in self.kinds], self.slots)
        self.rows.arrange(rows)
        device = self.model.device
        self.next = torch.tensor([answer.tokens[-1:] for answer in self.answers], device=device)
        self.positions = torch.tensor(self.rows.lengths(), device=device)[:, None]

    def write(self) -> list[list[int]]:
        """Write a token of each answer, or several: (answers, tokens)."""
        left = min(answer.limit - len(answer.tokens) for answer in self.answers)
        steps = [self._step() for _ in range(min(left, self.at_once))]
        written: list[list[int]] = torch.cat(steps, dim=1).tolist()
        return written

    def _step(self) -> Tensor:
        output = self.model(
            input_ids=self.next,
            position_ids=self.positions,
            attention_mask=self._mask(),
            past_key_values=self.rows,
            use_cache=True,
            logits_to_keep=1,
        )
        self.rows.advance()
        self.next = output.logits.argmax(-1)
        self.positions += 1
        return self.next

    def _mask(self) -> Any:
        masks = {kind: self.rows.mask(window) for kind, window in dict(self.kinds).items()}
        return masks if len(masks) > 1 else next(iter(masks.values()))


def kinds(model: Any) -> list[tuple[str, int | None]]:
    """Name the kind of each layer, and how many tokens a token sees there; None for all."""
    config = model.config.get_text_config(decoder=True)
    layers = DynamicCache(config=config).layers
    names = getattr(config, "layer_types", None) or [""] * len(layers)
    return [
        (name, getattr(layer, "sliding_window", None))
        for name, layer in zip(names, layers, strict=True)
    ]


def read_prompts(model: Any, answers: Sequence[Answer], pad: int) -> Iterator[Read]:
    """Read the prompts of a list, longest first."""
    longest_first = sorted(answers, key=lambda answer: len(answer.prompt), reverse=True)
    # The last token of a prompt is left, since its logits are needed.
    shared = commonprefix([answer.prompt for answer in answers])[: len(longest_first[-1].prompt) - 1]
    start = DynamicCache()
    if shared:
        ids = torch.tensor([shared], device=model.device)
        model(input_ids=ids, past_key_values=start, use_cache=True, logits_to_keep=1)
    for first in range(0, len(answers), TOGETHER):
        batch = longest_first[first : first + TOGETHER]
        yield _read_on(model, batch, start, len(shared), pad)


def _read_on(
    model: Any, batch: Sequence[Answer], start: DynamicCache, shared: int, pad: int
) -> Read:
    """Read prompts whose first `shared` tokens are in `start`."""
    lengths = [len(answer.prompt) for answer in batch]
    ids = torch.full((len(batch), max(lengths) - shared), pad)
    mask = torch.zeros(len(batch), max(lengths), dtype=torch.long)
    for row, answer in enumerate(batch):
        ids[row, : lengths[row] - shared] = torch.tensor(answer.prompt[shared:])
        mask[row, : lengths[row]] = 1
    cache, lasts = _copies(start, len(batch)), sorted(set(lengths))
    output = model(
        input_ids=ids.to(model.device),
        attention_mask=mask.to(model.device),
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=torch.tensor(lasts, device=model.device) - shared - 1,
    )
    last = [lasts.index(length) for length in lengths]
    return Read(batch, lengths, cache, output.logits[range(len(batch)), last])


def _copies(start: DynamicCache, rows: int) -> DynamicCache:
    """Copy what one sequence has read for several rows."""
    states = [(layer.keys, layer.values) for layer in start.layers]
    if not states:
        return DynamicCache()
    cache = DynamicCache([tuple(one.expand(rows, -1, -1, -1) for one in pair) for pair in states])
    prefix.carry(cache, [(start, 0)] * rows)
    return cache


def refusal(model: Any) -> str | None:
    """Say why answers of a model cannot be written by slots; None where they can."""
    config = model.config.get_text_config(decoder=True)
    layers = {type(layer) for layer in DynamicCache(config=config).layers}
    if not layers <= {DynamicLayer, DynamicSlidingWindowLayer} or getattr(config, "attention_chunk_size", None):
        return "its layers do not keep the keys and values of the last tokens alone"
    return None
