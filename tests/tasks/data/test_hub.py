"""Sets of the hub, loaded by the real library from a folder that stands for a repository."""

import gzip
import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import datasets
import pytest

import tasks
from tasks.contract import DataFile, HubSet
from tasks.data.fetch import UnreachableHostError, fetch, offline, unfinished
from tasks.data.files import DataError, locate, read
from tasks.groups.metamath import group

META_MATH, GSM8K = group.train
REVISION = 40 * "0"
ROWS = [
    {"type": "GSM_Rephrased", "query": f"What is {n} + 1?", "response": f"{n + 1}\u2028 \u00e9"}
    for n in range(30)
]


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return publish(tmp_path / "owner" / "toys", ROWS)


def publish(folder: Path, rows: Sequence[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True)
    (folder / "toys.json").write_text(json.dumps(rows, indent=4))
    return folder


def known(place: Path, **more: Any) -> DataFile:
    source = HubSet(str(place), REVISION, columns=("query", "response"))
    file = DataFile("toys", ("toys/toys.json",), None, len(ROWS), "the toy makers", "MIT")
    return replace(file, hub=replace(source, **more))


def get(file: DataFile, folder: Path) -> Path:
    return fetch(file, folder, lambda done, total: None)


def test_a_set_of_the_hub_is_found_and_read_where_it_was_put(
    repository: Path, tmp_path: Path
) -> None:
    file = known(repository)
    path = get(file, tmp_path / "data")
    assert path == tmp_path / "data/toys/toys.json" == locate(file, tmp_path / "data")
    rows, _ = read(file, path, ("instruction", "output"))
    assert [(row.instruction, row.output) for row in rows] == [
        (row["query"], row["response"]) for row in ROWS
    ]
    assert [one.name for one in path.parent.iterdir()] == ["toys.json"]


def test_the_same_rows_give_the_same_bytes_from_json_and_from_parquet(
    repository: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    datasets.Dataset.from_list(ROWS).to_parquet(other / "toys.parquet")
    first, second = (
        get(known(place), tmp_path / f"from {place.name}").read_bytes()
        for place in (repository, other)
    )
    assert first == second
    # JSON lines of the columns that were asked for.
    lines = [json.dumps({name: row[name] for name in ("query", "response")}) for row in ROWS]
    assert first == "".join(f"{line}\n" for line in lines).encode()


def test_progress_ends_at_the_size_of_the_file(repository: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    path = fetch(known(repository), tmp_path / "data", lambda *sizes: seen.append(sizes))
    assert seen == [(path.stat().st_size, path.stat().st_size)]


def test_what_is_there_is_not_loaded_again(repository: Path, tmp_path: Path) -> None:
    path = get(known(repository), tmp_path / "data")
    (repository / "toys.json").unlink()
    assert get(known(repository), tmp_path / "data") == path


def test_an_interrupted_write_is_begun_again(repository: Path, tmp_path: Path) -> None:
    left = unfinished(known(repository), tmp_path / "data")
    left.parent.mkdir(parents=True)
    left.write_bytes(b'{"query": "Wh')
    whole = get(known(repository), tmp_path / "data").read_bytes()
    assert whole.startswith(b'{"query": "What is 0 + 1?"')
    assert not left.exists()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"split": "test"}, "Unknown split"),
        ({"configuration": "main"}, "'main' not found"),
        ({"columns": ("query", "answer")}, "answer"),
        ({"repository": "/nowhere"}, "nowhere"),
    ],
    ids=["split", "configuration", "column", "repository"],
)
def test_what_the_hub_does_not_give_is_told_with_address_and_place(
    repository: Path, tmp_path: Path, more: dict[str, Any], words: str
) -> None:
    file = known(repository, **more)
    with pytest.raises(DataError, match=words) as caught:
        get(file, tmp_path / "data")
    message = str(caught.value)
    assert offline(file, tmp_path / "data") in message
    assert str(file.address) in message
    assert str(tmp_path / "data/toys/toys.json") in message
    assert [path for path in (tmp_path / "data").rglob("*") if path.is_file()] == []


