"""One run on one screen."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.record import Run, Score
from results.reports.one_run.screen import LINES, WIDTH, screen

Make = Callable[..., Run]


def test_a_finished_run_shows_what_where_how_scores_and_flags(make: Make) -> None:
    run = make(
        correct={"gsm8k": 50, "aqua": 25},
        flags=("gsm8k: empty answers: 3 of 8",),
        provenance={"command": ["harness", "run", "--methods", "lora[r=2]"]},
    )
    lines = screen(run).splitlines()
    assert lines[0] == "lora on tiny, math, seed 2333"
    for line in (
        f"run       {run.run_id}",
        "folder    runs/lora",
        "command   harness run --methods 'lora[r=2]'",
        "data      sample data",
        "| gsm8k     |  50.00 % |  100 |        0 |",
        "| micro     |  37.50 % |      |          |",
        "- gsm8k: empty answers: 3 of 8",
    ):
        assert line in lines, "\n".join(lines)


def test_a_failed_run_begins_with_its_reason_and_ends_with_its_log(make: Make) -> None:
    failed = make(status="failed", reason="OSError: no such file\nat all", scores=(), seconds={})
    lines = screen(failed, "\n".join(map(str, range(99)))).splitlines()
    assert lines[1:3] == ["failed: OSError: no such file", "at all"]
    assert lines[lines.index("End of the log:") + 1 :][-3] == "98"
    assert len(lines) == LINES


TEXT = st.text(max_size=700)


@pytest.mark.parametrize("status", ["finished", "failed"])
@given(
    reason=TEXT,
    folder=TEXT,
    log=TEXT,
    words=st.lists(st.text(max_size=90), max_size=40),
    flags=st.lists(st.text(alphabet="ab :", max_size=150), max_size=60),
    benchmarks=st.integers(0, 40),
)
def test_no_run_needs_more_than_one_screen(  # noqa: PLR0913, PLR0917
    reason: str,
    folder: str,
    log: str,
    words: list[str],
    flags: list[str],
    benchmarks: int,
    status: str,
    make: Make,
) -> None:
    names = [f"benchmark-{n}" for n in range(benchmarks)]
    scores = tuple(Score(name, "accuracy", "strict", True, 0.5, 10) for name in names)
    run = make(
        status=status,
        reason=reason if status == "failed" else "",
        scores=scores,
        flags=tuple(flags),
        folder=folder,
        provenance={"command": words},
    )
    lines = screen(run, log).split("\n")
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= WIDTH
    assert "harness items" in lines[-1]
