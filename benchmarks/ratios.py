"""Comparing what two ways of computing the same cost, on a machine that others use too."""

import gc
import time
from collections.abc import Callable
from statistics import median

import torch

Work = Callable[[], object]


def ratios(ways: dict[str, Work], to: str, rounds: int) -> dict[str, float]:
    """Time each way in turn, `rounds` times, and return medians relative to that of `to`.

    Taking turns spreads what else the machine does over all ways alike.
    """
    for work in ways.values():
        work()
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, work in ways.items():
            seconds[name].append(_seconds(work))
    base = median(seconds[to])
    return {name: median(found) / base for name, found in seconds.items()}


def _seconds(work: Work) -> float:
    gc.collect()
    _synchronize()
    start = time.perf_counter()
    work()
    _synchronize()
    return time.perf_counter() - start


def _synchronize() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def device() -> torch.device:
    """Return where to measure: the GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
