"""Whether the packages that run are the harness's own: their names are common ones."""

from functools import cache
from importlib import import_module
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from importlib.util import find_spec
from pathlib import Path

DISTRIBUTION = "peft-proving-ground"
NAMES = ("harness", "methods", "tasks", "results")
ROOT = Path(__file__).parent.parent


def stranger() -> str | None:
    """Say in one line which of our packages Python finds elsewhere; None if it finds all here.

    Those that are ours are imported, so that nothing takes their place later.
    """
    for name in NAMES:
        found = find_spec(name)
        origin = Path(found.origin) if found and found.origin else None
        if origin is None or origin.resolve() != (ROOT / name / "__init__.py").resolve():
            return _whose(name, origin)
        import_module(name)
    return None


def _whose(name: str, origin: Path | None) -> str:
    if origin is None:
        return f"the harness's package `{name}` is not there: install {DISTRIBUTION} again."
    owner = next((one for one in distributions() if origin in installed(one)), None)
    if owner:
        return (
            f"`{name}` is that of {owner.name} {owner.version} ({origin}), not the harness's: "
            f"install {DISTRIBUTION} in an environment without {owner.name}."
        )
    return (
        f"`{name}` is {origin}, not the harness's: rename it, or keep its folder off Python's path "
        "(PYTHONPATH, or the folder in which `python -m` starts)."
    )


def installed(owner: Distribution) -> frozenset[Path]:
    """List the files that were installed of a distribution; none where there is no record."""
    return frozenset(Path(str(owner.locate_file(file))) for file in owner.files or ())


@cache
def shipped() -> frozenset[Path] | None:
    """List the files of the installed wheel; None in a checkout, whose folders are its own.

    The folders of an installed wheel may hold files of other distributions too.
    """
    try:
        found = installed(distribution(DISTRIBUTION))
    except PackageNotFoundError:
        return None
    return found if Path(__file__) in found else None
