"""The source of a method, hashed, so that a changed method is another method to the store.

What is hashed is the syntax of the definitions that the method reaches by name, in whatever file
they lie. So a mended docstring, comment or error message, a title, a variant or a capability
renames no run, and a changed formula always does. A method reaches what is named

- in `method = Method(...)`, by the fields in `ROOTS`;
- in a reached definition, if it lies in `methods`, in the plugin's own distribution, or beside it;
- in what happens when the method's file is imported: in every file that this runs, statements such
  as `register(Config, Tuner)` or a patch of PEFT, and definitions that the project decorates.

Scopes are not distinguished: a local variable that has the name of a definition of its file reaches
it. Two things are missed: computed names, as in `globals()[name]`, and classes that nothing names
because `__init_subclass__` of their base collects them.
"""

import ast
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import Distribution, version
from pathlib import Path
from typing import Any

import methods
from harness import plugins
from harness.errors import UserError
from harness.packages import NAMES, installed
from harness.plugins import guests, named_files
from harness.plugins.syntax import REFERENCE, Definition, Files, Module, reference, references
from harness.spec.spec import MethodSpec

ROOTS = {"config", "hooks", "auxiliary_loss"}
"""The fields of `Method` whose code changes a number. What `defaults`, `variants` and `dls` hold is
in the fields of the spec, which are hashed themselves; other fields describe, count or refuse."""

METHODS = {"methods": Path(methods.__path__[0])}

METHOD = Definition("methods.contract", "Method")
"""A part of the harness: its name counts, its code does not."""


LAYER_SELECTION = "methods.training.layer_selection.DynamicLayerSelection"
"""What the field `dls`, which every method has, sets to work."""


def source_hash(name: str, *, selects_layers: bool) -> str:
    """Hash the source of a method; of `peft:TYPE`, the version of PEFT.

    Args:
        name: The method.
        selects_layers: Whether it trains with dynamic layer selection, whose source counts then.
    """
    selection = reached_in(METHODS, *LAYER_SELECTION.rsplit(".", 1)) if selects_layers else {}
    if name.startswith(plugins.OF_PEFT):
        peft = sha256(f"peft {version('peft')}".encode()).hexdigest()
        return sha256((peft + hash_of(selection)).encode()).hexdigest() if selection else peft
    return hash_of(reached(name) | selection)


def changed(method: MethodSpec) -> str | None:
    """Say that a method is no longer what a spec says, with both hashes; None while it is."""
    now = source_hash(method.name, selects_layers=bool(method.fields.get("dls")))
    if now == method.source:
        return None
    of_peft = method.name.startswith(plugins.OF_PEFT)
    what = "the version of PEFT" if of_peft else "the source of the method"
    return (
        f"{method.name}: {what} has changed since: its hash is {now[:16]}, that of the run is "
        f"{method.source[:16]}."
    )


def task_source(kind: plugins.Kind, name: str) -> str | None:
    """Hash the source of a guest's benchmark or group; None for one of ours.

    Ours are named by their rows: an extractor that changes is no reason to train again, since
    `harness rescore` has the answers. A guest's may hold the rows themselves.
    """
    return hash_of(_reached(kind, name)) if plugins.is_guest(kind, name) else None


def reached(name: str) -> dict[Definition, str]:
    """List what a method reaches, in canonical form."""
    return _reached("methods", name)


def _reached(kind: plugins.Kind, name: str) -> dict[Definition, str]:
    entry = plugins.entry(kind, name)
    path = plugins.source_path(kind, name)
    packages = packages_of(entry.module, path, entry.dist)
    return reached_in(packages, entry.module, entry.attr)


def texts(kind: plugins.Kind, name: str) -> dict[Path, str]:
    """Give the SHA-256 of a file of the user's, and of all files beside it that it imports.

    Raises:
        UserError: Python does not import the file that lies beside it, but another module.
    """
    module, main = plugins.entry(kind, name).module, plugins.source_path(kind, name)
    files = Files(packages_of(module, main))
    dotted = [one.name for one in files.imported_by(module)]
    helpers = {one.partition(".")[0] for one in dotted if one != module}
    for helper, file in named_files.hidden(main, helpers).items():
        raise UserError(
            f"{main} imports {helper!r}, which is {file or 'built in'} and not the one beside it. "
            "Rename that one."
        )
    paths = [files.path(one) for one in dotted if one.partition(".")[0] not in METHODS]
    return {
        path: sha256(path.read_bytes()).hexdigest() for path in paths if path and path.is_file()
    }


