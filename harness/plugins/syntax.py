"""Python files as definitions that name each other, in a form that only their code changes."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

REFERENCE = re.compile("\0(.*?):(.*?)\0")
"""A definition where a form names it; nothing else in a form has a zero character."""

NO_CODE = {"ctx", "kind", "type_comment", "returns"}
"""Fields of syntax nodes that compute nothing."""


class Definition(NamedTuple):
    """A name that a file defines; `*` is all of them, and no name is what importing it does."""

    module: str
    name: str


def reference(definition: Definition) -> str:
    """Write a definition where a form names it."""
    return f"\0{definition.module}:{definition.name}\0"


def references(form: str) -> set[Definition]:
    """List the definitions that a form names."""
    return {Definition(*names) for names in REFERENCE.findall(form)}


@dataclass(frozen=True, eq=False)
class Module:
    """A file.

    Attributes:
        name: Its dotted name.
        definitions: The statements that bind a name and do nothing else, by that name.
        imports: The file and the name in it that a name may stand for, imported in functions too.
        statements: All other statements.
    """

    name: str
    definitions: dict[str, list[ast.stmt]] = field(default_factory=lambda: defaultdict(list))
    imports: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    statements: list[ast.stmt] = field(default_factory=list)


class Files:
    """Files in which names are followed.

    Attributes:
        packages: By the first part of a dotted name the folder, or the file without its suffix.
    """

    def __init__(self, packages: Mapping[str, Path]) -> None:
        self.packages = packages
        self._modules: dict[str, Module | None] = {}

    def module(self, name: str) -> Module | None:
        """Read a file by its dotted name; None where `packages` has no such file."""
        if name not in self._modules:
            self._modules[name] = self._read(name)
        return self._modules[name]

    def path(self, name: str) -> Path | None:
        """Find a file by its dotted name; a package without a file of its own is its folder."""
        top, *below = name.split(".")
        if top not in self.packages:
            return None
        place = self.packages[top].joinpath(*below)
        for file in (place / "__init__.py", place.with_name(f"{place.name}.py")):
            if file.is_file():
                return file
        return place if place.is_dir() else None

    def _read(self, name: str) -> Module | None:
        path = self.path(name)
        if path is None or path.is_dir():
            return Module(name) if path else None
        return _parsed(name, path.name == "__init__.py", path.read_text("utf-8"))

    def imported_by(self, name: str) -> list[Module]:
        """List the files that run where one of them is imported, itself included."""
        found: dict[str, Module] = {}
        waiting = [name]
        while waiting:
            dotted = waiting.pop()
            waiting += [dotted.rpartition(".")[0]] * ("." in dotted)
            if dotted not in found and (module := self.module(dotted)):
                found[dotted] = module
                waiting += [".".join(one) for several in module.imports.values() for one in several]
        return list(found.values())

    def form(self, module: Module, node: Any) -> str:
        """Write a part of a file's syntax tree as every version of Python would.

        It has no docstrings, no types of arguments, and no words of errors. A name that stands for
        a definition or an import is written as what it stands for.
        """
        if isinstance(node, list):
            return f"[{','.join(self.form(module, one) for one in node if not _is_idle(one))}]"
        if not isinstance(node, ast.AST):
            return ascii(node)
        if meant := self.means(module, _dotted(node)):
            return "|".join(meant)
        parts = (f"{name}={self.form(module, value)}" for name, value in _parts(node))
        return f"{type(node).__name__}({','.join(parts)})"

    def means(self, module: Module, dotted: str, seen: frozenset[str] = frozenset()) -> list[str]:
        """List what a name may stand for in a file: nothing if it is local or built in."""
        first, point, rest = dotted.partition(".")
        own = [reference(Definition(module.name, first)) + point + rest]
        found = set(own if first in module.definitions else [])
        for file, name in module.imports.get(first, ()):
            found.update(self.find(file, ".".join(filter(None, [name, rest])), seen))
        return sorted(found)

    def find(self, file: str, dotted: str, seen: frozenset[str] = frozenset()) -> list[str]:
        """Find where a name of a file is defined, through files that import it in turn.

        Returns:
            References, or the absolute name if it is not defined in these files.
        """
        rest = dotted.split(".") if dotted else []
        while module := self.module(file):
            if rest in ([], ["*"]):
                return [reference(Definition(file, "*"))]
            below = f"{file}.{rest[0]}"
            if rest[0] in {*module.definitions, *module.imports} and below not in seen:
                return self.means(module, ".".join(rest), seen | {below})
            file, rest = below, rest[1:]
        return [".".join([file, *rest])]


@lru_cache(maxsize=64)
def _parsed(name: str, is_package: bool, text: str) -> Module:
    tree, module = ast.parse(text), Module(name)
    for node in tree.body:
        for bound in (names := _bound(node)):
            module.definitions[bound].append(node)
        module.statements.extend([node] * (not names))
    here = [*name.split("."), *["__init__"] * is_package]
    for one in ast.walk(tree):
        for bound, target in _imported(one, here):
            module.imports[bound].append(target)
    return module


def _bound(node: ast.stmt) -> list[str]:
    """List the names that a statement binds if that is all that it does."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    flat = [one for target in targets for one in getattr(target, "elts", [target])]
    names = [one.id for one in flat if isinstance(one, ast.Name)]
    return names if len(names) == len(flat) else []


def _imported(node: ast.AST, here: list[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """List the names that an import binds, each with a file and a name in it."""
    if isinstance(node, ast.Import):
        for one in node.names:
            top = one.name.partition(".")[0]
            yield one.asname or top, (one.name if one.asname else top, "")
            yield one.name, (one.name, "")  # all of `a.b` runs, though only `a` is bound
    if isinstance(node, ast.ImportFrom):
        above = here[: -node.level] if node.level else []
        file = ".".join(filter(None, [*above, node.module]))
        for one in node.names:
            yield one.asname or one.name, (file, one.name)


def _dotted(node: ast.AST) -> str:
    """Write a name, or the chain of attributes of one; other nodes are empty."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (value := _dotted(node.value)):
        return f"{value}.{node.attr}"
    return ""


def _parts(node: ast.AST) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        args = [one for one in node.exc.args if not _is_text(one)]
        node = ast.Raise(ast.Call(node.exc.func, args, node.exc.keywords), node.cause)
    for name, value in ast.iter_fields(node):
        typed = isinstance(node, ast.arg) and name == "annotation"
        if not typed and name not in NO_CODE and value is not None and value != []:
            yield name, value


def _is_text(node: ast.expr) -> bool:
    literal = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return literal or isinstance(node, ast.JoinedStr)


def _is_idle(node: Any) -> bool:
    """Whether a node is a statement that does nothing, or an import, for which its names stand."""
    literal = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return literal or isinstance(node, ast.Pass | ast.Import | ast.ImportFrom)
