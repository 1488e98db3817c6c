import io
import json
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from harness.scheduling.progress import Display, Watched, console
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
    assert (watched.phase, watched.describe()) == ("generate", {"done": "gsm8k 32/50"})


def test_events_of_an_earlier_attempt_are_not_shown(folder: RunFolder) -> None:
    write(folder, {"phase": "train"}, step(1, 100), start=time.time() - 60)
    watched = Watched(folder, "run")
    watched.update()
    assert (watched.phase, watched.describe()) == ("start", {})


def test_a_run_without_events_is_at_its_start(folder: RunFolder) -> None:
    watched = Watched(folder, "run")
    watched.update()
    assert watched.phase == "start"


def test_where_there_is_no_terminal_plain_lines_say_the_same(
    folder: RunFolder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    display = Display(2, console())
    display.expect(folder, "lora[r=64] on tiny", lambda: True)
    write(folder, {"phase": "train"}, step(7, 700, loss=1.25))
    with display.shown():
        time.sleep(0.8)  # the first look is after half a second
    display.end(folder, "40.00 % micro", failed=False)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "lora[r=64] on tiny: train, done step 7/100, loss 1.250",
        "[1/2] lora[r=64] on tiny: 40.00 % micro",
    ]


@pytest.mark.parametrize(
    "note", ["[/runs/x] is gone", "see [r=64] and [bold]", ":smile: [/]", "a\\[b]"]
)
def test_a_reason_is_printed_as_it_is(
    folder: RunFolder, capsys: pytest.CaptureFixture[str], note: str
) -> None:
    display = Display(1, console())
    display.expect(folder, "lora[r=64]", lambda: True)
    display.end(folder, f"failed: {note}", failed=True)
    assert capsys.readouterr().err == f"[1/1] lora[r=64]: failed: {note}\n"


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
    display.end(folder, "", failed=False)
    assert "lora" not in screen(display)


def test_a_run_that_waited_is_timed_from_its_start(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch, screen: Callable[[Display], str]
) -> None:
    display = Display(1, console())
    display.expect(folder, "lora", lambda: True)
    clock = iter([1500.0, 1530.0])  # seen at work, ended
    monkeypatch.setattr("time.time", lambda: next(clock))
    display.render()
    display.end(folder, "", failed=False)
    assert display.seconds == [30.0]


def test_the_title_counts_failures_and_estimates_the_rest(
    folder: RunFolder, screen: Callable[[Display], str]
) -> None:
    display = Display(4, console())
    for name in ("a", "b"):
        display.expect(folder, name, lambda: True)
        display.end(folder, "", failed=name == "b")
    display.seconds = [100.0, 140.0]
    # 2 runs of 120 seconds are left and none is at work.
    assert "2 of 4 runs done, 1 failed, about 4 min left" in screen(display)


def test_a_live_display_ends_with_its_last_state() -> None:
    text = io.StringIO()
    target = Console(file=text, force_terminal=True, width=80)
    with Display(1, target).shown():
        pass
    assert "0 of 1 runs done" in text.getvalue()
