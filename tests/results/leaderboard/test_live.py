"""What runs now, served: run folders whose lock this process holds, and events it appends."""

import asyncio
import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

from harness.commands.one_run import items
from results.leaderboard.build import build
from results.leaderboard.public import Public
from results.leaderboard.server.app import app
from results.leaderboard.server.live import News
from results.leaderboard.source import Source
from results.leaderboard.values.attempts.at_work import SILENT
from results.leaderboard.values.attempts.live import Live
from results.record import Run
from results.runfolder import attempts, wishes
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import record_of
from results.runfolder.values import Divergence, Environment, Head
from results.store import Store

RUN = "0123456789abcdef"


@pytest.fixture
def source(tmp_path: Path, root: Path, make: Callable[..., Run]) -> Source:
    """Make a store with one finished run, which took 200 seconds, and no run folders yet."""
    place = str(tmp_path / "harness.db")
    Store(place).add(make("lora", 1, seconds={"wall": 200.0}, series="series-a"))
    return Source(place, items.read, list, Public(), runs=root)


def plan(root: Path, run_id: str = RUN, **changes: Any) -> RunFolder:
    folder = RunFolder(root / run_id)
    facts: dict[str, Any] = {
        "format": 2,
        "run_id": run_id,
        "group": "math",
        "method": "lora",
        "backbone": "tiny",
        "seed": 2,
        "fold": None,
        "marks": (),
        "setting": "setting-a",
        "recipe": "recipe-a",
        "series": "series-a",
        "protocol": "paper/2",
        "provenance": {"command": ["harness", "run"]},
        **changes,
    }
    folder.create(Head(**facts), {"train": {"lr": 0.001}, "tests": {"gsm8k": {}}}, {})
    return folder


def write(folder: RunFolder, *events: dict[str, Any]) -> None:
    with folder.events.open("a") as file:
        file.writelines(json.dumps({"time": time.time(), **event}) + "\n" for event in events)


TRAINING: list[dict[str, Any]] = [
    {"phase": "train"},
    {"step": 1, "of": 50, "loss": 2.0, "tokens": 100},
    {"step": 2, "of": 50, "loss": 1.5, "tokens": 1300},
]


@pytest.fixture
def training(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunFolder]:
    """Train for 30 seconds, after which time stands still: the second of 50 steps took 2."""
    folder, now = plan(root), time.time()
    monkeypatch.setattr("time.time", lambda: now)
    os.utime(folder.path / "run.json", (now - 40, now - 40))
    with folder.locked():
        for event, age in zip(TRAINING, (30, 22, 20), strict=True):
            write(folder, {**event, "time": now - age})
        yield folder


@pytest.fixture
def get(source: Source) -> Callable[[str], Any]:
    return TestClient(app(source), base_url="http://localhost").get


def live(source: Source) -> Live:
    return Live(source, every=0.0)


def texts(html: str, name: str) -> list[str]:
    body = html.partition("<template")[0]
    return re.findall(rf'data-text="{name}">([^<]*)<', body)


@pytest.mark.usefixtures("training")
def test_a_run_at_work_shows_phase_step_loss_speed_and_time_left(source: Source) -> None:
    page = live(source).page()
    (run,) = page.running
    assert (run.run, run.phase, run.done, run.of, run.loss) == (RUN, "train", 2, 50, 1.5)
    # 1,200 tokens in 2 seconds; 48 steps of 2 seconds.
    assert (run.tokens_per_second, run.phase_left) == pytest.approx((600, 96), abs=0.1)
    assert (run.spent, run.phase_spent, run.silent) == pytest.approx((30, 30, 20))
    # A run of the same series took 200 seconds.
    assert run.left == pytest.approx(170)
    assert run.shown["name"] == "lora on tiny, math, seed 2"
    assert run.shown["done"] == "2 of 50"
    assert run.shown["curve"] == "58,1 59,15"


@pytest.mark.usefixtures("training")
def test_page_and_api_give_the_same_values(get: Callable[[str], Any]) -> None:
    html, (run,) = get("/live").text, get("/api/live").json()["running"]
    for name, text in run["shown"].items():
        if name != "curve":
            assert texts(html, name)[0] == text
    assert f'points="{run["shown"]["curve"]}"' in html


def test_without_run_folders_the_page_says_that_it_cannot_know(
    source: Source, tmp_path: Path
) -> None:
    for runs in (None, tmp_path / "nowhere"):
        made = app(replace(source, runs=runs))
        html = TestClient(made, base_url="http://localhost").get("/live").text
        assert '<p class="warning" id="unknown">' in html
        assert '<div id="known" hidden>' in html


