"""`harness run grid.toml`: the file means what its keys mean as options, and says where it errs."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.planning.grid_file import Origin, assignments, flat, load, written
from harness.planning.parse import parse_assignment, parse_seeds

Command = Callable[..., Any]

GRID = """
# Two methods.
methods = [
  "base",
  "lora[r=4]",
]
tasks = ["gsm8k", "boolq"]
seeds = [7, 8]
limit = 3
train-limit = 40

[set]
train.epochs = 1
"train.lr" = 5e-4
protocol.max_new_tokens = 8
"""
OPTIONS = (
    *("--methods", "base,lora[r=4]", "--tasks", "gsm8k,boolq", "--seeds", "7,8", "--limit", "3"),
    *("--train-limit", "40", "--set", "train.epochs=1", "--set", "train.lr=5e-4"),
    *("--set", "protocol.max_new_tokens=8"),
)


def listed(harness: Command, folder: Path, *words: str) -> list[str]:
    done = harness(folder, "run", *words, "--dry-run")
    assert done.returncode == 0, done.stderr
    lines: list[str] = done.stdout.splitlines()
    return lines


def test_a_file_asks_for_what_its_keys_ask_for_as_options(harness: Command, tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(GRID)
    assert listed(harness, tmp_path, "grid.toml") == listed(harness, tmp_path, *OPTIONS)


@pytest.mark.parametrize(
    "typed",
    [
        ("--methods", "base"),
        ("--seeds", "9,"),
        ("--set", "train.lr=0.1"),
        ("--checkpointing", "on"),
    ],
)
def test_what_is_typed_wins_over_the_file(
    harness: Command, tmp_path: Path, typed: tuple[str, str]
) -> None:
    (tmp_path / "grid.toml").write_text(GRID)
    after = listed(harness, tmp_path, "grid.toml", *typed)
    assert after == listed(harness, tmp_path, *typed, "grid.toml")
    assert after == listed(harness, tmp_path, *OPTIONS, *typed)


def test_what_the_environment_overrules_in_the_file_is_told(
    harness: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "grid.toml").write_text('methods = "lorra"\ntasks = "math"\nruns = "a"\n')
    monkeypatch.setenv("HARNESS_RUNS", "b")
    note = "note: grid.toml, line 3, runs: HARNESS_RUNS is set, and wins.\n"
    assert note in harness(tmp_path, "run", "grid.toml").stderr
    assert note not in harness(tmp_path, "run", "grid.toml", "--runs", "c").stderr


FAULTY = """methods = [
  "base",
  "lorra",
  "lora[rr=1]",
]
tasks = "mth"
limt = 3
limit = 2.5
train-limit = true
seeds = 9
backbones = ["tiny", "nowhere"]
dry-run = true

[set]
train.lrr = 1
train.epochs = 0
"""
FAULTS = {
    3: "methods: 'lorra' is not a known method. Did you mean 'lora'?",
    4: "methods: 'rr' is not a known field of lora. Did you mean 'r'?",
    6: "tasks: 'mth' is not a known task. Did you mean 'math'?",
    7: "limt: 'limt' is not a known key. Did you mean 'limit'?",
    8: "limit: Input should be a valid integer",
    9: "train-limit: expected a value, not true.",
    10: "seeds: --seeds 9: the papers use 5 seeds",
    11: "backbones: 'nowhere' is not a backbone",
    12: "dry-run: 'dry-run' is not a known key.",
    15: "set.train.lrr: 'train.lrr' is not a known setting. Did you mean 'train.lr'?",
    16: "set.train.epochs: --set train.epochs: Input should be greater than or equal to 1",
}


def test_all_faults_come_at_once_with_file_key_and_line(harness: Command, tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(FAULTY)
    done = harness(tmp_path, "run", "grid.toml")
    assert done.returncode == 2
    for line, words in FAULTS.items():
        assert f"grid.toml, line {line}, {words}" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["grid.toml"]


def test_a_word_that_was_typed_is_not_said_to_be_in_the_file(
    harness: Command, tmp_path: Path
) -> None:
    (tmp_path / "grid.toml").write_text(GRID)
    typed = ("--tasks", "mth", "--set", "train.lr=-1")
    message = harness(tmp_path, "run", "grid.toml", *typed).stderr
    assert "'mth' is not a known task" in message
    assert "--set train.lr: Input should be greater than 0" in message
    assert "grid.toml" not in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "grid.toml: cannot be read: No such file or directory."),
        ("seeds = \n", "grid.toml: Invalid value (at line 1, column 9)."),
        (
            "metods = 'lora'\n",
            "line 1, metods: 'metods' is not a known key. Did you mean 'methods'",
        ),
        ("methods = 'lora'\ntasks = 'math'\nset = 'x'\n", "line 3, set: expected a table"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_message(
    harness: Command, tmp_path: Path, text: str | None, words: str
) -> None:
    if text is not None:
        (tmp_path / "grid.toml").write_text(text)
    done = harness(tmp_path, "run", "grid.toml")
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr


KEYS = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=8)
VALUES = st.one_of(
    *(st.integers(-9, 9), st.booleans()),
    st.lists(st.sampled_from(["a", "b # c", "d = e", "f\u2028g = h", "\x85"])),
)


@given(st.dictionaries(KEYS, VALUES, max_size=6), st.data())
def test_the_line_of_a_key_is_where_it_was_written(
    values: dict[str, Any], data: st.DataObject
) -> None:
    lines, places = [], {}
    for key, value in values.items():
        lines += data.draw(st.lists(st.sampled_from(["", "# note = 1", "  "]), max_size=2))
        begin = len(lines) + 1
        indent = 1 if data.draw(st.booleans()) else None
        body = json.dumps(value, indent=indent, ensure_ascii=False)
        lines += f"{key} = {body}".split("\n")
        places[key] = (begin, len(lines))
    origin = Origin("g.toml", "\n".join(lines), frozenset(values))
    for key, (_, end) in places.items():
        found = re.fullmatch(rf"g\.toml, line (\d+), {key}: ", origin.told(key))
        assert found
        assert int(found[1]) <= end
        before = [place for other, place in places.items() if place[1] < places[key][0]]
        assert all(int(found[1]) > last for _, last in before)


@given(st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=4, unique=True))
def test_a_list_of_seeds_is_those_seeds(seeds: list[int]) -> None:
    assert parse_seeds(str(written("seeds", seeds))) == tuple(seeds)


@given(st.one_of(st.integers(), st.booleans(), st.text(max_size=9), st.lists(st.floats(0, 1))))
def test_a_field_of_the_table_is_read_as_its_value(value: Any) -> None:
    (one,) = assignments(flat({"set": {"train": {"lr": value}}}))
    assert parse_assignment(one) == ("train.lr", value)


def test_the_grid_of_the_readme_can_be_read_and_planned(harness: Command, tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "harness" / "README.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "grid.toml").write_text(example)
    values, _ = load(tmp_path / "grid.toml")
    assert {"methods", "tasks", "set.train.epochs"} <= values.keys()
    found = listed(harness, tmp_path, "grid.toml")
    assert "10 runs, 10 to do." in found
    assert sum(", commonsense, " in line for line in found) == 5
