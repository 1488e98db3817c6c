"""Packed training: the rows of a step one after another in one sequence, without padding.

Positions and attention start again at each row, so that the losses of a row's tokens and their
gradients are those of the row in a padded batch. An adapter that treats each token by itself sees
no difference; one that looks at other tokens of the pass does, and its method says so by
`Method.unpacked`.

Attention is that of the model, one row at a time, without a mask: torch's own kernels take it as
causal, on a GPU its flash kernel. Rows that exceed a sliding window get a mask of their own.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

Own = Literal["sdpa", "eager"]
"""The attention of the model that is taken row by row: `eager` where it soft-caps (Gemma 2)."""

KINDS = {"full_attention", "sliding_attention"}
"""The layers that can start again at each row."""


def refusal(unpacked: str, config: Any) -> str | None:
    """Say why rows are not packed; None where they are.

    Args:
        unpacked: Why the method does not allow it (`Method.unpacked`); empty where it does.
        config: Of the language model.
    """
    return unpacked or _of_model(config)


def _of_model(config: Any) -> str | None:
    text = config.get_text_config()
    model: Any = MODEL_FOR_CAUSAL_LM_MAPPING.get(type(config), None)
    if model is None or not model._supports_attention_backend:
        return f"the attention of {text.model_type} cannot be taken row by row"
    if not getattr(text, "rope_parameters", None):
        # RoBERTa counts positions from its padding token on, and would take others without a word.
        return f"the positions of {text.model_type} are not rotary"
    if others := sorted(set(getattr(text, "layer_types", None) or ()) - KINDS):
        return f"{text.model_type} has layers of {others[0]}, which would run on across rows"
    return None


def inputs(rows: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return what a model takes for packed rows: ids and positions (1, tokens), and the lengths."""
    lengths = [len(row) for row in rows]
    ids = torch.tensor([token for row in rows for token in row])
    positions = torch.cat([torch.arange(length) for length in lengths])
    return {"input_ids": ids[None], "position_ids": positions[None], "lengths": lengths}


@contextmanager
def row_by_row(model: Any) -> Iterator[None]:
    """Let the attention of a model start again at each row; backward passes belong in here too.

    Within, the model takes what `inputs` returns, and nothing else.
    """
    config = model.config.get_text_config()
    own = config._attn_implementation
    config._attn_implementation = f"packed-{own}"
    try:
        yield
    finally:
        config._attn_implementation = own


def attend(  # noqa: PLR0913 (the signature is transformers')
    own: Own,
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: None,
    *,
    lengths: Sequence[int],
    sliding_window: int | None = None,
    **options: Any,
) -> tuple[Tensor, None]:
    """Attend within each row: states (1, heads, tokens, d_head) to (1, tokens, heads, d_head)."""
    parts = zip(*(states.split(lengths, dim=2) for states in (query, key, value)), strict=True)
    function = _function(own, module)
    attended = [
        function(module, *part, _mask(own, part[0], sliding_window), **options)[0] for part in parts
    ]
    return torch.cat(attended, dim=1), None


def _function(own: Own, module: nn.Module) -> Callable[..., tuple[Tensor, Any]]:
    if own == "sdpa":
        return sdpa_attention_forward
    # transformers has a function of this name beside every attention.
    function: Callable[..., tuple[Tensor, Any]] = sys.modules[
        type(module).__module__
    ].eager_attention_forward
    return function


def _mask(own: Own, query: Tensor, window: int | None) -> Tensor | None:
    """Return which tokens each token of a row sees, (tokens, tokens); None for all before it."""
    tokens = query.shape[2]
    if own == "sdpa" and (window is None or tokens <= window):
        return None
    seen = torch.ones(tokens, tokens, dtype=torch.bool, device=query.device).tril()
    if window is not None:
        seen = seen.triu(1 - window)
    if own == "sdpa":
        return seen[None, None]
    return torch.zeros_like(seen, dtype=query.dtype).masked_fill(
        ~seen, torch.finfo(query.dtype).min
    )


for one in ("sdpa", "eager"):
    AttentionInterface.register(f"packed-{one}", partial(attend, one))
