"""Where the sources of the papers lie, and the usual test sets."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def material() -> Path:
    """Find the folder that holds data/ and papers/."""
    folder = Path(os.environ.get("HARNESS_DATA", "")).parent
    if not (folder / "papers").is_dir():
        pytest.skip("beside the folder that HARNESS_DATA names there are no papers/")
    return folder


@pytest.fixture(scope="session")
def known() -> dict[str, int]:
    """Give sizes of some test sets, as their authors publish them."""
    return {"gsm8k": 1319, "svamp": 1000, "aqua": 254, "arcchallenge": 1172}
