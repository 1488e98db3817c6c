"""Finding plugins: a file is a plugin and its name is its name; other distributions add theirs.

Nothing is imported until it is asked for.
"""

import pkgutil
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from methods.base import Method
    from tasks.base import Benchmark, Group

Kind = Literal["methods", "tasks", "groups"]

PACKAGES: dict[Kind, str] = {"methods": "methods", "tasks": "tasks", "groups": "tasks.groups"}
OFFERS: dict[Kind, str] = {"methods": "method", "tasks": "benchmark", "groups": "group"}


def names(kind: Kind) -> list[str]:
    """List the plugins of a kind: files of the folder and entry points."""
    package = import_module(PACKAGES[kind])
    found = (module for module in pkgutil.iter_modules(package.__path__) if not module.ispkg)
    files = {module.name for module in found if module.name != "base"}
    return sorted(files | _entry_points(kind).keys())


def method(name: str) -> "Method":
    """Load a method; imports torch and peft."""
    found: Method = _load("methods", name)
    return found


def benchmark(name: str) -> "Benchmark":
    """Load a benchmark."""
    found: Benchmark = _load("tasks", name)
    return found


def group(name: str) -> "Group":
    """Load a group of benchmarks."""
    found: Group = _load("groups", name)
    return found


def group_of(benchmark_name: str) -> str:
    """Name the group that a benchmark belongs to."""
    return next(name for name in names("groups") if benchmark_name in group(name).benchmarks)


def source_hash(name: str) -> str:
    """Hash the file of a method, so that a changed method is another method to the store."""
    spec = find_spec(_module("methods", name))
    assert spec is not None
    assert spec.origin is not None
    return sha256(Path(spec.origin).read_bytes()).hexdigest()


def _load(kind: Kind, name: str) -> Any:
    return getattr(import_module(_module(kind, name)), OFFERS[kind])


def _module(kind: Kind, name: str) -> str:
    entry = _entry_points(kind).get(name)
    return entry.module if entry else f"{PACKAGES[kind]}.{name}"


@cache
def _entry_points(kind: Kind) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=f"harness.{kind}")}