def packages_of(module: str, path: Path, owner: Distribution | None = None) -> dict[str, Path]:
    """Say where imports are followed: into `methods`, and into what came with the file.

    That is what the same distribution installed, or else what lies beside the file, or beside the
    package that it is in.

    Args:
        module: Dotted name of the file.
        path: The file.
        owner: The distribution that it belongs to, if any.

    Returns:
        By the first part of a dotted name the folder, or the file without its suffix.
    """
    top = module.partition(".")[0]
    if top in METHODS:
        return METHODS
    folder = path.parents[module.count(".") + (path.name == "__init__.py")]
    beside = {one.name: one for one in folder.iterdir() if one.suffix == ".py" or one.is_dir()}
    listed = installed(owner) if owner else frozenset()
    if path in listed:
        parts = {one.relative_to(folder).parts[0] for one in listed if one.is_relative_to(folder)}
        beside = {name: one for name, one in beside.items() if name in parts}
    elif owner and not listed:  # no record of what it installed
        beside = {name: one for name, one in beside.items() if name in (top, f"{top}.py")}
    own = {one.stem: one.with_suffix("") for one in beside.values() if one.stem not in NAMES}
    return {**own, **METHODS}


def hash_of(forms: Mapping[Definition, str]) -> str:
    """Hash definitions under their bare names; where two share one, under those of their files."""
    shared = Counter(name for _, name in forms)

    def label(module: str, name: str) -> str:
        return f"{module}.{name}" if name and shared[name] > 1 else name

    lines = (
        f"{label(*one)}: {REFERENCE.sub(lambda found: label(*found.groups()), form)}"
        for one, form in forms.items()
    )
    return sha256("\n".join(sorted(lines)).encode()).hexdigest()


def reached_in(packages: Mapping[str, Path], module: str, offered: str) -> dict[Definition, str]:
    """List what the method `offered` by a file reaches in `packages`, in canonical form."""
    files, forms = Files(packages), dict[Definition, str]()
    offers = {offered, guests.OFFERS["methods"]}
    new = {Definition(one.name, "") for one in files.imported_by(module)}
    new |= references("".join(files.find(module, offered)))
    while new:
        written = {one: _form(files, one, offers) for one in new}
        forms |= written
        new = {one for form in written.values() for one in references(form)} - forms.keys()
    return {one: form for one, form in forms.items() if form}


def _form(files: Files, definition: Definition, offers: set[str]) -> str:
    """Write a definition in canonical form, and what `offers` names without what describes it."""
    module, name = files.module(definition.module), definition.name
    assert module is not None
    if definition == METHOD:
        return ""
    if name == "*":
        return "".join(
            reference(Definition(module.name, one)) for one in sorted(module.definitions)
        )
    if not name:
        stars = "".join(files.means(module, "*"))
        return (files.form(module, _run(files, module, offers)) + stars).removeprefix("[]")
    nodes: list[Any] = module.definitions[name]
    if name in offers:
        nodes = [_without_description(files, node) for node in nodes]
    return files.form(module, nodes)


def _run(files: Files, module: Module, offers: set[str]) -> list[ast.stmt]:
    """List the statements that do more than define, or define by code of the project."""
    found = [*module.statements]
    others = [nodes for name, nodes in module.definitions.items() if name not in offers]
    for node in [one for nodes in others for one in nodes]:
        value = getattr(node, "value", None)
        calls = [*getattr(node, "decorator_list", []), *getattr(node, "keywords", [])]
        calls += [value.func] if isinstance(value, ast.Call) else []
        found += [node] * bool(references(files.form(module, calls)) - {METHOD})
    return found


def _without_description(files: Files, node: Any) -> Any:
    """Leave fields out of a call of `Method`, of a subclass, or of `replace`."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Call):
        return node
    contract: Any = files.module(METHOD.module)
    (method,) = contract.definitions[METHOD.name]
    fields = {ast.unparse(one.target) for one in method.body if isinstance(one, ast.AnnAssign)}
    kept = [one for one in node.value.keywords if one.arg not in fields - ROOTS]
    return ast.Call(node.value.func, node.value.args, kept)
