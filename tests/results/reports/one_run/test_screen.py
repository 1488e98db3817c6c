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
        protocol="paper[max_new_tokens=8]/2",
        conditions={"recipe": {"lr": 1e-4}, "batches": {"batch_size": 8}},
        validation_loss=0.28243,
    )
    lines = screen(run).splitlines()
    assert lines[0] == "lora on tiny, math, seed 2333"
    for line in (
        f"run       {run.run_id}",
        "folder    /runs/lora",
        "command   harness run --methods 'lora[r=2]'",
        "protocol  paper[max_new_tokens=8]/2, recipe [lr=0.0001], batches [batch_size=8]",
        "data      sample data",
        "loss      0.2824 nats per token of the validation rows, the lowest reached",
        "| gsm8k     |  50.00 % |  100 |        0 |",
        "| micro     |  37.50 % |      |          |",
        "- gsm8k: empty answers: 3 of 8",
    ):
        assert line in lines, "\n".join(lines)


def test_rows_of_training_are_counted_where_the_folder_says_how_many(make: Make) -> None:
    run, known = make(validation_loss=0.5), {"trained_rows": 54, "validated_rows": 6}
    counted = "of 6 validation rows, the lowest reached; trained on 54 rows"
    assert counted in screen(run, "", known)
    assert counted not in screen(run, "", {"rows": 60})


def test_a_run_that_goes_on_in_another_environment_says_where_it_was_begun(make: Make) -> None:
    place = "on CPU B by torch 2.12.0+cpu (environment 0a1b2c3d)"
    run = make(environment={"torch": "2.13.0+cpu", "device": "CPU A", "begun": place})
    assert f"begun     {place}" in screen(run).splitlines()


def test_a_failed_run_begins_with_its_reason_and_ends_with_its_log(make: Make) -> None:
    failed = make(status="failed", reason="OSError: no such file\nat all", scores=(), seconds={})
    lines = screen(failed, "\n".join(map(str, range(99)))).splitlines()
    assert lines[1:3] == ["failed: OSError: no such file", "at all"]
    assert lines[lines.index("End of the log:") + 1 :][-3] == "98"
    assert len(lines) == LINES


def test_a_diverged_run_says_so_and_promises_no_answers(make: Make) -> None:
    lines = screen(make(status="diverged", reason="step 2: the loss is nan", scores=()))
    assert lines.splitlines()[1] == "diverged: step 2: the loss is nan"
    assert "harness items" not in lines


def test_a_long_command_is_cut_at_whole_options(make: Make) -> None:
    options = [word for n in range(20) for word in ("--set", f"train.field_{n}={n}")]
    (first, second) = [
        line[10:]
        for line in screen(make(provenance={"command": ["harness", "run", *options]})).splitlines()
        if "--set" in line
    ]
    # By hand: the head has 11 characters, an option with its space 22, the end with its space 24.
    # Two lines of 90 hold 11 + 6 * 22 + 24 = 167, and not 189.
    assert first.startswith("harness run --set train.field_0=0 --set train.field_1=1")
    assert second.endswith("--set train.field_5=5 ... and 14 more options")


def test_what_a_table_of_eight_benchmarks_shows_fits_the_screen_whole(make: Make) -> None:
    run = make(
        correct={f"benchmark-{n}": n for n in range(8)},
        marks=("word " * 30,),
        flags=("a: empty answers", "b: empty answers"),
        provenance={"command": ["harness", "run", *["--methods"] * 10]},
        validation_loss=0.5,
    )
    lines = screen(run).splitlines()
    assert len(lines) <= LINES == 30
    assert sum(line.startswith(("| benchmark-", "| m", "- ")) for line in lines) == 8 + 2 + 2


def test_more_benchmarks_than_fit_leave_the_averages_and_the_flags(make: Make) -> None:
    run = make(correct={f"benchmark-{n}": 50 for n in range(40)}, flags=("a", "b", "c"))
    text = screen(run)
    for line in ("... and 29 more", "| macro ", "- a", "... and 2 more"):
        assert line in text


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
        scores=scores if status == "finished" else (),
        flags=tuple(flags) if status == "finished" else (),
        folder=folder,
        provenance={"command": words},
    )
    lines = screen(run, log if status == "failed" else "").split("\n")
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= WIDTH
    assert "--all" in lines[-1]
