"""Tests over training runs: the numbers of a method are one per seed."""

from collections.abc import Callable, Mapping

from results.statistics.seeds import paired, permutation, welch
from results.statistics.test import Alternative, Test, Undefined

SeedTest = Callable[[Mapping[int, float], Mapping[int, float], Alternative], Test | Undefined]
"""Test the numbers of two methods, each by seed."""

FEWEST = 3
"""Fewer seeds of a method are not tested unless it is asked for."""

NAMED: Mapping[str, SeedTest] = {
    "welch": welch.welch,
    "paired": paired.paired,
    "permutation": permutation.permutation,
}
"""The tests that need the numbers of the seeds and nothing else, by name."""