def test_a_loss_that_is_no_number_is_shown_and_is_valid_json(
    training: RunFolder, get: Callable[[str], Any]
) -> None:
    write(training, {"step": 3, "of": 50, "loss": "NaN"})
    (run,) = get("/api/live").json()["running"]
    assert (run["loss"], run["shown"]["loss"], run["shown"]["curve"]) == (None, "nan", "58,1 59,15")


def test_long_silence_is_said(source: Source, training: RunFolder) -> None:
    now = time.time()
    training.events.write_text(f'{{"time": {now - SILENT - 600}, "phase": "load"}}\n')
    os.utime(training.path / "run.json", (now - 3600, now - 3600))
    assert live(source).page().running[0].shown["notes"] == "no event for 12 min"


def test_how_long_a_run_takes_is_not_known_from_other_series(source: Source, root: Path) -> None:
    folder = plan(root, series="series-b")
    with folder.locked():
        write(folder, {"phase": "load"})
        assert live(source).page().running[0].left is None


def test_failed_diverged_and_lost_runs_say_why(
    source: Source, root: Path, get: Callable[[str], Any]
) -> None:
    failed, diverged, lost = (plan(root, digit * 16) for digit in "abc")
    for folder in (failed, diverged, lost):
        write(folder, {"phase": "train"})
    failed.write_environment(
        Environment(
            packages={}, python="", torch="", device="", machine={"host": "node7"}, harness={}
        )
    )
    failed.note_failure("OSError: /home/quentin/models/tiny on node7: no space\nmore")
    diverged.write_divergence(
        Divergence(
            started=1.0,
            seconds={"wall": 1.0},
            environment_id="",
            trainable_parameters=0,
            total_parameters=0,
            peak_memory_bytes=0,
            step=7,
            reason="the loss is nan",
        )
    )
    found = {one.how: one.reason for one in live(source).page().ended}
    assert found["failed"] == "OSError: …/tiny on …: no space"
    assert found["diverged"] == "step 7: the loss is nan"
    lost_reason = "ended without a result and without a reason, in phase train"
    assert found["lost"].startswith(lost_reason)
    assert lost_reason in get(f"/run/{'c' * 16}").text


def test_an_ending_says_whether_the_store_has_it(source: Source, root: Path) -> None:
    folder, watched = plan(root), live(source)
    write(folder, {"phase": "train"})
    folder.note_failure("no memory")
    (before,) = watched.page().ended
    assert (before.stored, before.shown["notes"]) == (False, "not in the store")
    attempt = record_of(folder)
    assert attempt
    Store(source.place).add(attempt)
    (after,) = watched.page().ended
    assert (after.stored, after.shown["notes"]) == (True, "")


def test_a_run_at_work_has_a_page_though_the_store_does_not_know_it(
    training: RunFolder, get: Callable[[str], Any]
) -> None:
    training.log.write_text("loaded /home/quentin/models/tiny\n")
    page = get(f"/run/{RUN}")
    assert page.status_code == 200
    for shown in ("running", "train.lr", "1.5000", "loaded …/tiny", "not in the store"):
        assert shown in page.text
    assert "harness rerun" not in page.text
    values = get(f"/api/run/{RUN}").json()
    assert (values["status"], values["items"]) == ("running", [])


def test_a_run_that_is_in_the_store_is_shown_from_there(
    source: Source, root: Path, get: Callable[[str], Any]
) -> None:
    folder = plan(root)
    folder.note_failure("no memory")
    attempt = record_of(folder)
    assert attempt
    Store(source.place).add(attempt)
    assert get(f"/api/run/{RUN}").json()["not_stored"] == ""


def test_a_run_in_the_store_is_shown_though_its_folder_is_damaged(
    source: Source, root: Path, make: Callable[..., Run], get: Callable[[str], Any]
) -> None:
    stored = make("lora", 1, series="series-a")
    (plan(root, stored.run_id).path / "run.json").write_text("{")
    assert get(f"/api/run/{stored.run_id}").json()["status"] == "finished"


@pytest.mark.parametrize("name", ["fedcba9876543210", "%2e%2e%2fruns", "0" * 15])
def test_what_is_no_run_has_no_page(get: Callable[[str], Any], name: str) -> None:
    assert get(f"/run/{name}").status_code == 404


def test_hostile_names_are_shown_as_text(
    root: Path, get: Callable[[str], Any], hostile: str
) -> None:
    folder = plan(root, method=hostile)
    with folder.locked():
        html = get("/live").text
    assert "<script>alert" not in html
    assert escape("<script>alert(1)") in html
    assert html.count("<script") == 2


def test_files_neither_have_the_page_nor_lead_to_it(source: Source, tmp_path: Path) -> None:
    build(source, tmp_path / "built")
    made = list((tmp_path / "built").rglob("*"))
    assert not [one for one in made if "live" in one.name]
    assert not [one for one in made if one.suffix == ".html" and "/live" in one.read_text()]


