"""Where run folders lie: below the folder of the store by their path from there.

So a store can be moved together with its run folders. A folder elsewhere is kept by its whole path.
"""

from pathlib import Path


def kept(folder: str, beside: Path | None) -> str:
    """Write the place of a run folder as the store in the folder `beside` keeps it.

    >>> kept("/a/runs/1", Path("/a")), kept("/b/runs/1", Path("/a")), kept("/a/runs/1", None)
    ('runs/1', '/b/runs/1', '/a/runs/1')
    """
    below = beside is not None and Path(folder).is_relative_to(beside)
    return str(Path(folder).relative_to(beside)) if beside and below else folder


def found(folder: str, beside: Path | None) -> str:
    """Give back the place of a run folder.

    >>> found("runs/1", Path("/a")), found("/b/runs/1", Path("/a"))
    ('/a/runs/1', '/b/runs/1')
    """
    return str(beside / folder) if beside and folder else folder
