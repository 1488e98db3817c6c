"""`harness data`: what is there and whether it is right, overlaps, fetching offline."""

import gzip
import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from harness import plugins
from harness.commands import data
from harness.errors import UserError
from tasks.contract import DataFile
from tasks.data.sets import load_test

Command = Callable[..., Any]


def test_without_a_data_folder_the_user_is_told_that_samples_are_used() -> None:
    for report in (data.status(None), data.verify(None)):
        assert "samples" in report.text
        assert report.sound


def place(folder: Path, name: str, content: bytes) -> None:
    path = folder / plugins.benchmark(name).file.places[0]
    path.parent.mkdir(parents=True)
    path.write_bytes(content)


def test_status_says_of_every_file_whether_it_is_there(tmp_path: Path) -> None:
    place(tmp_path, "dolly", b"[]")  # which has no hash on record
    rows = {(row["for"], row["file"]): row["there"] for row in data.status(tmp_path).value["files"]}
    assert rows.pop(("dolly", "Dolly 2.0")) == plugins.benchmark("dolly").file.places[0]
    assert set(rows.values()) == {"absent"}
    uses = {use for use, _ in rows}
    assert uses >= {*plugins.names("tasks"), "math training", "metamath training"}
    assert ("dolly", "substitute for Dolly 2.0") in rows


def test_status_tells_a_file_of_other_content_from_the_one_on_record(tmp_path: Path) -> None:
    place(tmp_path, "gsm8k", b"[]")
    there = {row["for"]: row["there"] for row in data.status(tmp_path).value["files"]}
    expected = f"{plugins.benchmark('gsm8k').file.places[0]}, but with another SHA-256"
    assert there["gsm8k"] == expected


def test_status_lists_each_file_once_with_rows_licence_and_source(tmp_path: Path) -> None:
    rows = data.status(tmp_path).value["files"]
    titles = [(row["file"], row["source"]) for row in rows]
    assert len(set(titles)) == len(titles)  # gsm8k is tested on in two groups
    assert all(row["rows"] > 0 and row["licence"] and row["source"] for row in rows)


def test_status_says_which_groups_can_run_and_what_the_others_lack(tmp_path: Path) -> None:
    place(tmp_path, "gsm8k", b"[]")
    metamath = tmp_path / plugins.group("metamath").train[0].places[0]
    metamath.parent.mkdir()
    metamath.write_text("[]")
    can_run = {row["group"]: row["can run"] for row in data.status(tmp_path).value["groups"]}
    assert set(can_run) == set(plugins.names("groups"))
    assert can_run["metamath"] == "yes"
    assert can_run["dialogue"] == "without convai2, a training set"
    assert "gsm8k" not in can_run["math"]
    assert "svamp" in can_run["math"]
    assert "training" not in can_run["multitask"]


ROW = {"instruction": "1 + 1?", "answer": "2"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (json.dumps([ROW]).encode(), "1 rows"),
        (json.dumps([ROW, {"instruction": "?"}]).encode(), "row 2: no field 'answer'"),
        (json.dumps([ROW, {**ROW, "answer": "two"}]).encode(), "row 2: the answer is 'two'"),
        (b"[{", "not JSON"),
        (gzip.compress(b"[]", mtime=0)[:-9], "Expected UTF-8"),
    ],
)
def test_verify_says_what_is_wrong_with_a_file_and_is_unsound(
    tmp_path: Path, content: bytes, words: str
) -> None:
    place(tmp_path, "gsm8k", content)
    report = data.verify(tmp_path)
    assert not report.sound
    assert [row["for"] for row in report.value] == ["gsm8k"]
    assert words in report.value[0]["verdict"]


def test_verify_finds_a_right_file_right_and_names_a_hash_that_is_not_on_record(
    tmp_path: Path,
) -> None:
    rows = [{"instruction": f"Question {n}?", "output": "Yes."} for n in range(15015)]
    content = json.dumps(rows).encode()
    place(tmp_path, "dolly", content)
    report = data.verify(tmp_path)
    assert report.sound
    digest = sha256(content).hexdigest()
    expected = f"right: 15015 rows, no SHA-256 on record, here {digest}"
    assert [row["verdict"] for row in report.value] == [expected]


