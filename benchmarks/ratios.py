"""Comparing what two ways of computing the same cost, on a machine that others use too."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import torch

Work = Callable[[], object]


@dataclass(frozen=True)
class Ratio:
    """What one way costs relative to another, over the rounds of a measurement."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:.3f} ({self.least:.3f} to {self.most:.3f})"


def ratios(ways: dict[str, Work], to: str, rounds: int) -> dict[str, Ratio]:
    """Time each way in turn, `rounds` times, and return its cost relative to that of `to`.

    Taking turns spreads what else the machine does over all ways alike: a round's ratio is to the
    cost of `to` in that round. One thread's CPU seconds; on a GPU, seconds on the clock.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for work in ways.values():
            work()
        found = [{name: _seconds(work) for name, work in ways.items()} for _ in range(rounds)]
    finally:
        torch.set_num_threads(threads)
    return {name: _ratio([one[name] / one[to] for one in found]) for name in ways}


def _ratio(found: list[float]) -> Ratio:
    return Ratio(median(found), min(found), max(found))


def _seconds(work: Work) -> float:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        return time.perf_counter() - start
    start = time.process_time()
    work()
    return time.process_time() - start


def device() -> torch.device:
    """Return where to measure: the GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
