"""Reading commands start fast: what the packages of results import."""

import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

import results.analysis
import results.audit
import results.reports
import results.store

SLOW = {"torch", "transformers", "peft", "scipy.stats", "pandas", "pydantic", "alembic"}


@pytest.mark.parametrize(
    "package", [results.analysis, results.audit, results.reports, results.store]
)
def test_reading_imports_nothing_slow(package: ModuleType) -> None:
    prefix = f"{package.__name__}."
    modules = [found.name for found in pkgutil.walk_packages(package.__path__, prefix)]
    reading = [name for name in modules if "migrat" not in name]
    code = f"import sys, {', '.join(reading)}; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & SLOW == set()
