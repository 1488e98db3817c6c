"""Greedy decoding by slots: an answer that has ended leaves, and a waiting prompt takes its place.

Up to ten prompts are read in one pass, before there are slots for all of them, so that no slot
waits.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from harness.worker.decoding.decode import Answer, end_tokens
from harness.worker.decoding.reading import Read, read_prompts
from harness.worker.decoding.rows import Rows, Source

STEPS = 8
"""Steps of a GPU before it is asked which answers have ended, for which it has to be waited."""


FOLLOWED = {
    "_from_model_config",
    "bos_token_id",
    "cache_implementation",
    "do_sample",
    "eos_token_id",
    "max_length",
    "max_new_tokens",
    "min_p",
    "pad_token_id",
    "temperature",
    "top_k",
    "top_p",
    "transformers_version",
    "typical_p",
    "use_cache",
}
"""Settings of a model's own generation that decoding by slots follows, or that greedy decoding does
not ask for."""


STRETCHED = {"dynamic", "longrope"}
"""Rotary frequencies that transformers changes with the longest row of a pass."""


def refusal(model: Any) -> str | None:
    """Say why the answers of a model cannot be written by slots; None where they can."""
    config = model.config.get_text_config(decoder=True)
    layers = {type(layer) for layer in DynamicCache(config=config).layers}
    adapters = _adapters(model)
    written = model.generation_config.to_diff_dict()
    others = sorted(name for name, value in written.items() if value and name not in FOLLOWED)
    attention = config._attn_implementation
    reasons = {
        "its layers keep something else than the keys and values of the last tokens": (
            not layers <= {DynamicLayer, DynamicSlidingWindowLayer} or _in_chunks(config)
        ),
        "the rotary frequencies of a row depend on how long the other rows are": (
            bool(_rope_types(config) & STRETCHED)
        ),
        "its adapter writes tokens of its own before the prompt": any(
            adapter.is_prompt_learning for adapter in adapters
        ),
        "its adapter computes with all tokens of a pass at once": any(
            getattr(adapter, "by_whole_sequences", False) for adapter in adapters
        ),
        "its adapter draws random numbers in each pass": draws(model),
        f"its generation_config sets {', '.join(others)}": bool(others),
        f"its attention, {attention}, takes no mask of each row": (
            attention not in {"sdpa", "eager"} or not model.is_backend_compatible()
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def draws(model: Any) -> bool:
    """Say whether what a model computes in an evaluation depends on chance."""
    return any(getattr(adapter, "draws_at_evaluation", False) for adapter in _adapters(model))


def _adapters(model: Any) -> list[Any]:
    return list(getattr(model, "peft_config", {}).values())


def _in_chunks(config: Any) -> bool:
    return getattr(config, "attention_chunk_size", None) is not None


def _rope_types(config: Any) -> set[Any]:
    """Name the kinds of rotary frequencies; some models have one for each kind of layer."""
    found = getattr(config, "rope_parameters", None) or {}
    of_layers = [one for one in found.values() if isinstance(one, dict)]
    return {one.get("rope_type") for one in [found, *of_layers]}


@torch.inference_mode()
def decode(
    model: Any,
    lists: Iterable[Sequence[Answer]],
    slots: int,
    pad: int,
    read: Callable[[Read], None] = lambda _: None,
) -> Iterator[Answer]:
    """Write answers, one list after the other through the same slots; yield each when it is done.

    In float32 the tokens are those of decoding one by one. Prompts are read in the same passes
    whatever is done of an earlier attempt: passes without an answer to write are left out.

    Args:
        model: A causal language model for which `refusal` gives no reason.
        lists: Answers that are done or have no token yet; a list shares the start of its prompts.
        slots: The most answers that are written at once.
        pad: The token on the right of shorter prompts, hidden by the attention mask.
        read: Called with prompts that were just read; it leaves them as they are.
    """
    model.eval()
    ends, writing = end_tokens(model), _Writing(model, slots)
    passes = (one for answers in lists for one in read_prompts(model, answers, pad, slots, _waits))
    ready: deque[tuple[Answer, Source]] = deque()
    while True:
        writing.arrange([ready.popleft() for _ in range(min(writing.free, len(ready)))])
        if writing.free and (one := next(passes, None)):
            read(one)
            tokens = one.logits.argmax(-1).tolist()
            found = zip(one.answers, tokens, one.sources(), strict=True)
            begun = [each for each in found if _waits(each[0])]
            for answer, token, _ in begun:
                answer.add([token], ends)
            yield from (answer for answer, _, _ in begun if answer.done)
            ready += [(answer, source) for answer, _, source in begun if not answer.done]
        elif writing.answers:
            yield from writing.write(ends)
        else:
            return


def _waits(answer: Answer) -> bool:
    return not answer.done


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
        found: dict[int | Source, Answer] = {row: self.answers[row] for row in staying}
        found |= {source: answer for answer, source in entering}
        in_place = {row for row in staying if row < count}
        others = iter([row for row in found if row not in in_place])
        rows = [place if place in in_place else next(others) for place in range(count)]
        self.answers = [found[row] for row in rows]
        if rows:
            self._take(rows)

    def _take(self, rows: Sequence[int | Source]) -> None:
        if self.rows is None:
            like = next(row.cache for row in rows if isinstance(row, Source))
            self.rows = Rows(like, [window for _, window in self.kinds], self.slots)
        self.rows.arrange(rows)
        device = self.model.device
        self.next = torch.tensor([answer.tokens[-1:] for answer in self.answers], device=device)
        self.positions = torch.tensor(self.rows.lengths(), device=device)[:, None]

    def write(self, ends: Sequence[int]) -> list[Answer]:
        """Write until answers are done, and return those."""
        left = min(answer.limit - len(answer.tokens) for answer in self.answers)
        done: list[Answer] = []
        while not done:
            count = min(left, self.at_once)
            written = torch.cat([self._step() for _ in range(count)], dim=1).tolist()
            for answer, tokens in zip(self.answers, written, strict=True):
                answer.add(tokens, ends)
            left -= count
            done = [answer for answer in self.answers if answer.done]
        return done

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
