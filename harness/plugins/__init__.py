"""Finding plugins: a file is a plugin and its name is its name; others are guests.

A guest comes from another distribution, by an entry point, or from a file that the user names.
Nothing is imported until it is asked for. No guest takes our names; a bad one is a `UserError`.
"""

import ast
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.errors import UserError, unknown
from harness.packages import shipped
from harness.plugins import guests, named_files

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
FILE = ".py"
"""How the name of a plugin ends that is the path of its file."""

SHARED_FILES = {"contract", "form", "prompts", "register", "trainer"}
"""Files beside the plugins that are not plugins."""


def add(kind: Kind, path: Path) -> str:
    """Take a file of the user's as a plugin; in place of an earlier one of its name.

    Returns:
        The name of the plugin, which is the file's without the suffix.

    Raises:
        UserError: There is no such file, or another plugin has its name.
    """
    if not path.is_file():
        raise UserError(f"{path}: there is no such file.")
    name = path.stem
    if name in _ours(kind) | _entry_points(kind).keys():
        raise UserError(
            f"{path}: {name!r} is another {guests.OFFERS[kind]} already. Rename the file."
        )
    named_files.add(kind, path.resolve())
    return name


def named_file(kind: Kind, name: str) -> Path | None:
    """Return the file of a plugin that the user named by its path; None for any other plugin."""
    return named_files.of(kind).get(name)


def files_here() -> list[str]:
    """List the Python files of the current folder, one of which a user may mean."""
    return sorted(path.name for path in Path().glob(f"*{FILE}"))


def names(kind: Kind) -> list[str]:
    """List the plugins of a kind: files of the folder, entry points, and files of the user's."""
    return sorted(_files(kind) | _guests(kind))


def is_guest(kind: Kind, name: str) -> bool:
    """Whether a plugin is none of the harness's own."""
    return name in _guests(kind)


def faults(kind: Kind) -> dict[str, str]:
    """Say of each guest that cannot be used why; imports the guests."""
    found = {}
    for name in sorted(_guests(kind)):
        try:
            offered = _load(kind, name)
            if kind == "groups":
                _check_members(name, offered)
        except UserError as error:
            found[name] = str(error)
    return found


def usable(kind: Kind) -> list[str]:
    """List the plugins of a kind without the guests that cannot be used; imports the guests."""
    wrong = faults(kind)
    return [name for name in names(kind) if name not in wrong]


def taken(kind: Kind) -> list[str]:
    """Say of each guest whose name is that of another plugin that it is not used."""
    lines, seen = [], dict.fromkeys(_ours(kind), "the harness")
    for entry in guests.entry_points_of(kind):
        if entry.name in seen:
            what = guests.described(guests.OFFERS[kind], entry)
            lines.append(f"{what} is not used: {seen[entry.name]} has that name.")
        seen.setdefault(entry.name, guests.origin(entry))
    return lines


def notes(*kinds: Kind) -> list[str]:
    """Say which guests of some kinds cannot be used, or are not since their name is taken."""
    return [line for kind in kinds for line in (*faults(kind).values(), *taken(kind))]


def method(name: str) -> "Method":
    """Load a method, or make one of `peft:TYPE`; imports torch and peft.

    Raises:
        UserError: There is none of that name, a guest cannot be used, PEFT has no such type, or it
            is not one that can be trained here.
    """
    if name.startswith(OF_PEFT):
        from methods.tuners.peft_types import of_peft  # noqa: PLC0415 (start-up time)

        kind = name.removeprefix(OF_PEFT)
        if kind.lower() in _files("methods"):
            raise UserError(f"{name!r} is a method here: write {kind.lower()}.")
        try:
            return of_peft(kind, _files("methods"))
        except ValueError as error:
            raise UserError(str(error)) from error
    found: Method = _load("methods", name)
    return found


def benchmark(name: str) -> "Benchmark":
    """Load a benchmark; raises a `UserError` as `method` does."""
    found: Benchmark = _load("tasks", name)
    return found


def group(name: str) -> "Group":
    """Load a group of benchmarks, or make one of benchmarks that are in none: `zoo`, `farm+zoo`.

    Raises:
        UserError: There is none of that name, or a guest cannot be used.
    """
    if name not in names("groups") and set(name.split("+")) <= set(names("tasks")):
        return _group_of_its_own(name.split("+"))
    found: Group = _load("groups", name)
    return found


def executor(name: str) -> Any:
    """Load the callable that builds an executor (`harness.scheduling.executors.contract`).

    Raises:
        UserError: There is none of that name, what it needs is not installed, or a guest cannot be
            used.
    """
    try:
        return _load("executors", name)
    except ModuleNotFoundError as error:
        raise UserError(
            f"--executor {name} needs the package {error.name}, which is not installed: install "
            f"the harness with the extra `{name}`."
        ) from error


