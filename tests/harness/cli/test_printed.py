"""Everything printed is data: names, reasons and answers that would steer what shows them."""

import csv
import json
import shutil
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from results.record import Run, Score
from results.reports.spreadsheet import comma_separated
from results.reports.to_json import to_json
from results.runfolder.record_of import folders, record_of
from results.store import Store

Command = Callable[..., Any]

FORMAT_1 = Path(__file__).parents[2] / "results" / "runfolder" / "format_1"

HOSTILE = (
    *(
        "\x1b[2J\x1b]0;mine\x07",
        "\x9b31m",
        "a\r\nb\n\n# c",
        "\x00\x08\x7f",
        "\u202egnp",
        "\ufeff\u200b",
    ),
    *("| a | b |", r"\|", "<script>alert(1)</script>", "[here](https://x.y)", "![](https://x.y/z)"),
    *(
        "=1+1",
        "+1",
        "-1",
        "@a",
        "\t=1",
        "\r=1",
        r"\input{/etc/passwd}",
        "\\end{tabular}\n\n%",
        "$&#_^~",
    ),
    *("x" * 5_000, "é中🙂", "'; DROP TABLE runs; --", "{0.__class__}", "%s%n"),
)

PRINTING = (
    ["history"],
    ["history", "--wide", "--costs"],
    ["history", "--json"],
    *(["table", "--format", one] for one in ("markdown", "latex", "html", "csv", "json")),
    ["table", "--runs", "--costs", "--wide"],
    *(["show", "{run}", *more] for more in ([], ["--all"], ["--json"])),
    ["show", "{failed}"],
    *(["items", "{folder}", *more] for more in ([], ["--json"], ["--jsonl"], ["--csv"])),
    ["compare", "{first}", "{second}"],
    ["seeds", "plan", "--delta", "1"],
    ["card", "{run}"],
    ["history", "--method", "{first}"],
    ["show", "{first}"],
    ["run", "--methods", "{first}", "--tasks", "{second}", "--dry-run"],
    ["methods", "{first}"],
    ["audit", "{first}"],
    ["logs", "{folder}"],
    ["status", "--runs", "."],
    ["note", "{run}", "{first}"],
    ["tag", "{run}", "{second}"],
    ["diff", "{run}", "{failed}"],
    ["history", "--csv"],
    ["history", "--columns", "{first}"],
    ["history", "--where", "{first} = {second}"],
    ["forget", "{failed}", "--reason", "{second}"],
    ["retry", "{first}"],
    ["run", "{first}.toml"],
)

texts = st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30
) | st.sampled_from(HOSTILE)


@pytest.fixture(scope="module")
def example() -> Run:
    return next(
        run for folder in folders(FORMAT_1) if (run := record_of(folder)) and run.extraction
    )


def filled(place: Path, example: Run, name: str, other: str) -> dict[str, str]:
    """Make a store of runs in which every text is hostile; return words for commands."""
    store = Store(place / "harness.db")
    scores = (
        Score(name, "accuracy", name, True, 0.5, 10, signature=other),
        Score(other + "2", "accuracy", other, True, 0.25, 10),
    )
    facts: dict[str, Any] = {
        "group": name,
        "backbone": other,
        "protocol": name,
        "marks": (name, other),
        "flags": (f"{name}: {other}",),
        "scores": scores,
        "folder": f"/nowhere/{name}",
        "spec": {**example.spec, "fields": {name: other}},
        "provenance": {"command": [name, other]},
        "environment": {"device": name, "packages": {name: other}},
        "conditions": {name: {name: other}},
    }
    for number, method in enumerate((name, other + "'")):
        run = replace(example, **facts, method=method, run_id=f"{number:016x}")
        store.add(run)
    failed = replace(run, status="failed", reason=f"{name}\n{other}", scores=(), run_id="f" * 16)
    store.add(replace(failed, started=datetime(2026, 1, 1, tzinfo=UTC)))
    return {"run": "0" * 16, "failed": "f" * 16, "first": name, "second": other}


def steers(text: str) -> set[str]:
    """Name the characters of a text that a terminal would take for more than letters."""
    return {one for one in text if not one.isprintable() and one not in "\n\t"}


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=texts, other=texts)
def test_no_command_prints_what_steers_a_terminal(
    name: str,
    other: str,
    harness: Command,
    example: Run,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    place = tmp_path_factory.mktemp("hostile")
    words = filled(place, example, name, other)
    folder = shutil.copytree(FORMAT_1 / example.run_id, place / "run")
    (folder / "log.txt").write_text(f"{name}\n{other}\n")
    words["folder"] = str(folder)
    for command in PRINTING:
        done = harness(place, *(word.format(**words) if "{" in word else word for word in command))
        assert not steers(done.stdout + done.stderr), command
        assert done.returncode in (0, 1, 2), command
        assert len(done.stdout + done.stderr) < 1_000_000


def test_a_long_log_and_a_long_reason_are_cut_with_their_length_and_take_no_such_memory(
    harness: Command, tmp_path: Path
) -> None:
    place = Path(shutil.copytree(FORMAT_1, tmp_path / "runs"))
    folder = next(folder for folder in folders(place) if folder.finished)
    (folder.path / "result.json").unlink()
    folder.note_failure("no memory " * 500_000)
    with folder.log.open("wb") as log:
        log.truncate(200_000_000)  # a hole, which takes no disk and reads as one line
    done = harness(tmp_path, "reindex")
    assert done.returncode == 0, done.stdout
    tracemalloc.start()
    shown = harness(tmp_path, "show", folder.path.name)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "characters)" in shown.stdout
    assert "the end of 200,000,000 bytes" in shown.stdout
    assert peak < 100_000_000
    for command in (["history"], ["show", folder.path.name, "--all"], ["history", "--json"]):
        assert len(harness(tmp_path, *command).stdout) < 100_000


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts)
def test_csv_runs_no_text_as_a_formula_and_keeps_numbers(text: str) -> None:
    (row,) = csv.DictReader(
        StringIO(
            comma_separated(
                [{"text": text, "number": -1.5}],
            )
        )
    )
    # OWASP, CSV Injection: what a cell must not begin with.
    assert not row["text"].startswith(("=", "+", "-", "@", "\t", "\r"))
    assert row["text"].removeprefix("'") == text.removeprefix("'")
    assert row["number"] == "-1.5"


@given(text=texts)
def test_json_has_the_text_as_it_is_and_no_control_character(text: str) -> None:
    written = to_json([text])
    assert not steers(written)
    assert json.loads(written) == [text]
