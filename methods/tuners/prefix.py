"""Means over the tokens up to each token, which a key-value cache continues."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from methods.training.determinism import excepted

SumAndCount = tuple[Tensor, Tensor]


class Sums(torch.autograd.Function):
    """The sums of x (..., tokens, n) over the tokens up to each; its backward pass is one too."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        """Sum up from the first token."""
        with excepted():
            return x.cumsum(-2)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        """Sum up from the last token."""
        (gradient,) = gradients
        with excepted():
            return gradient.flip(-2).cumsum(-2).flip(-2)


class Prefix:
    """What layers must know of a pass through the model, to pool over the prefix of each token.

    Hooks on the model find out: which tokens are padding, from a mask (batch, tokens), and what
    the layers had summed up when the key-value cache was written. The sums go with the cache. A
    cache that has changed since, by beam search or cropping, has lost them, and a layer refuses it.

    Under gradient checkpointing layers run again within the backward pass, and see the mask of the
    last pass through the model: take the backward pass of one before the next.
    """

    def __init__(self) -> None:
        self.shape: torch.Size | None = None
        self.mask: Tensor | None = None
        self.continues = False
        self.before: dict[nn.Module, SumAndCount] = {}
        self.after: dict[nn.Module, SumAndCount] = {}

    def watch(self, model: nn.Module) -> list[Any]:
        """Watch the passes through `model`; return the hooks."""
        return [
            model.register_forward_pre_hook(self._begin, with_kwargs=True),
            model.register_forward_hook(self._end),
        ]

    def means(self, layer: nn.Module, x: Tensor) -> Tensor:
        """Average the tokens of x (..., tokens, n) up to each, itself included; of no text, 0.

        Raises:
            RuntimeError: The pass continues a key-value cache that has lost the layer's sums.
        """
        of_text = x.shape[:-1] == self.shape  # not of an image, whose mask would be another
        counted = x.new_ones(*x.shape[:-1], 1)
        if of_text and self.mask is not None:
            counted = self.mask[:, -x.shape[-2] :, None].to(x.dtype)
        sums: Tensor = Sums.apply(x * counted)  # type: ignore[no-untyped-call]
        counts: Tensor = Sums.apply(counted)  # type: ignore[no-untyped-call]
        if of_text and self.continues:
            earlier_sums, earlier_counts = self._earlier(layer)
            sums, counts = sums + earlier_sums, counts + earlier_counts
        if of_text:
            self.after[layer] = (sums[:, -1:].detach().clone(), counts[:, -1:].clone())
        return sums / counts.clamp(min=1)

    def _earlier(self, layer: nn.Module) -> SumAndCount:
        if layer not in self.before:
            raise RuntimeError(
                "Pooling over the prefix cannot continue this key-value cache: other adapters "
                "wrote it, or it was changed since, as beam search and cropping do. Decode "
                "greedily or by sampling, or with use_cache=False."
            )
        return self.before[layer]

    def _begin(self, model: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        given = [kwargs.get(name) for name in ("input_ids", "inputs_embeds")]
        tokens: Any = next((one for one in (*given, *args) if one is not None), None)
        self.shape = None if tokens is None else tokens.shape[:2]
        mask = kwargs.get("attention_mask")
        self.mask = mask if isinstance(mask, Tensor) and mask.ndim == 2 else None  # noqa: PLR2004
        cache: Any = kwargs.get("past_key_values")
        self.continues = cache is not None and bool(cache.get_seq_length() > 0)
        keys, sums = getattr(cache, "prefix", (None, {}))
        # Whatever rearranges a cache makes new tensors of it.
        unchanged = self.continues and cache.layers[0].keys is keys
        self.before, self.after = sums if unchanged else {}, {}

    def _end(self, model: nn.Module, args: Any, output: Any) -> None:
        cache = getattr(output, "past_key_values", None)
        if cache is not None:
            cache.prefix = (cache.layers[0].keys, self.after)
        self.before, self.after = {}, {}


def carry(cache: Any, rows: Sequence[tuple[Any, int]]) -> None:
    """Give a cache the sums of its rows, each of which was a row of this cache or of another one.

    Nothing is done where no layer pools over prefixes.

    Args:
        cache: With its rows in place.
        rows: For each of them the cache that it comes from, and its row there.
    """
    kept: list[dict[nn.Module, SumAndCount]] = [
        getattr(source, "prefix", (None, {}))[1] for source, _ in rows
    ]
    places = [row for _, row in rows]
    carried = {layer: _joined([one[layer] for one in kept], places) for layer in kept[0]}
    cache.prefix = (cache.layers[0].keys, carried)


def _joined(kept: Sequence[SumAndCount], places: Sequence[int]) -> SumAndCount:
    sums = [one[0][place : place + 1] for one, place in zip(kept, places, strict=True)]
    counts = [one[1][place : place + 1] for one, place in zip(kept, places, strict=True)]
    return torch.cat(sums), torch.cat(counts)