def test_the_stream_gives_phases_in_order_and_ends_with_the_server(
    source: Source, root: Path
) -> None:
    folder, phases, heard = plan(root), ["load", "train", "validate", "generate", "score"], []

    async def listen() -> None:
        async for message in News(Live(source, every=0.01)).stream(lambda: not phases):
            (run,) = json.loads(message.removeprefix("data: "))["running"]
            if run["phase"] in ("start", *heard[-1:]):
                write(folder, {"phase": phases[0]})
            else:
                heard.append(phases.pop(0))
                assert run["phase"] == heard[-1]

    with folder.locked():
        asyncio.run(listen())
    assert heard == ["load", "train", "validate", "generate", "score"]


@pytest.mark.parts
def test_a_real_run_is_seen_from_its_plan_to_its_result(
    tmp_path: Path, program: Callable[..., Any]
) -> None:
    words = "run --methods lora --tasks gsm8k --limit 4 --train-limit 60 --set train.epochs=3"
    watched = Live(
        Source(str(tmp_path / "harness.db"), items.read, list, Public(), runs=tmp_path / "runs"),
        0.0,
    )
    worker = threading.Thread(target=program, args=(tmp_path, *words.split()))
    worker.start()
    seen = []
    while worker.is_alive():
        seen.append(watched.page())
        time.sleep(0.05)
    (over,) = watched.page().ended
    phases = [run.phase for page in seen for run in page.running]
    assert "train" in phases
    assert all(run.by_lock for page in seen for run in page.running)
    assert any(run.loss and run.left is None for page in seen for run in page.running)
    assert (over.how, over.stored, watched.page().running) == ("finished", True, ())


@contextmanager
def served(source: Source) -> Iterator[tuple[uvicorn.Server, threading.Thread, int]]:
    made = app(source, ending=lambda: server.should_exit)
    server = uvicorn.Server(uvicorn.Config(made, log_level="warning", lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield server, thread, port
        finally:
            server.should_exit = True
            thread.join()


def listener(port: int) -> socket.socket:
    """Ask for the stream, and wait for its first event."""
    made = socket.create_connection(("127.0.0.1", port), timeout=30)
    made.sendall(b"GET /api/live/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
    received = b""
    while b"data: " not in received:
        received += made.recv(65536)
    assert b"text/event-stream" in received
    assert b"x-accel-buffering: no" in received.lower()
    return made


@pytest.mark.usefixtures("training")
def test_visitors_who_leave_leave_nothing_behind(
    source: Source, until: Callable[..., bool]
) -> None:
    with served(source) as (server, _, port):
        listener(port).close()
        threads = threading.active_count()
        for _ in range(5):
            with ExitStack() as stack:
                for _ in range(10):
                    stack.enter_context(closing(listener(port)))
            assert until(lambda: not server.server_state.tasks)
        assert threading.active_count() <= threads + 1


@pytest.mark.usefixtures("training")
def test_a_server_that_ends_hangs_up(source: Source) -> None:
    with served(source) as (server, thread, port), closing(listener(port)) as visitor:
        server.should_exit = True
        while visitor.recv(65536):
            pass
        thread.join()


@pytest.mark.parametrize(("everything", "host"), [(True, "node7"), (False, "")])
def test_a_run_of_another_machine_names_it_only_where_all_may_be_shown(
    source: Source, root: Path, everything: bool, host: str
) -> None:
    folder = plan(root)
    begun = attempts.begin(folder)
    assert begun
    far = begun.model_copy(update={"host": "node7", "peak_memory_bytes": 3 * 2**20})
    attempts.keep(folder, far)
    write(folder, {"phase": "load"})
    page = live(replace(source, public=Public(everything=everything))).page()
    (run,) = page.running
    assert (run.host, run.memory, run.shown["memory"]) == (host, 3 * 2**20, "3.0 MiB")
    assert ("node7" in str(page)) == everything
    assert page.counts == {"running": 1}


def test_a_run_that_was_asked_to_stop_says_so_and_in_which_phase(
    source: Source, root: Path
) -> None:
    folder = plan(root)
    begun = attempts.begin(folder)
    assert begun
    attempts.keep(folder, begun.model_copy(update={"status": "interrupted"}))
    write(folder, {"phase": "train"})
    (run,) = live(source).page().ended
    assert (run.how, run.stored, run.shown["notes"]) == ("interrupted", False, "")
    assert run.reason == "asked to stop, in phase train; the next attempt goes on"
    wishes.cancel(folder)
    (run,) = live(source).page().ended
    assert (run.how, run.reason) == ("cancelled", "cancelled by the user, in phase train")
