"""Many tests read together: p-values adjusted so that chance alone is rarely called significant."""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Literal

Correction = Literal["holm", "bh", "none"]
"""Holm: of all tests of a family, one or more is significant by chance in at most 5 % of families.
Benjamini and Hochberg: of those called significant, at most 5 % on average are so by chance."""


def adjust(ps: Sequence[float], how: Correction) -> list[float]:
    """Adjust the p-values of one family, which are to be compared with ALPHA afterwards.

    Holm, 1979. A simple sequentially rejective multiple test procedure.
    Benjamini and Hochberg, 1995. Controlling the false discovery rate.

    >>> adjust([0.01, 0.04, 0.03], "holm")
    [0.03, 0.06, 0.06]
    >>> adjust([0.01, 0.04, 0.03], "bh")
    [0.03, 0.04, 0.04]
    >>> adjust([0.01, 0.04, 0.03], "none")
    [0.01, 0.04, 0.03]
    """
    order = sorted(range(len(ps)), key=ps.__getitem__)
    ordered = _STEPS[how]([ps[index] for index in order])
    return [p for _, p in sorted(zip(order, ordered, strict=True))]


def every_one(ps: Sequence[float]) -> float:
    """Give the p of a claim that holds only if each of its tests, at least one, is significant.

    "Better than every baseline" is such a claim. The largest p needs no correction.

    Berger, 1982. Multiparameter hypothesis testing and acceptance sampling (intersection-union).
    """
    return max(ps)


def _holm(ps: list[float]) -> list[float]:
    """Adjust ascending p-values: the i-th of m by m - i + 1, none below the one before it."""
    return list(accumulate((min(1.0, (len(ps) - i) * p) for i, p in enumerate(ps)), max))


def _bh(ps: list[float]) -> list[float]:
    """Adjust ascending p-values: the i-th of m by m / i, none above the one after it."""
    scaled = [min(1.0, len(ps) / i * p) for i, p in enumerate(ps, start=1)]
    return list(accumulate(reversed(scaled), min))[::-1]


_STEPS: Mapping[Correction, Callable[[list[float]], list[float]]] = {
    "holm": _holm,
    "bh": _bh,
    "none": list,
}
