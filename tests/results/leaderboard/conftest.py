"""A store made by hand: three methods, a failed run, two run folders, and hostile names."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from harness.commands.one_run import items
from results.leaderboard.public import Public
from results.leaderboard.server.app import app
from results.leaderboard.source import Source
from results.record import Run
from results.runfolder.folder import RunFolder
from results.runfolder.values import Event, Generation, Head, Verdict
from results.store import Store

HOSTILE = "<script>alert(1)</script>{{ 7*7 }}'\"../../etc\\cmd|=HYPERLINK(1)\x00\x1b[2J"
Answer = tuple[str, str, bool, bool]
ANSWERS: tuple[Answer, ...] = (
    ("Die Größe ist 7.", "7", True, True),
    ("答案是\u30008。", "8", False, True),
    (HOSTILE, "", False, False),
    ("הוא 9 \u202e", "9", False, True),
)
"""Text, what was found, whether that is right, whether the model ended it."""

OTHER_ANSWERS: tuple[Answer, ...] = (
    ("Es sind 17 - 9 = 8.", "8", False, True),
    ("答案是\u30007。", "7", True, True),
    (HOSTILE, "", False, False),
    ("הוא 9 \u202e", "9", False, True),
)
"""Those of another run to the same rows: the first two differ."""

SPEC = {
    "method": {"name": "lora", "fields": {"r": 8}, "file": "/home/quentin/lora.py"},
    "train": {"lr": 0.001},
    "tests": {"gsm8k": {"sha256": "ab", "rows": 4}},
    "protocol": {"extractor": "strict", "stop": ""},
}


def write_folder(path: Path, run: Run, answers: Sequence[Answer] = ANSWERS) -> RunFolder:
    """Write the folder of a run, with four answers and a curve of a hundred steps."""
    folder = RunFolder(path)
    head = Head(
        format=2,
        **{
            name: getattr(run, name)
            for name in Head.model_fields
            if name not in ("format", "conditions")
        },
    )
    folder.create(head, SPEC, {"backbone_place": "/home/quentin/models/tiny"})
    folder.write_generations(
        "gsm8k",
        [
            Generation(id=n, prompt="How many?", answer="7", ended=ended, long=False, text=text)
            for n, (text, _, _, ended) in enumerate(answers)
        ],
    )
    folder.write_verdicts(
        "gsm8k",
        [
            Verdict(id=n, extracted={"strict": found}, correct={"strict": right})
            for n, (_, found, right, _) in enumerate(answers)
        ],
    )
    events = [Event(time=n, step=n, of=100, loss=1 / (n + 1)) for n in range(99)]
    events.append(Event(time=99, step=100, loss=float("nan")))
    lines = "".join(f"{one.model_dump_json(exclude_none=True)}\n" for one in events)
    folder.events.write_text(lines)
    folder.log.write_text("loaded /home/quentin/models/tiny on node7\n")
    return folder


@pytest.fixture(scope="session")
def store(
    tmp_path_factory: pytest.TempPathFactory, make: Callable[..., Run]
) -> tuple[str, dict[str, Run]]:
    """Make the store: three methods over three seeds, a failed run, and two with a folder."""
    root = tmp_path_factory.mktemp("board")
    place, named = str(root / "harness.db"), {}
    made = Store(place)
    for number, (method, right) in enumerate({"lora": 50, "dypam": 80, HOSTILE: 20}.items()):
        for seed in (1, 2, 3):
            run = make(
                method,
                seed,
                {"gsm8k": right + seed, "aqua": right - seed // 2},
                minute=10 * number + seed,
                spec=SPEC | {"tests": {"gsm8k": {}, "aqua": {}}},
                flags=("gsm8k: always the same answer: 7 (100 %)",) if method == HOSTILE else (),
                backbone_place="/home/quentin/models/tiny",
                folder=str(root / "gone"),
                environment={"python": "3.11", "machine": {"host": "node7", "threads": 2}},
                provenance={"command": ["harness", "run", "--data", "/home/quentin/data"]},
            )
            if (method, seed) == ("lora", 3):
                run = with_folder(run, root / "runs" / "lora")
            if (method, seed) == ("dypam", 3):
                run = with_folder(run, root / "runs" / "dypam", OTHER_ANSWERS)
            named[f"{method} {seed}"] = run
            made.add(run)
    failed = make(
        "vera",
        1,
        minute=99,
        status="failed",
        scores=(),
        trainable_parameters=0,
        total_parameters=0,
        spec=SPEC,
        reason="OSError: /home/quentin/models/tiny on node7: no space",
        environment={"machine": {"host": "node7"}},
    )
    made.add(failed)
    return place, named | {"failed": failed}


def with_folder(run: Run, path: Path, answers: Sequence[Answer] = ANSWERS) -> Run:
    """Give a run its folder."""
    write_folder(path, run, answers)
    return replace(run, folder=str(path))


@pytest.fixture(scope="session")
def folder() -> Callable[[Path, Run], RunFolder]:
    return write_folder


def source_of(place: str, *, private: bool = False) -> Source:
    return Source(place, items.read, list, Public(everything=private))


def client_of(place: str, *, private: bool = False) -> TestClient:
    made = app(source_of(place, private=private))
    return TestClient(made, base_url="http://localhost", raise_server_exceptions=True)


@pytest.fixture(scope="session")
def source() -> Callable[..., Source]:
    return source_of


@pytest.fixture(scope="session")
def client() -> Callable[..., TestClient]:
    return client_of


@pytest.fixture(scope="session")
def hostile() -> str:
    return HOSTILE


@pytest.fixture(scope="session")
def folder_of() -> Callable[..., Run]:
    return with_folder
