"""The command that stands below a table is the one that a user gave."""

import shlex

import pytest
import typer

from harness.cli import app
from harness.cli.options import given

TABLE = typer.main.get_command(app).commands["table"]


def told(words: str) -> str:
    return given(TABLE.make_context("table", shlex.split(words)))


@pytest.mark.parametrize(
    "words",
    [
        "",
        "--tasks gsm8k,aqua --layout sizes --no-sd --wide",
        "--tasks 'my tasks.py' --format html --width column --costs",
    ],
)
def test_every_option_is_told_as_a_shell_reads_it(words: str) -> None:
    assert told(words) == f"harness table {words}".strip()
    assert told(told(words).removeprefix("harness table")) == told(words)


def test_what_was_not_given_and_where_the_store_is_are_not_told() -> None:
    assert told("--layout main --store postgresql://user:secret@host/runs") == (
        "harness table --layout main"
    )


def test_a_place_of_the_store_in_the_environment_is_not_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HARNESS_STORE", "postgresql://user:secret@host/runs")
    assert told("--wide") == "harness table --wide"
