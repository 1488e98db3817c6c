"""Every benchmark with its sample: a new file in `tasks/` is tested the moment it exists."""

import os
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import tasks
import tasks.groups
from tasks.contract import Benchmark, Group
from tasks.data import sets
from tasks.data.sets import DataSet

SHARED = {"contract", "form", "prompts"}
NAMES = [m.name for m in iter_modules(tasks.__path__) if not m.ispkg and m.name not in SHARED]
GROUPS: dict[str, Group] = {
    m.name: import_module(f"tasks.groups.{m.name}").group
    for m in iter_modules(tasks.groups.__path__)
}
TRAINED = [name for name, group in GROUPS.items() if not group.folds]
"""Groups with a training sample; the others train on their tests' own rows."""


@cache
def load(name: str) -> Benchmark:
    found: Benchmark = import_module(f"tasks.{name}").benchmark
    return found


@cache
def drawn(name: str) -> DataSet:
    """Draw the sample of a benchmark, or the training sample of a group."""
    if name in GROUPS:
        group = GROUPS[name]
        return sets.load_training(name, group, map(load, group.benchmarks), None)
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


@pytest.fixture(params=GROUPS)
def group(request: pytest.FixtureRequest) -> Group:
    return GROUPS[request.param]


@pytest.fixture(params=TRAINED)
def trained(request: pytest.FixtureRequest) -> str:
    """The name of a group that has a training sample."""
    return str(request.param)


@pytest.fixture
def training(trained: str) -> DataSet:
    return drawn(trained)


@pytest.fixture
def tests(trained: str) -> dict[str, DataSet]:
    """The samples that models trained on `training` are tested on, by benchmark."""
    return {name: drawn(name) for name in GROUPS[trained].benchmarks}


@pytest.fixture(params=[*TRAINED, *NAMES])
def drawn_set(request: pytest.FixtureRequest) -> DataSet:
    return drawn(request.param)


@pytest.fixture(scope="session")
def data() -> Path:
    if not os.environ.get("HARNESS_DATA"):
        pytest.skip("HARNESS_DATA names no folder with the published data")
    return Path(os.environ["HARNESS_DATA"])
