"""The first format of the run folder is read: folders that an earlier version wrote."""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from results.runfolder.events import read_new
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.record_of import folders, record_of
from results.runfolder.values import (
    FORMAT,
    Event,
    Head,
    OptionLikelihoods,
    ReferenceLikelihood,
    Result,
)

WRITTEN = Path(__file__).parent / "format_1"
STORED: dict[str, Any] = json.loads((WRITTEN / "stored.json").read_text())
"""What that version computed of each folder, from its own store; times are in UTC."""
MATH, OPTIONS, FOLD, FAILED = (
    RunFolder(WRITTEN / name)
    for name in ("96a36244336a66e7", "9aa8a91e7f8517b8", "02e7ce5e9a9582c9", "9a0646b6ce6c5cf0")
)


@pytest.mark.parametrize("run_id", STORED)
def test_a_record_is_what_the_earlier_version_made_of_the_folder(run_id: str) -> None:
    record = record_of(RunFolder(WRITTEN / run_id))
    assert record is not None
    assert record.run_id == run_id
    stored = STORED[run_id]
    started = datetime.fromisoformat(stored["started"]).replace(tzinfo=UTC)
    assert record.started == started
    # That version did not say in which environment a run failed.
    other = {"started", "scores", *(["environment_id"] if record.status == "failed" else [])}
    found = {name: getattr(record, name) for name in stored if name not in other}
    assert json.loads(json.dumps(found)) == {name: stored[name] for name in found}
    first = {"extractor_version": 1}
    assert [asdict(score) for score in record.scores] == [one | first for one in stored["scores"]]
    assert (record.recipe, record.provenance) == ("", {})


def test_all_four_folders_are_listed() -> None:
    assert {folder.path.name for folder in folders(WRITTEN)} == set(STORED)
    assert {folder.format for folder in folders(WRITTEN)} == {1}


def test_the_notes_of_a_run_are_marks(tmp_path: Path) -> None:
    folder = copied(FAILED, tmp_path)
    job = json.loads((folder.path / "job.json").read_text())
    job["notes"] = ["rank 1 is cut to 0."]
    (folder.path / "job.json").write_text(json.dumps(job))
    assert folder.head().marks[-1] == "lora[r=1] on tiny: rank 1 is cut to 0"


def marks_of(folder: RunFolder, **changes: dict[str, Any]) -> tuple[str, ...]:
    """Change fields of training data and tests in the spec of a folder, and give its marks."""
    spec = folder.spec()
    data = {"train_data": spec["train_data"], **spec["tests"]}
    for name, fields in changes.items():
        data[name].update(fields)
    (folder.path / "spec.json").write_text(json.dumps({**spec, "limit": None}))
    return folder.head().marks


def test_marks_name_substitutes_own_files_and_what_is_not_verified(tmp_path: Path) -> None:
    # The sentences of that version's spec.
    real = {"kind": "published", "verified": True}
    substitute = {"kind": "substitute", "verified": True, "title": "other file"}
    unknown = {"kind": "published", "verified": False, "title": "found file"}
    own = {"kind": "own", "verified": True, "title": "mine.json"}
    limited = "first 41 training rows"
    folder = copied(FAILED, tmp_path)
    assert marks_of(folder, train_data=substitute, gsm8k=unknown) == (
        "trained on the other file",
        "found file not verified: no hash on record",
        limited,
    )
    assert marks_of(folder, train_data=own, gsm8k=substitute) == (
        "trained on mine.json, a file of the user's",
        "tested on the other file",
        limited,
    )
    assert marks_of(folder, train_data=real, gsm8k=real) == (limited,)


def test_generations_are_read_without_what_that_format_did_not_keep() -> None:
    first, second, third = MATH.generations("gsm8k")
    assert (first.id, first.ended, first.long) == (0, False, False)
    assert first.text == (
        "Max had 12 cards and gave 3 cards away. Paul has twice as many cards as Max has left."
    )
    assert [second.id, third.id] == [1, 2]
    assert (first.prompt, first.answer, first.reference, first.tokens) == ("", "", "", ())
    assert [one.id for one in FOLD.generations("auto_cot")] == [7, 12, 20]
    assert [one.ended for one in FOLD.generations("auto_cot")] == [False, True, True]


