"""Finding plugins: a file is a plugin and its name is its name; other distributions add theirs.

Nothing is imported until it is asked for. No other distribution takes the name of a file of ours.
"""

import ast
import pkgutil
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.errors import UserError, unknown

if TYPE_CHECKING:
    from methods.contract import Method
    from tasks.contract import Benchmark, Group

Kind = Literal["methods", "tasks", "groups", "executors"]

PACKAGES: dict[Kind, str] = {
    "methods": "methods",
    "tasks": "tasks",
    "groups": "tasks.groups",
    "executors": "harness.scheduling.executors",
}
OF_PEFT = "peft:"
SHARED_FILES = {"contract", "form", "prompts", "register"}
"""Files beside the plugins that are not plugins."""

OFFERS: dict[Kind, str] = {
    "methods": "method",
    "tasks": "benchmark",
    "groups": "group",
    "executors": "executor",
}


def names(kind: Kind) -> list[str]:
    """List the plugins of a kind: files of the folder and entry points."""
    return sorted(_files(kind) | _entry_points(kind).keys())


def method(name: str) -> "Method":
    """Load a method, or make one of `peft:TYPE`; imports torch and peft.

    Raises:
        UserError: PEFT has no such type, or it is not one that adapts layers.
    """
    if name.startswith(OF_PEFT):
        from methods.tuners.peft_types import of_peft  # noqa: PLC0415 (start-up time)

        kind = name.removeprefix(OF_PEFT)
        if kind.lower() in _files("methods"):
            raise UserError(f"{name!r} is a method here: write {kind.lower()}.")
        try:
            return of_peft(kind)
        except ValueError as error:
            raise UserError(str(error)) from error
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


def executor(name: str) -> Any:
    """Load the callable that builds an executor over slots (`harness.scheduling.executors`).

    Raises:
        UserError: There is none of that name.
    """
    if name not in names("executors"):
        raise UserError(unknown("executor", name, names("executors")))
    return _load("executors", name)


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
    return ast.get_docstring(ast.parse(source_path(kind, name).read_text())) or ""


def entry(kind: Kind, name: str) -> EntryPoint:
    """Say which module offers a plugin, and by which name."""
    if name in _files(kind):
        return EntryPoint(name, f"{PACKAGES[kind]}.{name}:{OFFERS[kind]}", f"harness.{kind}")
    return _entry_points(kind)[name]


def source_path(kind: Kind, name: str) -> Path:
    """Find the file of a plugin; imports the packages that it lies in."""
    spec = find_spec(entry(kind, name).module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


def _load(kind: Kind, name: str) -> Any:
    return entry(kind, name).load()


@cache
def _files(kind: Kind) -> frozenset[str]:
    package = import_module(PACKAGES[kind])
    found = (module for module in pkgutil.iter_modules(package.__path__) if not module.ispkg)
    return frozenset(module.name for module in found if module.name not in SHARED_FILES)


@cache
def _entry_points(kind: Kind) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=f"harness.{kind}")}
