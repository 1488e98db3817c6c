"""Where a new file goes: beside the user, under a name that nothing else has."""

from importlib.util import find_spec
from pathlib import Path

from harness import plugins
from harness.errors import UserError


def new_file(kind: plugins.Kind, name: str) -> Path:
    """Name the file of a new plugin in the current folder.

    Raises:
        UserError: The name is no name, or is taken by a plugin, a file or a module of Python.
    """
    if not (name.isidentifier() and name.isascii() and name.islower()):
        raise UserError(f"{name!r}: expected a name of small letters, digits and _, such as zoo_2.")
    path = Path(f"{name}.py")
    if path.exists():
        raise UserError(f"{path} exists and is left as it is. Choose another name, or move it.")
    if name in plugins.names(kind):
        raise UserError(f"{name!r} is in `harness {kind}` already. Choose another name.")
    if find_spec(name):
        raise UserError(
            f"{name!r} is a Python module, which {path} would hide. Choose another name."
        )
    return path
