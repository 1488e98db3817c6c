"""Every benchmark with its sample: a new file in `tasks/` is tested the moment it exists."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import pytest

import tasks
from tasks.base import Benchmark
from tasks.data import sets
from tasks.data.sets import DataSet
from tasks.groups.math import group as math

NAMES = [m.name for m in iter_modules(tasks.__path__) if not m.ispkg and m.name != "base"]


@cache
def load(name: str) -> Benchmark:
    found: Benchmark = import_module(f"tasks.{name}").benchmark
    return found


@cache
def drawn(name: str) -> DataSet:
    """Draw a benchmark's sample, or the training sample of the group `math`."""
    if name == "math":
        return sets.load_training("math", math, map(load, math.benchmarks), None)
    return sets.load_test(name, load(name), None)


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def benchmark(name: str) -> Benchmark:
    return load(name)


@pytest.fixture
def sample(name: str) -> DataSet:
    return drawn(name)


@pytest.fixture(params=["math", *NAMES])
def drawn_set(request: pytest.FixtureRequest) -> DataSet:
    return drawn(request.param)


@pytest.fixture
def training() -> DataSet:
    return drawn("math")
