"""Plans, schedules, trains, generates and scores; the only package that knows the others.

In a notebook: `from harness import grid, table`; see `harness.cli.notebook`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.cli.notebook import grid as grid
    from harness.cli.notebook import table as table

__all__ = ["grid", "table"]


def __getattr__(name: str) -> Any:
    """Import `grid` and `table` when they are first asked for: they plan, which takes seconds."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from harness.cli import notebook  # noqa: PLC0415 (start-up time)

    return getattr(notebook, name)
