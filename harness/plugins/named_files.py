"""Files that the user names by their path, each imported as Python runs a script.

The files beside such a file can be imported by it. Two of them may have helpers of one name.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from harness.errors import UserError

_named: dict[str, dict[str, Path]] = defaultdict(dict)
_modules: dict[Path, ModuleType] = {}
_beside: dict[Path, dict[str, str | None]] = {}


def add(kind: str, path: Path) -> None:
    """Take a file as the plugin of a kind that has its name, in place of an earlier one."""
    _named[kind][path.stem] = path


def of(kind: str) -> Mapping[str, Path]:
    """Return the files of a kind by their names."""
    return _named[kind]


def check(planned: Mapping[str, str]) -> None:
    """Compare files with what they were when a run was planned: SHA-256 by path.

    Raises:
        UserError: One of them is not there, or not what it was.
    """
    for path in changed(planned):
        now = _digest(Path(path)) or "that of no file"
        raise UserError(
            f"{path} is not what it was when the run was planned: its hash is {now[:16]}, that of "
            f"the run is {planned[path][:16]}. Put it back, or rerun the command to plan with it "
            "as it is."
        )


def changed(planned: Mapping[str, str]) -> list[str]:
    """List the files that are gone, or not what they were when a run was planned."""
    return [path for path, digest in planned.items() if _digest(Path(path)) != digest]


def _digest(path: Path) -> str | None:
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def module_of(path: Path) -> ModuleType:
    """Import a file, once until it changes; whatever it raises is not caught.

    Its module has a name that no import gives, so that it takes no other module's place.
    """
    text = path.read_bytes()
    if path not in _modules or _modules[path].__dict__["__text__"] != text:
        _make_way_for(path.parent)
        name = f"{path.stem} by path"
        spec = spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        module.__dict__["__text__"] = text
        sys.modules[name] = module  # dataclasses look their module up
        spec.loader.exec_module(module)
        _modules[path], _beside[path] = module, _found(path.parent)
    return _modules[path]


def hidden(path: Path, names: Iterable[str]) -> dict[str, str | None]:
    """Find the names of files beside one that stood for other modules when it was imported.

    Returns:
        The files of those modules by name; None for one without a file.
    """
    found = {name: file for name, file in _beside[path].items() if name in names}
    return {name: file for name, file in found.items() if not file or not _lies_in(path, file)}


def _lies_in(path: Path, file: str) -> bool:
    return Path(file).resolve().is_relative_to(path.parent)


def _found(folder: Path) -> dict[str, str | None]:
    names = {one.stem for one in folder.iterdir()} & sys.modules.keys()
    return {name: getattr(sys.modules[name], "__file__", None) for name in names}


def _make_way_for(folder: Path) -> None:
    """Have imports look into a folder first, and forget what they found beside other files."""
    others = {path.parent for path in _modules} - {folder}
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None)
        if file and Path(file).parent in others and not name.endswith(" by path"):
            del sys.modules[name]
    place = str(folder)
    sys.path[:] = [place, *(one for one in sys.path if one != place)]
