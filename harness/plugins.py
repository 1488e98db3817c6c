"""Finding plugins: a file is a plugin and its name is its name; other distributions add theirs.

Nothing is imported until it is asked for. No other distribution takes the name of a file of ours.
"""

import ast
import pkgutil
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.errors import UserError

if TYPE_CHECKING:
    from methods.base import Method
    from tasks.base import Benchmark, Group

Kind = Literal["methods", "tasks", "groups"]

PACKAGES: dict[Kind, str] = {"methods": "methods", "tasks": "tasks", "groups": "tasks.groups"}
OFFERS: dict[Kind, str] = {"methods": "method", "tasks": "benchmark", "groups": "group"}


def names(kind: Kind) -> list[str]:
    """List the plugins of a kind: files of the folder and entry points."""
    return sorted(_files(kind) | _entry_points(kind).keys())


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
    """Name the group that a benchmark belongs to.

    Raises:
        UserError: No group has it.
    """
    for name in names("groups"):
        if benchmark_name in group(name).benchmarks:
            return name
    raise UserError(f"{benchmark_name!r} is in no group, so nothing says what to train on.")


def docstring(kind: Kind, name: str) -> str:
    """Read the docstring of a plugin's file without importing it."""
    return ast.get_docstring(ast.parse(_source(kind, name).read_text())) or ""


def source_hash(name: str) -> str:
    """Hash the file of a method, so that a changed method is another method to the store."""
    return sha256(_source("methods", name).read_bytes()).hexdigest()


def _load(kind: Kind, name: str) -> Any:
    if name in _files(kind):
        return getattr(import_module(f"{PACKAGES[kind]}.{name}"), OFFERS[kind])
    return _entry_points(kind)[name].load()


def _source(kind: Kind, name: str) -> Path:
    ours = name in _files(kind)
    spec = find_spec(f"{PACKAGES[kind]}.{name}" if ours else _entry_points(kind)[name].module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


@cache
def _files(kind: Kind) -> frozenset[str]:
    package = import_module(PACKAGES[kind])
    found = (module for module in pkgutil.iter_modules(package.__path__) if not module.ispkg)
    return frozenset(module.name for module in found if module.name != "base")


@cache
def _entry_points(kind: Kind) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=f"harness.{kind}")}
