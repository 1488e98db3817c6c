"""A grid of the command line that is disturbed on a cluster, and what it comes to undisturbed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.chaos.grid import SMALL, Grid


@pytest.fixture(scope="session")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Grid:
    """Give four runs of some seconds, with a checkpoint after each step."""
    request = replace(SMALL, methods="lora,rosa", seeds="2", train_limit=200)
    return Grid(request, tmp_path_factory.mktemp("undisturbed"))


@pytest.fixture
def training(grid: Grid, tmp_path: Path, until: Callable[..., bool]) -> Callable[[], bool]:
    """Wait until a run of the grid has a checkpoint and goes on."""

    def wait() -> bool:
        return until(
            lambda: any(
                any(one.checkpoints.glob("[0-9]*")) and not one.ended
                for one in grid.folders(tmp_path)
            ),
            120,
        )

    return wait
