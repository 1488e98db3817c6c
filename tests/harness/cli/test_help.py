"""What `--help` prints is what the code says."""

from collections.abc import Iterator

import pytest
import typer
from typer.core import TyperCommand, TyperGroup
from typer.testing import CliRunner

from harness.cli import app

ROOT = typer.main.get_command(app)
WIDE = {"COLUMNS": "300", "TERMINAL_WIDTH": "300"}


def commands(command: TyperCommand | TyperGroup, *path: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command and of every group of them."""
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, *path, name)


@pytest.mark.parametrize("words", list(commands(ROOT)), ids=" ".join)
def test_every_text_is_printed_whole_with_its_brackets(words: tuple[str, ...]) -> None:
    command = ROOT
    for word in words:
        command = command.commands[word]
    texts = [command.help, *(getattr(parameter, "help", None) for parameter in command.params)]
    printed = " ".join(CliRunner().invoke(app, [*words, "--help"], env=WIDE).output.split())
    # A backslash keeps Rich from taking a bracket for markup.
    wanted = [" ".join(text.replace("\\[", "[").split()) for text in texts if text]
    assert wanted
    assert [text for text in wanted if text not in printed] == []


def test_the_examples_in_brackets_are_printed() -> None:
    run = CliRunner().invoke(app, ["run", "--help"], env=WIDE).output
    assert "lora[r=64,train.lr=2e-4" in run
