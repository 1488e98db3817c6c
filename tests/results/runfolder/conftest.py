"""A run folder to try things on, written by hand."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from results.record import Score
from results.runfolder.folder import RunFolder
from results.runfolder.values import FORMAT, Head, Result

SPEC = {"method": {"name": "lora"}, "train": {"lr": 0.001}}
PLACES = {"backbone_place": "somewhere", "data_folder": None}


def make_head(**changes: Any) -> Head:
    facts: dict[str, Any] = {
        "format": FORMAT,
        "run_id": "0123456789abcdef",
        "group": "math",
        "method": "lora[r=64]",
        "backbone": "tiny",
        "seed": 2333,
        "fold": 2,
        "folds": 5,
        "marks": ("first 50 rows of each benchmark",),
        "setting": "setting-a",
        "recipe": "recipe-a",
        "series": "series-a",
        "protocol": "paper/2",
        "provenance": {"chosen": "for all methods", "tries": 3},
        **changes,
    }
    return Head(**facts)


def make_result(**changes: Any) -> Result:
    facts: dict[str, Any] = {
        "started": 1_767_225_600.5,  # 2026-01-01, and half a second
        "seconds": {"load": 1.0, "train": 6.0, "generate": 3.0, "wall": 12.0},
        "environment_id": "0123456789abcdef",
        "resumed": False,
        "trainable_parameters": 5,
        "total_parameters": 1000,
        "adapter_bytes": 20,
        "peak_memory_bytes": 4096,
        "scores": (
            Score("gsm8k", "accuracy", "llm-adapters", True, 0.4, 50, 2),
            Score("gsm8k", "accuracy", "strict", False, 0.3, 50, 2),
        ),
        "flags": ("gsm8k: cut at the limit: 80 %",),
        **changes,
    }
    return Result(**facts)


@pytest.fixture(scope="session")
def head() -> Callable[..., Head]:
    return make_head


@pytest.fixture(scope="session")
def result() -> Callable[..., Result]:
    return make_result


@pytest.fixture(scope="session")
def create(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., RunFolder]:
    """Make a run folder that holds its first files."""

    def make(path: Path | None = None, **changes: Any) -> RunFolder:
        folder = RunFolder(path or tmp_path_factory.mktemp("run"))
        folder.create(make_head(**changes), SPEC, PLACES)
        return folder

    return make