def test_verdicts_and_likelihoods_are_read() -> None:
    extracted = [verdict.extracted["llm-adapters"] for verdict in MATH.verdicts("gsm8k")]
    assert extracted == ["3", "6", "7"]
    assert [any(verdict.correct.values()) for verdict in OPTIONS.verdicts("piqa")] == 3 * [False]
    assert OPTIONS.option_likelihoods("boolq")[0] == OptionLikelihoods(
        id=0, options={"true": -121.89754056735546, "false": -121.8695130328706}
    )
    assert FOLD.reference_likelihoods("auto_cot")[0] == ReferenceLikelihood(
        id=7,
        cut=False,
        answer=284.1978399225584,
        answer_tokens=49,
        text=306.87981705526613,
        text_tokens=114,
    )


@pytest.mark.parametrize("folder", [MATH, OPTIONS, FOLD])
def test_the_environment_has_the_identity_that_was_recorded(folder: RunFolder) -> None:
    environment, result = folder.environment(), folder.result()
    assert environment is not None
    assert result is not None
    assert environment.identity == result.environment_id == "b9ace542fde84163"
    assert environment.packages["torch"] == "2.13.0+cpu"


def test_what_the_training_came_to_is_read_and_its_adapter_is_there() -> None:
    record, result = MATH.train_record(), MATH.result()
    assert record is not None
    assert result is not None
    assert (record.rows, record.best_step) == (40, record.steps)
    weights = MATH.adapter / "adapter_model.safetensors"
    assert weights.stat().st_size == result.adapter_bytes


def test_places_and_events_are_read() -> None:
    assert MATH.places()["backbone_place"] == "/home/user/harness/harness/tiny/model"
    events, _ = read_new(FAILED.events, 0)
    assert events == [
        Event(time=1795297305.001, phase="load"),
        Event(time=1795297305.077, phase="adapt"),
        Event(time=1795297305.103, phase="load"),
    ]
    assert "no training rows have an answer" in FAILED.end_of_log()


def copied(folder: RunFolder, place: Path) -> RunFolder:
    return RunFolder(Path(shutil.copytree(folder.path, place / folder.path.name)))


def test_numbers_that_are_not_finite_are_read_as_that_format_wrote_them(tmp_path: Path) -> None:
    folder = copied(OPTIONS, tmp_path)
    path = folder.path / "likelihoods" / "boolq.jsonl"
    path.write_text('{"id": 0, "options": {"true": NaN, "false": -Infinity}}\n')
    (row,) = folder.option_likelihoods("boolq")
    assert str(row.options) == "{'true': nan, 'false': -inf}"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("spec.json", '{"method": {}}'),
        ("job.json", "{"),
        ("result.json", '{"started": 1}'),
        ("generations/gsm8k.jsonl", '{"id": 0}\n'),
        ("generations/gsm8k.jsonl", "[]\n"),
    ],
)
def test_a_damaged_folder_is_an_error_that_names_the_file(
    name: str, content: str, tmp_path: Path
) -> None:
    folder = copied(MATH, tmp_path)
    (folder.path / name).write_text(content)
    read = folder.generations if "gsm8k" in name else lambda _: record_of(folder)
    with pytest.raises(RunFolderError, match=f"{name} is damaged: "):
        read("gsm8k")


def test_another_attempt_in_this_format_starts_from_nothing(
    tmp_path: Path, head: Callable[..., Head]
) -> None:
    # What is of another adapter would be taken for its own.
    folder = copied(OPTIONS, tmp_path)
    (folder.path / "result.json").unlink()
    assert folder.has_generations("boolq")
    folder.create(head(), folder.spec(), {})
    assert folder.format == FORMAT
    assert folder.train_record() is None
    assert not folder.adapter.exists()
    assert {folder.has_generations("boolq"), folder.has_likelihoods("boolq")} == {False}


def test_another_attempt_in_the_current_format_goes_on_where_it_was(
    create: Callable[..., RunFolder], result: Callable[..., Result]
) -> None:
    folder = create()
    folder.adapter.mkdir()
    folder.write_likelihoods("boolq", [])
    create(folder.path)
    assert folder.adapter.exists()
    assert folder.has_likelihoods("boolq")
