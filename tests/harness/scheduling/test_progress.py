import io
import json
import os
import re
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from harness.scheduling.progress import Display, Ending, console, waiting
from harness.scheduling.watched import Watched
from results.runfolder.folder import RunFolder


def write(folder: RunFolder, *events: dict[str, Any], start: float | None = None) -> None:
    """Append events, one a second from `start` on."""
    begun = time.time() if start is None else start
    lines = [json.dumps({"time": begun + n, **event}) + "\n" for n, event in enumerate(events)]
    with folder.events.open("a") as file:
        file.writelines(lines)


def step(number: int, tokens: int, loss: float = 1.0) -> dict[str, Any]:
    return {"step": number, "of": 100, "loss": loss, "tokens": tokens, "lr": 0.001}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


@pytest.fixture
def screen(folder: RunFolder) -> Callable[[Display], str]:
    """Draw a display on a terminal and return what it shows."""

    def draw(display: Display) -> str:
        target = console()
        target.file = io.StringIO()
        target.width = 200
        target.print(display.render())
        return target.file.getvalue()

    return draw


@given(st.lists(st.integers(0, 400)))
def test_only_whole_lines_are_read_wherever_the_file_is_cut(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    folder = RunFolder(tmp_path_factory.mktemp("cut"))
    write(folder, {"phase": "train"}, step(1, 100), step(2, 200), step(3, 300, loss=0.5))
    content = folder.events.read_bytes()
    folder.events.unlink()
    watched = Watched(folder, "run")
    places = sorted({0, len(content), *(cut for cut in cuts if cut < len(content))})
    for start, end in pairwise(places):
        with folder.events.open("ab") as file:
            file.write(content[start:end])
        watched.update()
        whole = content[:end].decode().rpartition("\n")[0].splitlines()
        assert watched.latest.step == (json.loads(whole[-1]).get("step") if whole else None)
    assert watched.phase == "train"
    assert watched.latest.loss == 0.5


def test_speed_and_time_left_come_from_the_steps_since_the_first(folder: RunFolder) -> None:
    # 300 tokens and 3 steps in the 3 seconds after the first step; 96 steps are left.
    write(folder, {"phase": "train"}, *(step(n, 100 * n, loss=2 / n) for n in (1, 2, 3, 4)))
    watched = Watched(folder, "run")
    watched.update()
    assert watched.describe() == {
        "done": "step 4/100",
        "loss": "0.500",
        "tokens/s": "100",
        "left": "96 s",
    }


def test_a_validation_in_between_is_no_step_and_divides_by_no_zero(folder: RunFolder) -> None:
    watched = Watched(folder, "run")
    events = [{"phase": "train"}, step(1, 100), {"phase": "validate"}, {"phase": "train"}]
    for event in [*events, {"step": 1, "validation_loss": 1.0}, step(2, 200), step(3, 300)]:
        write(folder, event)
        watched.update()
        watched.describe()
    assert watched.describe()["done"] == "step 3/100"


def test_generation_names_the_benchmark(folder: RunFolder) -> None:
    write(folder, {"phase": "generate"}, {"benchmark": "gsm8k", "done": 32, "of": 50})
    watched = Watched(folder, "run")
    watched.update()
    assert (watched.phase, watched.describe()) == (
        "generate",
        {"done": "gsm8k 32/50", "left": "1 s"},
    )


def test_no_event_of_a_run_steers_the_terminal(
    folder: RunFolder, screen: Callable[[Display], str]
) -> None:
    display = Display(1, console())
    display.expect(folder, "a run", lambda: True)
    write(folder, {"phase": "gen\x9b2J"}, {"benchmark": "zoo\x9b2J", "done": 1, "of": 50})
    shown = screen(display)
    assert "\x9b" not in shown
    assert r"gen\x9b2J" in shown
    assert r"zoo\x9b2J 1/50" in shown


def test_events_of_an_earlier_attempt_are_not_shown(folder: RunFolder) -> None:
    write(folder, {"phase": "train"}, step(1, 100), start=time.time() - 60)
    watched = Watched(folder, "run")
    watched.update()
    assert (watched.phase, watched.describe()) == ("start", {})


def test_a_run_without_events_is_at_its_start(folder: RunFolder) -> None:
    watched = Watched(folder, "run")
    watched.update()
    assert watched.phase == "start"


@pytest.mark.parametrize("phase", ["validate", "checkpoint"])
def test_what_comes_in_between_keeps_the_clock_of_the_training(
    folder: RunFolder, phase: str
) -> None:
    watched = Watched(folder, "run")
    write(folder, {"phase": "train"}, step(10, 1000), step(20, 2000), {"phase": phase})
    watched.update()
    assert watched.phase == phase
    # 10 steps in a second; 80 are left.
    assert watched.left == pytest.approx(8)


def test_the_time_left_of_generation_comes_from_its_beginning(folder: RunFolder) -> None:
    watched = Watched(folder, "run")
    write(folder, {"phase": "train"}, step(1, 100), step(2, 200), start=time.time())
    generate = {"phase": "generate", "benchmark": "gsm8k"}
    write(folder, generate, *({"benchmark": "gsm8k", "done": n, "of": 50} for n in (0, 10)))
    watched.update()
    # 10 answers in 2 seconds; 40 are left.
    assert watched.describe() == {"done": "gsm8k 10/50", "left": "8 s"}


def test_while_nothing_is_done_no_time_is_left_to_tell(folder: RunFolder) -> None:
    watched = Watched(folder, "run")
    write(folder, {"phase": "generate"}, {"benchmark": "gsm8k", "done": 0, "of": 50})
    watched.update()
    assert watched.left is None
    assert "left" not in watched.describe()


STAMP = r"\d\d:\d\d:\d\d "


def test_in_a_pipe_each_phase_is_one_line_with_the_time_when_it_began(
    folder: RunFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    display = Display(2, console())
    display.expect(folder, "lora[r=64] on tiny", lambda: True)
    begun = time.time()
    phases = [{"phase": "load"}, {"phase": "train"}, step(1, 1), {"phase": "validate"}]
    phases += [{"phase": "train"}, {"phase": "validate"}, {"phase": "train"}]
    phases += [{"phase": "generate", "benchmark": name} for name in ("gsm8k", "aqua")]
    write(folder, *phases, {"phase": "finished"}, start=begun)
    with display.shown():
        display.end(folder, "40.00 % micro", "finished")
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert all(re.match(STAMP, line) for line in lines)
    assert [re.sub(STAMP, "", line) for line in lines] == [
        *(f"lora[r=64] on tiny: {phase}" for phase in ("load", "train", "validate")),
        *(f"lora[r=64] on tiny: generate {name}" for name in ("gsm8k", "aqua")),
        "[1/2] lora[r=64] on tiny: 40.00 % micro",
        "1 of 2 runs done in 0:00",
    ]
    assert lines[1].startswith(time.strftime("%H:%M:%S", time.localtime(begun + 1)))


def test_in_a_pipe_a_phase_is_said_while_the_run_goes_on(
    folder: RunFolder, capsys: pytest.CaptureFixture[str], until: Callable[..., bool]
) -> None:
    display = Display(1, console())
    display.expect(folder, "lora", lambda: True)
    said: list[str] = []
    with display.shown():
        write(folder, {"phase": "train"})
        assert until(lambda: said.append(capsys.readouterr().err) or "lora: train" in "".join(said))


@pytest.mark.parametrize(
    "note", ["[/runs/x] is gone", "see [r=64] and [bold]", ":smile: [/]", "a\\[b]"]
)
def test_a_reason_is_printed_as_it_is(
    folder: RunFolder, capsys: pytest.CaptureFixture[str], note: str
) -> None:
    display = Display(1, console())
    display.expect(folder, "lora[r=64]", lambda: True)
    display.end(folder, f"failed: {note}", "failed")
    printed = capsys.readouterr().err
    assert re.sub(STAMP, "", printed) == f"[1/1] lora[r=64]: failed: {note}\n"


def test_a_terminal_shows_runs_done_phase_loss_and_speed(
    folder: RunFolder, screen: Callable[[Display], str]
) -> None:
    display = Display(3, console())
    display.expect(folder, "lora[r=64] on tiny", lambda: True)
    write(folder, {"phase": "train"}, step(1, 100), step(2, 1300, loss=0.25))
    shown = screen(display)
    words = ["0 of 3 runs done", "lora[r=64] on tiny", "train", "step 2/100", "0.250", "1,200"]
    assert [word for word in words if word not in shown] == []


def test_a_run_is_shown_from_the_moment_when_it_is_at_work(
    folder: RunFolder, screen: Callable[[Display], str]
) -> None:
    display, at_work = Display(1, console()), list[bool]()
    display.expect(folder, "lora[r=64] on tiny", lambda: bool(at_work))
    assert "lora" not in screen(display)
    at_work.append(True)
    assert "lora" in screen(display)
    at_work.clear()  # a run stays where it is until it is counted
    assert "lora" in screen(display)
    display.end(folder, "", "finished")
    assert "lora" not in screen(display)


def test_what_is_interrupted_or_cancelled_is_not_done(
    folder: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    display = Display(4, console())
    endings: list[tuple[Ending, bool]] = [("finished", True), ("interrupted", True)]
    for how, at_work in [*endings, ("interrupted", False), ("cancelled", False)]:
        display.expect(folder, f"lora, {at_work}", lambda at_work=at_work: at_work)
        display.render()
        display.end(folder, how, how)
    with display.shown():
        pass
    assert re.sub(STAMP, "", capsys.readouterr().err).splitlines() == [
        "[1/4] lora, True: finished",
        "lora, True: interrupted",
        "lora, False: cancelled",
        "1 of 4 runs done, 1 interrupted, 1 cancelled in 0:00",
    ]


def test_a_run_that_waited_is_timed_from_its_start(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    display, now = Display(1, console()), [1500.0]
    display.expect(folder, "lora", lambda: True)
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    display.render()  # seen at work
    now[0] = 1530.0
    display.end(folder, "", "finished")
    assert display.seconds == [30.0]


def test_there_is_a_clock_before_any_run_is_at_work(
    screen: Callable[[Display], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    display = Display(4, console())
    assert screen(display).startswith("0:00  0 of 4 runs done")
    monkeypatch.setattr("time.monotonic", lambda: display.started + 65)
    assert screen(display).startswith("1:05  0 of 4 runs done")


def test_every_run_at_work_has_a_clock_of_its_own(
    folder: RunFolder, screen: Callable[[Display], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    display = Display(1, console())
    display.expect(folder, "lora", lambda: True)
    screen(display)
    (watched,) = display._running()
    assert watched.started
    later = watched.started + 3700.5
    monkeypatch.setattr("time.monotonic", lambda: later)
    assert re.search(r"lora +start +1:01:40", screen(display))


def test_the_title_counts_endings_and_estimates_the_rest(
    folder: RunFolder, screen: Callable[[Display], str]
) -> None:
    display = Display(5, console())
    for status in ("finished", "failed", "diverged"):
        display.expect(folder, "lora", lambda: True)
        display.end(folder, "", status)
    display.seconds = [100.0, 140.0]
    # 2 runs of 120 seconds are left and none is at work.
    assert "3 of 5 runs done, 1 failed, 1 diverged, about 4 min left" in screen(display)


def test_what_runs_at_work_have_done_counts_in_the_time_left(
    folder: RunFolder, screen: Callable[[Display], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    display, now = Display(3, console()), [time.time()]
    monkeypatch.setattr("time.time", lambda: now[0])
    display.expect(folder, "lora", lambda: True)
    display.end(folder, "", "finished")
    display.seconds = [100.0]
    display.expect(folder, "dypam", lambda: True)
    screen(display)
    now[0] += 40
    # 60 of the run at work and 100 of the one that waits.
    assert "1 of 3 runs done, about 3 min left" in screen(display)


def test_before_a_run_has_ended_its_phase_says_how_long_the_grid_takes_at_least(
    folder: RunFolder, screen: Callable[[Display], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    display, now = Display(3, console()), time.time()
    monkeypatch.setattr("time.time", lambda: now)
    display.expect(folder, "lora", lambda: True)
    write(folder, {"phase": "train"}, step(1, 100), step(2, 200), start=now)
    # 98 steps of a second for this run; two more runs of that.
    assert "0 of 3 runs done, at least 5 min left" in screen(display)


@pytest.mark.parametrize("width", [30, 60, 100])
def test_a_frame_is_never_wider_than_the_terminal(folder: RunFolder, width: int) -> None:
    # A line that wraps would leave a copy of itself at every frame.
    text = io.StringIO()
    target = Console(file=text, force_terminal=True, color_system=None, width=width, soft_wrap=True)
    display = Display(200, target)
    display.expect(folder, "lora[r=64,target_modules=q_proj] on a-backbone, math", lambda: True)
    write(folder, {"phase": "train"}, step(1, 100), step(2, 1300, loss=0.25))
    display.seconds = [1000.0]
    target.print(display.render())
    assert max(map(len, text.getvalue().splitlines())) <= width
    assert "step 2/100" in text.getvalue() or width < 60


def test_what_stays_on_a_terminal_is_how_each_run_ended_and_the_sum(folder: RunFolder) -> None:
    text = io.StringIO()
    target = Console(file=text, force_terminal=True, width=80, soft_wrap=True)
    display = Display(1, target)
    with display.shown():
        display.expect(folder, "lora", lambda: True)
        display.end(folder, "40.00 % micro", "finished")
    *_, ended, last = text.getvalue().splitlines()
    assert "[1/1] lora: 40.00 % micro" in text.getvalue()
    # The live frame is erased, and the sum stands in its place.
    assert last.endswith("1 of 1 runs done in 0:00")
    assert "\x1b[2K" in last or "\x1b[2K" in ended


def test_an_interrupted_display_ends_with_the_sum_too(folder: RunFolder) -> None:
    text = io.StringIO()
    target = Console(file=text, force_terminal=True, width=80)
    with pytest.raises(KeyboardInterrupt), Display(3, target).shown():
        raise KeyboardInterrupt
    assert text.getvalue().splitlines()[-1].endswith("0 of 3 runs done in 0:00")


def test_planning_has_a_clock_on_a_terminal_and_no_line_in_a_pipe() -> None:
    for terminal in (True, False):
        text = io.StringIO()
        with waiting("planning", Console(file=text, force_terminal=terminal)):
            pass
        assert ("0:00  planning" in text.getvalue()) == terminal


def test_progress_that_nobody_can_read_ends_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", buffering=1, closefd=False) as broken:
        monkeypatch.setattr("sys.stderr", broken)
        with Display(1, console()).shown():
            pass  # its sum is written to the pipe
        with pytest.raises(BrokenPipeError):
            print("x", file=broken, flush=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), writer)  # where the rest of the buffer goes
    os.close(writer)