def test_verify_of_a_folder_without_any_known_file_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none of the known data files"):
        data.verify(tmp_path)


@pytest.mark.parametrize(("words", "status"), [("data verify", 1), ("data status", 0)])
def test_the_exit_status_of_the_commands_is_that_of_what_was_found(
    words: str, status: int, harness: Command, tmp_path: Path
) -> None:
    place(tmp_path, "gsm8k", b"[{")
    done = harness(tmp_path, *words.split(), "--data", ".")
    assert done.returncode == status
    assert "GSM8K test set" in done.stdout


def published(group: str) -> list[DataFile]:
    """List the published files of a group."""
    tests = [plugins.benchmark(name).file for name in plugins.group(group).benchmarks]
    files = [*tests, *plugins.group(group).train]
    return [file for file in files if file.kind == "published"]


@pytest.mark.parametrize("group", ["math", "dialogue", "metamath"])
def test_fetch_without_network_says_what_to_download_from_where_and_where_to_put_it(
    group: str, harness: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    done = harness(tmp_path, "data", "fetch", group, "--data", "here")
    assert done.returncode == 1, done.stderr
    for file in published(group):
        (line,) = [one for one in done.stdout.splitlines() if one.startswith(f"{file.title}: not")]
        assert file.address is None or file.address in line
        assert file.source in line
        assert str(tmp_path / "here" / file.places[0]) in line
    assert not list(tmp_path.rglob("*.json*"))


def test_fetch_needs_to_know_where_to(harness: Command, tmp_path: Path) -> None:
    done = harness(tmp_path, "data", "fetch", "math")
    assert done.returncode == 2
    assert "--data DIR or HARNESS_DATA" in done.stderr


@pytest.mark.parametrize("command", ["fetch", "contamination"])
def test_unknown_tasks_get_the_nearest(command: str, harness: Command, tmp_path: Path) -> None:
    done = harness(tmp_path, "data", command, "mth,gsm8", "--data", ".")
    assert done.returncode == 2
    assert "'mth' is not a known task. Did you mean 'math'?" in done.stderr
    assert "'gsm8' is not a known task. Did you mean 'gsm8k'?" in done.stderr


def test_fetch_of_benchmarks_is_of_their_files_and_what_their_groups_train_on(
    harness: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    done = harness(tmp_path, "data", "fetch", "boolq,gsm8k", "--data", "here", "--json")
    files = ["BoolQ test set", "Commonsense15K", "GSM8K test set", "Math10K"]
    assert [row["file"] for row in json.loads(done.stdout)] == files


def test_contamination_is_told_group_by_group_and_all_faults_at_once(
    harness: Command, tmp_path: Path
) -> None:
    command = ("data", "contamination", "boolq,gsm8k,svamp")
    found = json.loads(harness(tmp_path, *command, "--json").stdout)
    assert {group: [*one["benchmarks"]] for group, one in found.items()} == {
        "commonsense": ["boolq"],
        "math": ["gsm8k", "svamp"],
    }
    done = harness(tmp_path, *command, "--data", ".")
    assert "no test set of commonsense is there" in done.stderr
    assert "no test set of math is there" in done.stderr


def own(folder: Path, *instructions: str) -> Path:
    file = folder / "mine.json"
    file.write_text(json.dumps([{"instruction": one, "output": "5"} for one in instructions]))
    return file


def test_contamination_counts_what_a_training_file_holds_of_each_test_set(
    harness: Command, tmp_path: Path
) -> None:
    svamp, gsm8k = (
        load_test(name, plugins.benchmark(name), None).rows for name in ("svamp", "gsm8k")
    )
    # Three questions of one set, of which one is written otherwise, and one of another.
    copied = [row.instruction for row in svamp[:3]]
    mine = own(tmp_path, copied[0].upper(), *copied[1:], gsm8k[7].instruction, "Why?")
    command = ("data", "contamination", "math", "--train-data", str(mine))
    report = json.loads(harness(tmp_path, *command, "--json").stdout)["math"]["benchmarks"]
    exact = {name: findings["exact"] for name, findings in report.items() if findings["exact"]}
    assert exact == {"svamp": [0, 1, 2], "gsm8k": [7]}
    assert {name: findings["n"] for name, findings in report.items()} == dict.fromkeys(
        plugins.group("math").benchmarks, 60
    )
    for findings in report.values():
        assert set(findings["exact"]) <= set(findings["masked"])
        assert set(findings["exact"]) <= set(findings["ngram"])
    printed = harness(tmp_path, *command).stdout
    assert "among 5 training rows" in printed
    (line,) = [line for line in printed.splitlines() if line.startswith("| svamp")]
    assert [cell.strip() for cell in line.split("|")[2:4]] == ["60", "3"]


def test_contamination_of_a_group_with_folds_is_what_its_sets_share_or_a_named_file_holds(
    harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "data", "contamination", "multitask")
    assert done.returncode == 0
    assert "No two benchmarks of multitask share a question." in done.stdout
    rows = load_test("webgpt", plugins.benchmark("webgpt"), None).rows
    named = own(tmp_path, rows[3].instruction)
    command = ("data", "contamination", "multitask", "--train-data", str(named), "--json")
    report = json.loads(harness(tmp_path, *command).stdout)["multitask"]["benchmarks"]
    assert report["webgpt"]["exact"] == [3]
    assert report["dolly"]["exact"] == []


def test_contamination_without_any_test_set_is_a_mistake(harness: Command, tmp_path: Path) -> None:
    mine = own(tmp_path, "Why?")
    command = ("data", "contamination", "math", "--data", ".", "--train-data", str(mine))
    done = harness(tmp_path, *command)
    assert done.returncode == 2
    assert "no test set of math is there" in done.stderr


def test_a_training_file_that_cannot_be_read_is_a_mistake(harness: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("[{")
    done = harness(tmp_path, "data", "contamination", "math", "--train-data", "mine.json")
    assert done.returncode == 2
    assert "mine.json: not JSON" in done.stderr


@pytest.fixture
def real() -> Path:
    if not os.environ.get("HARNESS_DATA"):
        pytest.skip("HARNESS_DATA names no folder with the published data")
    return Path(os.environ["HARNESS_DATA"])


def leaky(folder: Path) -> Path:
    found = next(folder.rglob("*math_data.json*"), None)
    if found is None:
        pytest.skip("LLM-Adapters' math_data.json is not there")
    return found


def test_the_copy_of_the_test_sets_is_refused_for_training_with_the_reason(
    real: Path, harness: Command, tmp_path: Path
) -> None:
    grid = ("run", "--methods", "lora", "--tasks", "gsm8k", "--train-data", str(leaky(real)))
    done = harness(tmp_path, *grid, "--dry-run")
    assert done.returncode == 2
    assert "80 % copy of the test sets" in done.stderr


def test_the_files_at_hand_are_right_and_every_group_can_run_but_for_webgpt(real: Path) -> None:
    groups = {row["group"]: row["can run"] for row in data.status(real).value["groups"]}
    assert groups.pop("multitask") in {"yes", "without webgpt"}  # which is seldom at hand
    assert set(groups.values()) == {"yes"}
    verdicts = [row["verdict"] for row in data.verify(real).value]
    assert [verdict for verdict in verdicts if not verdict.startswith("right: ")] == []
    assert len(verdicts) > 20


def test_a_host_that_is_not_reached_is_asked_for_one_file_only(
    harness: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A proxy at a port where nobody listens: no connection comes about, whatever the network.
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setattr("tasks.data.transfer.DELAYS", (0.0, 0.0, 0.0))
    done = harness(tmp_path, "data", "fetch", "math", "--data", "here")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(published("math")) > 2
    assert ["refused" in line for line in lines] == [True] + [False] * (len(lines) - 1)
    assert all(" and put it at " in line for line in lines)