def test_a_hub_that_cannot_be_reached_is_asked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # and does not listen
        endpoint = f"http://127.0.0.1:{unused.getsockname()[1]}"
        monkeypatch.setattr(datasets.config, "HF_ENDPOINT", endpoint)
        with pytest.raises(UnreachableHostError, match="Fetch toys"):
            get(known(Path("owner/toys")), tmp_path)
    assert "Retrying" not in caplog.text


def test_too_few_rows_and_another_hash_are_refused(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="30 rows, toys has 31"):
        get(replace(known(repository), rows=31), tmp_path / "data")
    with pytest.raises(DataError, match="its SHA-256 is"):
        get(replace(known(repository), sha256=64 * "0"), tmp_path / "data")
    assert [path for path in (tmp_path / "data").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("name", ["HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"])
def test_offline_no_set_is_loaded(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(DataError) as caught:
        get(known(repository), tmp_path / "data")
    assert str(caught.value) == offline(known(repository), tmp_path / "data")


def test_the_columns_of_metamathqa_are_read_as_question_and_answer(tmp_path: Path) -> None:
    rows = [{**row, "original_question": "What is 1?"} for row in ROWS]
    published = publish(tmp_path / "MetaMathQA", rows)
    assert META_MATH.hub is not None
    here = replace(META_MATH.hub, repository=str(published))
    file = replace(META_MATH, hub=here, rows=len(rows))
    loaded, _ = read(file, get(file, tmp_path / "data"), ("instruction", "output"))
    assert [row.instruction for row in loaded] == [row["query"] for row in rows]


@pytest.fixture
def gsm8k(data: Path, tmp_path: Path) -> Path:
    """A repository of two configurations, as GSM8K's is, with the training set as published."""
    found = locate(GSM8K, data)
    if found is None:
        pytest.skip("the training set of GSM8K is not there")
    content = gzip.decompress(found.read_bytes()) if found.suffix == ".gz" else found.read_bytes()
    rows = [json.loads(line) for line in content.decode().split("\n") if line]
    folder = tmp_path / "gsm8k"
    configurations = []
    for name, some in {"main": rows, "socratic": rows[:5]}.items():
        (folder / name).mkdir(parents=True)
        datasets.Dataset.from_list(some).to_parquet(folder / name / "train-00000-of-00001.parquet")
        configurations.append(
            f"- config_name: {name}\n  data_files:\n  - split: train\n    path: {name}/train-*\n"
        )
    (folder / "README.md").write_text(f"---\nconfigs:\n{''.join(configurations)}---\n")
    return folder


def test_gsm8k_as_the_hub_keeps_it_is_written_to_the_hash_on_record(
    gsm8k: Path, tmp_path: Path
) -> None:
    assert GSM8K.hub is not None
    file = replace(GSM8K, hub=replace(GSM8K.hub, repository=str(gsm8k)))
    path = get(file, tmp_path / "data")
    assert sha256(path.read_bytes()).hexdigest() == GSM8K.sha256


LOAD = """
import sys
from pathlib import Path
from tasks.contract import DataFile, HubSet
from tasks.data.fetch import fetch
assert "datasets" not in sys.modules
hub = HubSet(sys.argv[1], "0" * 40, ("query", "response"))
file = DataFile("toys", ("toys.json",), None, 30, "the toy makers", "MIT", hub=hub)
fetch(file, Path(sys.argv[2]), lambda done, total: None)
print("loaded", "datasets" in sys.modules, "torch" in sys.modules)
"""


def test_a_set_of_the_hub_is_loaded_without_torch(repository: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOAD, str(repository), str(tmp_path / "data")]
    done = subprocess.run(
        command,
        cwd=Path(tasks.__path__[0]).parent,
        env={"HF_HOME": str(tmp_path / "home"), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["loaded", "True", "False"]