def groups() -> list[str]:
    """List the groups that can be used, and the benchmarks that are a group of their own."""
    alone = [name for name in usable("tasks") if is_guest("tasks", name)]
    return [*usable("groups"), *(name for name in alone if group_of(name) == name)]


def group_of(benchmark_name: str) -> str:
    """Name the group that a benchmark belongs to: one of ours before one of a guest.

    One that is in no group is a group of its own, under its own name.
    """
    ours = _files("groups")
    for name in sorted(names("groups"), key=lambda name: (name not in ours, name)):
        with suppress(UserError):  # a guest that cannot be used has no benchmarks
            if benchmark_name in group(name).benchmarks:
                return name
    return benchmark_name


def docstring(kind: Kind, name: str) -> str:
    """Read the docstring of a plugin's file without importing it; empty if it has none.

    Raises:
        UserError: The file of a guest is not there, or no Python.
    """
    with _told(kind, name):
        return ast.get_docstring(ast.parse(source_path(kind, name).read_text())) or ""


def entry(kind: Kind, name: str) -> EntryPoint:
    """Say which module offers a plugin, and by which name.

    Raises:
        UserError: There is no such plugin.
    """
    if name in _files(kind):
        return EntryPoint(name, f"{PACKAGES[kind]}.{name}:{guests.OFFERS[kind]}", f"harness.{kind}")
    if named_file(kind, name):
        return EntryPoint(name, f"{name}:{guests.OFFERS[kind]}", f"harness.{kind}")
    if name not in _guests(kind):
        raise UserError(unknown(guests.OFFERS[kind], name, names(kind)))
    return _entry_points(kind)[name]


def source_path(kind: Kind, name: str) -> Path:
    """Find the file of a plugin; imports the packages that it lies in."""
    if path := named_file(kind, name):
        return path
    module = entry(kind, name).module
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"No module named {module!r}")
    return Path(spec.origin)


def _load(kind: Kind, name: str) -> Any:
    found = entry(kind, name)
    with _told(kind, name):
        path = named_file(kind, name)
        offered = getattr(named_files.module_of(path), found.attr, None) if path else found.load()
    if is_guest(kind, name):
        guests.check_type(guests.OFFERS[kind], called(kind, name), offered)
    return offered


def _group_of_its_own(members: list[str]) -> "Group":
    """Make a group of benchmarks that are in none; what they train on is what they agree in."""
    from tasks.contract import Group  # noqa: PLC0415 (start-up time)

    found = [benchmark(name) for name in members]
    trains = {one.train for one in found}
    return Group(
        title=" + ".join(one.title for one in found),
        benchmarks=tuple(members),
        train=trains.pop() if len(trains) == 1 else (),
        sample_rows=1000,  # as of mathematics
    )


def _check_members(name: str, group: "Group") -> None:
    """Refuse a guest's group that names a benchmark that cannot be used."""
    wrong = faults("tasks")
    for one in group.benchmarks:
        if one in wrong or one not in names("tasks"):
            why = wrong.get(one, "there is no such benchmark.")
            raise UserError(f"{called('groups', name)} cannot be used: {one!r}: {why}")


@contextmanager
def _told(kind: Kind, name: str) -> Iterator[None]:
    """Turn whatever a guest raises into one line that says where it comes from."""
    try:
        yield
    except (Exception, SystemExit) as error:
        if not is_guest(kind, name) or isinstance(error, UserError):
            raise
        why = guests.reason(error, named_file(kind, name))
        raise UserError(f"{called(kind, name)} cannot be imported: {why}") from error


def called(kind: Kind, name: str) -> str:
    """Say what a plugin is, and of a guest where it comes from."""
    if path := named_file(kind, name):
        return str(path)
    guest, what = _entry_points(kind).get(name), guests.OFFERS[kind]
    return guests.described(what, guest) if guest else f"the {what} {name!r}"


def _guests(kind: Kind) -> set[str]:
    return named_files.of(kind).keys() | _entry_points(kind).keys()


def _ours(kind: Kind) -> frozenset[str]:
    """List the names that no guest may have; `--tasks` takes groups and benchmarks alike."""
    return _files("tasks") | _files("groups") if kind in ("tasks", "groups") else _files(kind)


@cache
def _files(kind: Kind) -> frozenset[str]:
    package, ours = import_module(PACKAGES[kind]), shipped()
    return frozenset(
        module.name
        for folder in package.__path__
        for module in pkgutil.iter_modules([folder])
        if not module.ispkg and module.name not in SHARED_FILES
        if ours is None or Path(folder, f"{module.name}{FILE}") in ours
    )


@cache
def _entry_points(kind: Kind) -> dict[str, EntryPoint]:
    """List the guests of other distributions by name; of two of one name, the first one."""
    found = {one.name: one for one in reversed(guests.entry_points_of(kind))}
    return {name: one for name, one in found.items() if name not in _ours(kind)}
