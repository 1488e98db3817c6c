"""Finding plugins: a file is a plugin and its name is its name; other distributions add theirs.

Nothing is imported until it is asked for. No other distribution takes the name of a file of ours.
"""

import ast
import pkgutil
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points, version
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
SHARED = ("methods.tuners.", "methods.training.")
SHARED_FILES = {"contract", "form", "prompts"}
"""Files beside the plugins that are none."""

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
    """Load what builds an executor over slots: see `harness.scheduling.executors.contract`.

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
    return ast.get_docstring(ast.parse(_source(kind, name).read_text())) or ""


def source_hash(name: str) -> str:
    """Hash the source of a method, so that a changed method is another method to the store.

    That is its file and the files of `methods/tuners` and `methods/training` that it builds on; of
    `peft:TYPE`, the version of PEFT.
    """
    if name.startswith(OF_PEFT):
        return sha256(f"peft {version('peft')}".encode()).hexdigest()
    total = sha256()
    for path in _with_imports(_source("methods", name)):
        total.update(path.read_bytes())
    return total.hexdigest()


def _with_imports(path: Path) -> list[Path]:
    """List a file and what it imports from the shared parts of `methods`, each once."""
    found = [path]
    for one in found:
        for node in ast.walk(ast.parse(one.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(SHARED):
                spec = find_spec(str(node.module))
                assert spec is not None
                if (place := Path(str(spec.origin))) not in found:
                    found.append(place)
    return found


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
    return frozenset(module.name for module in found if module.name not in SHARED_FILES)


@cache
def _entry_points(kind: Kind) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=f"harness.{kind}")}
