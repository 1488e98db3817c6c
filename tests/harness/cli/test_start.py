"""What is imported, and when."""

import subprocess
import sys

import pytest


def imported(code: str) -> set[str]:
    """Run code in a fresh interpreter and list the top-level modules that it imported."""
    show = "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    command = [sys.executable, "-c", code + show]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


HEAVY = {"torch", "transformers", "peft", "accelerate", "datasets", "scipy", "sqlalchemy"}


def test_the_command_line_starts_without_anything_heavy() -> None:
    # `harness --help` has to answer in under 0.3 s; importing torch alone takes seconds.
    assert not imported("import harness.cli") & (HEAVY | {"numpy", "pydantic"})


@pytest.mark.parametrize(
    "module", ["harness.commands.catalogue", "results.analysis.history", "results.store"]
)
def test_listing_and_history_need_no_torch(module: str) -> None:
    assert not imported(f"import {module}") & {"torch", "transformers", "peft", "scipy"}
