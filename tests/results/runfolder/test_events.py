from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.reports.times import duration
from results.runfolder.events import EventLog, losses, read_new
from results.runfolder.folder import RunFolder
from results.runfolder.progress import Progress
from results.runfolder.values import Event

EVENTS = [
    Event(time=1.0, phase="train"),
    Event(time=2.0, step=1, of=9, loss=0.5, tokens=100, lr=1e-3),
    Event(time=3.0, benchmark="ärger", done=3, of=3),
]


def write(path: Path, *events: Event) -> None:
    log = EventLog(path)
    for event in events:
        log.append(event)
    log.close()


def test_a_file_that_is_not_there_has_no_events(tmp_path: Path) -> None:
    assert read_new(tmp_path / "events.jsonl", 0) == ([], 0)
    assert read_new(tmp_path / "events.jsonl", 7) == ([], 7)


def test_only_whole_lines_are_read_wherever_the_file_is_cut(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    write(whole, *EVENTS)
    content = whole.read_bytes()
    for length in range(len(content) + 1):
        cut.write_bytes(content[:length])
        first, offset = read_new(cut, 0)
        assert len(first) == content[:length].count(b"\n")
        cut.write_bytes(content)
        rest, end = read_new(cut, offset)
        assert [*first, *rest] == EVENTS
        assert end == len(content)


def test_an_event_is_there_as_soon_as_it_is_appended(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    log, offset = EventLog(path), 0
    for event in EVENTS:
        log.append(event)
        found, offset = read_new(path, offset)
        assert found == [event]
    log.close()


def test_a_second_attempt_appends_to_the_events_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    write(path, EVENTS[0])
    write(path, *EVENTS[1:])
    assert read_new(path, 0)[0] == EVENTS


def test_only_what_an_event_is_about_is_written(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    write(path, EVENTS[0])
    assert path.read_text() == '{"time":1.0,"phase":"train"}\n'


@pytest.mark.parametrize("line", [b'{"time": 1.0, "ph{"time":2.0}', b"\xff\xfe", b"", b"[]"])
def test_a_line_that_holds_no_event_is_skipped(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(line + b"\n")
    write(path, *EVENTS)
    assert read_new(path, 0)[0] == EVENTS


@given(cuts=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4))
def test_a_training_has_each_step_once_wherever_it_was_cut_and_resumed(
    cuts: list[tuple[int, int]],
) -> None:
    """An attempt takes some steps; the next one goes on from some steps before its end."""
    events: list[Event] = []
    begun = 0
    for taken, back in cuts:
        end = min(9, begun + taken)
        events += _attempt(begun, end)
        begun = max(0, end - back)
    assert losses([*events, *_attempt(begun, 9)]) == _attempt(0, 9)


def _attempt(begun: int, end: int) -> list[Event]:
    """List what an attempt writes that goes on after a step; every third step is validated."""
    first = [Event(time=0, step=begun, validation_loss=0.5)] if begun and begun % 3 == 0 else []
    for step in range(begun + 1, end + 1):
        first.append(Event(time=0, step=step, loss=1.0))
        first += [Event(time=0, step=step, validation_loss=0.5)] if step % 3 == 0 else []
    return first


@given(where=st.floats(0, 0.999), bit=st.integers(0, 7), rest=st.floats(0, 1))
def test_no_damage_of_the_events_ends_a_display(where: float, bit: int, rest: float) -> None:
    text = "".join(event.model_dump_json(exclude_none=True) + "\n" for event in 3 * EVENTS)
    content = bytearray(text.encode())
    content[int(where * len(content))] ^= 1 << bit
    with TemporaryDirectory() as place:
        folder = RunFolder(Path(place))
        folder.events.write_bytes(content[: int(rest * len(content))])
        progress = Progress(folder, since=0)
        progress.update()
        # What a line of the display shows.
        str((progress.phase, progress.done, progress.tokens_per_second, progress.left))
        write(folder.events, Event(time=9.0, phase="finished"))
        progress.update()
        assert progress.phase == "finished"
        assert len(duration(progress.left or 0.0)) < 400


def test_what_follows_a_torn_line_is_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    write(path, EVENTS[0])
    path.write_bytes(path.read_bytes() + b'{"time":2.0,"st')
    write(path, EVENTS[1])
    assert read_new(path, 0)[0] == EVENTS[:2]


def test_a_folder_in_the_place_of_the_events_holds_none(tmp_path: Path) -> None:
    assert read_new(tmp_path, 0) == ([], 0)
