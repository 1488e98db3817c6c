"""A key-value cache whose rows come and go, and whose tokens are written where they belong.

All rows end in the same column, however long they are; what is left of a shorter row is masked. So
a new token is one column of all rows, and nothing left of the longest row is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import Cache, DynamicCache
from transformers.cache_utils import DynamicLayer

from methods.tuners import prefix

SPARE = 64
"""Columns for tokens to come: after so many tokens the rows move to new tensors."""


class Source(NamedTuple):
    """Where a row comes from: a row of a cache whose first `length` columns are its tokens."""

    cache: DynamicCache
    row: int
    length: int


@dataclass
class Span:
    """The part of the tensors that is in use: the first `rows`, columns `start` to `stop`."""

    rows: int = 0
    start: int = 0
    stop: int = 0

    def first(self, window: int | None) -> int:
        """Return the first column that the token of column `stop` sees."""
        return max(self.start, self.stop + 1 - window) if window else self.start


class Layer(DynamicLayer):
    """Keys and values of one layer, each a tensor (slots, heads, columns, head size).

    Args:
        like: The layer as a forward pass has filled it.
        span: Of all layers.
        window: How many tokens a token sees, itself included; None for all.
    """

    def __init__(self, like: Any, span: Span, window: int | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.lazy_initialization(like.keys, like.values)
        self.span, self.window = span, window
        self.tensors: list[Tensor] = [like.keys[:0, :, :0], like.values[:0, :, :0]]

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Write keys and values of one token of each row; return those that it sees."""
        keys = self._written(self.tensors[0], key_states)
        values = self._written(self.tensors[1], value_states)
        self.keys, self.values = keys, values
        return keys, values

    def get_seq_length(self) -> int:
        """Return the number of columns in use."""
        return self.span.stop - self.span.start

    def move(self, slots: int, stop: int) -> None:
        """Move the rows to new tensors, where they end in column `stop`."""
        width = min(stop, self.span.stop)
        for place, old in enumerate(self.tensors):
            # Zeros, since what is masked is multiplied by 0, which makes no 0 of a NaN.
            new = old.new_zeros(slots, old.shape[1], stop + SPARE, old.shape[3])
            kept = old[:, :, self.span.stop - width : self.span.stop]
            new[: len(old), :, stop - width : stop] = kept
            self.tensors[place] = new

    def take(self, place: int, source: Source, layer: Any) -> None:
        """Copy a row of another cache's layer to a place here."""
        columns = slice(self.span.stop - source.length, self.span.stop)
        for tensor, states in zip(self.tensors, (layer.keys, layer.values), strict=True):
            tensor[place, :, columns] = states[source.row, :, : source.length]

    def shift(self, place: int, row: int) -> None:
        """Copy a row to another place."""
        for tensor in self.tensors:
            tensor[place] = tensor[row]

    def _written(self, tensor: Tensor, new: Tensor) -> Tensor:
        rows, first = tensor.narrow(0, 0, self.span.rows), self.span.first(self.window)
        rows.narrow(2, self.span.stop, 1).copy_(new)
        return rows.narrow(2, first, self.span.stop + 1 - first)


class Rows(Cache):
    """The rows at work.

    Args:
        like: A cache that a pass of the model has filled.
        windows: Of each layer, how many tokens a token sees; None for all.
        slots: The most rows.
    """

    def __init__(self, like: DynamicCache, windows: Sequence[int | None], slots: int) -> None:
        self.span, self.slots = Span(), slots
        self.levels = [
            Layer(layer, self.span, window)
            for layer, window in zip(like.layers, windows, strict=True)
        ]
        super().__init__(layers=list(self.levels))
        self._hidden = self.levels[0].tensors[0].new_zeros(0, 1, 1, 0)
        self._starts: list[int] = []

    def lengths(self) -> list[int]:
        """Count the tokens of each row."""
        return [self.span.stop - start for start in self._starts]

    def mask(self, window: int | None) -> Tensor:
        """Return what is added to the attention of the next token: (rows, 1, 1, columns)."""
        first = self.span.first(window)
        return self._hidden.narrow(3, first, self.span.stop + 1 - first)

    def advance(self) -> None:
        """Count the column that all layers have written; make room for the next."""
        self.span.stop += 1
        if self.span.stop == self._hidden.shape[3]:
            self.arrange(range(self.span.rows))

    def arrange(self, rows: Sequence[int | Source]) -> None:
        """Keep rows, move them up, take up others.

        Args:
            rows: What comes to each place: a row of here, from there or from further below, or a
                row of another cache.
        """
        before = self.lengths()
        lengths = [row.length if isinstance(row, Source) else before[row] for row in rows]
        if max(lengths) > self.span.stop or self.span.stop >= self._hidden.shape[3]:
            for level in self.levels:
                level.move(self.slots, max(lengths))
            self.span.stop = max(lengths)
        for place, row in enumerate(rows):
            self._fill(place, row)
        sources = [(row.cache, row.row) if isinstance(row, Source) else (self, row) for row in rows]
        prefix.carry(self, sources)
        self._starts = [self.span.stop - length for length in lengths]
        self.span.rows, self.span.start = len(rows), min(self._starts)
        self._hide()

    def _fill(self, place: int, row: int | Source) -> None:
        if isinstance(row, Source):
            for level, given in zip(self.levels, row.cache.layers, strict=True):
                level.take(place, row, given)
        elif row != place:
            for level in self.levels:
                level.shift(place, row)

    def _hide(self) -> None:
        keys = self.levels[0].tensors[0]
        columns = torch.arange(keys.shape[2], device=keys.device)
        starts = torch.tensor(self._starts, device=keys.device)
        hidden = (columns < starts[:, None]).to(keys.dtype) * torch.finfo(keys.dtype).min
        self._hidden = hidden[:, None, None]
