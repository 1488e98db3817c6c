"""Damage of every kind to every file of a run folder: mended, named or refused; nothing is lost."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from results.record import Run
from results.runfolder import attempts, edited, partial
from results.runfolder.aside import listed
from results.runfolder.claims import claimed
from results.runfolder.damage import mend_ending, mend_kept
from results.runfolder.files import RunFolderError
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import EDITED, record_of
from results.runfolder.values import (
    Environment,
    Generation,
    OptionLikelihoods,
    PartialAnswer,
    Result,
    TrainRecord,
    Verdict,
)

WEIGHTS = "adapter/adapter_model.safetensors"
ANSWERS, TAKEN = "generations/boolq.jsonl.gz", "likelihoods/boolq.jsonl"
BEGUN, JUDGED = "generations/aqua.partial.jsonl", "verdicts/gsm8k.jsonl"
TRAINED = ("training.json", "method.json", WEIGHTS, "adapter/adapter_config.json")
KEPT = (*TRAINED, ANSWERS, TAKEN, BEGUN)
ENDED = ("spec.json", "run.json", "environment.json", "training.json", "method.json", ANSWERS)
ENDED += (TAKEN, JUDGED, "result.json")
ROWS = 50


def write_kept(folder: RunFolder) -> None:
    """Write what a run has before it ends."""
    stack = {"packages": {"torch": "2.13"}, "python": "3.11.7", "torch": "2.13", "device": "CPU"}
    folder.write_environment(Environment(**stack, machine={}, harness={}))
    folder.adapter.mkdir()
    (folder.path / WEIGHTS).write_bytes(bytes(range(200)))
    (folder.adapter / "adapter_config.json").write_text('{"r": 4}')
    folder.write_method_record({"layers": [1]})
    record = {"rows": 9, "cut": 0, "dropped": 0, "steps": 3, "tokens": 99, "best_step": 3}
    folder.write_train_record(TrainRecord(**record, best_validation_loss=1, tokens_per_second=5))
    answers = [Generation(id=n, ended=True, long=False, text=f"{n}") for n in range(3)]
    folder.write_generations("boolq", answers)
    folder.write_likelihoods("boolq", [OptionLikelihoods(id=0, options={"true": -1.5})])


def write_begun(folder: RunFolder) -> list[PartialAnswer]:
    """Write answers to a benchmark that are not all there yet."""
    found = [PartialAnswer(id=n, tokens=(n, 7), ended=True, options={"A": -n}) for n in range(5)]
    with partial.answers(folder.path, "aqua") as opened:
        opened.append(found)
    return found


@pytest.fixture(scope="module")
def working(create: Callable[..., RunFolder]) -> RunFolder:
    """Make the folder of a run that was killed while it answered its second benchmark."""
    folder = create()
    write_kept(folder)
    write_begun(folder)
    return folder


@pytest.fixture(scope="module")
def finished(create: Callable[..., RunFolder], result: Callable[..., Result]) -> RunFolder:
    """Make the folder of a finished run, 20 of whose 50 answers were right by one extractor."""
    folder = create()
    write_kept(folder)
    folder.write_verdicts("gsm8k", [verdict(n) for n in range(ROWS)])
    folder.write_result(result())
    return folder


def verdict(row: int) -> Verdict:
    right = {"llm-adapters": row < 20, "strict": row < 15}
    return Verdict(id=row, extracted=dict.fromkeys(right, "7"), correct=right)


def truncated(path: Path, where: float) -> None:
    path.write_bytes(path.read_bytes()[: int(where * path.stat().st_size)])


def flipped(path: Path, where: float) -> None:
    content = bytearray(path.read_bytes())
    content[int(where * len(content))] ^= 1 << int(8 * 97 * where) % 8
    path.write_bytes(content)


def emptied(path: Path, _: float) -> None:
    path.write_bytes(b"")


def removed(path: Path, _: float) -> None:
    path.unlink()


def a_folder(path: Path, _: float) -> None:
    path.unlink()
    path.mkdir()


def a_dangling_link(path: Path, _: float) -> None:
    path.unlink()
    path.symlink_to("nowhere")


HOW = (truncated, flipped, emptied, removed, a_folder, a_dangling_link)


def do(damage: Callable[[Path, float], None], path: Path, data: st.DataObject) -> None:
    """Damage a file; where the place matters, hypothesis tries several."""
    damage(path, data.draw(st.floats(0, 0.999)) if damage in {truncated, flipped} else 0.0)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Callable[[RunFolder], RunFolder]:
    def copy(folder: RunFolder) -> RunFolder:
        place = tmp_path_factory.mktemp("copy") / folder.path.name
        shutil.copytree(folder.path, place)
        return RunFolder(place)

    return copy


def contents(folder: RunFolder) -> set[bytes]:
    return {path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}


def read(folder: RunFolder) -> dict[str, Any]:
    """Read what another attempt goes on from; what is not there is left out."""
    there = {
        "training": folder.train_record(),
        "method": folder.method_record(),
        "weights": (folder.path / WEIGHTS).exists() and (folder.path / WEIGHTS).read_bytes(),
        "answers": folder.has_generations("boolq") and folder.generations("boolq"),
        "likelihoods": folder.has_likelihoods("boolq") and folder.option_likelihoods("boolq"),
    }
    return {name: one for name, one in there.items() if one}


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("damage", HOW)
@settings(max_examples=12)
@given(data=st.data())
def test_what_a_run_goes_on_from_is_what_was_written_or_is_set_aside(
    name: str,
    damage: Callable[[Path, float], None],
    working: RunFolder,
    copied: Callable[[RunFolder], RunFolder],
    data: st.DataObject,
) -> None:
    folder, whole = copied(working), read(working)
    others = contents(folder) - {(folder.path / name).read_bytes()}
    do(damage, folder.path / name, data)
    said = [*mend_ending(folder), *mend_kept(folder, trains=True)]
    found = read(folder)
    assert found.items() <= whole.items()
    with partial.answers(folder.path, "aqua") as opened:
        assert all(
            one.tokens == (one.id, 7) and one.options == {"A": -one.id} for one in opened.found
        )
    if name in TRAINED:
        # What was made from a lost adapter goes with it.
        assert not (found.keys() & {"training", "weights", "answers", "likelihoods"})
        assert not opened.found
    else:
        assert found.keys() >= {"training", "weights"}
    assert others - {b"{}\n"} <= contents(folder) | sums_of_less(working)
    if name != BEGUN and damage is not removed:
        assert any(name in sentence for sentence in said)


def sums_of_less(folder: RunFolder) -> set[bytes]:
    """Give what holds sums of files: those of files that are gone are taken out of it."""
    return {(folder.path / "sha256.json").read_bytes()}


def test_an_undamaged_folder_is_left_alone(working: RunFolder) -> None:
    before = contents(working)
    assert [*mend_ending(working), *mend_kept(working, trains=True)] == []
    assert contents(working) == before
    assert listed(working.path) == []


@pytest.mark.parametrize("name", ENDED)
@pytest.mark.parametrize("damage", HOW)
@settings(max_examples=12)
@given(data=st.data())
def test_a_finished_run_that_was_damaged_is_refused_or_named_or_the_same(
    name: str,
    damage: Callable[[Path, float], None],
    finished: RunFolder,
    copied: Callable[[RunFolder], RunFolder],
    data: st.DataObject,
) -> None:
    whole, folder = record(finished), copied(finished)
    do(damage, folder.path / name, data)
    found, error = tried(lambda: record_of(folder))
    if error:
        # Without run.json a folder counts as one of the first format, which has a job.json.
        assert name in error or "job.json" in error
        return
    if name == "result.json" and damage in {removed, a_folder, a_dangling_link}:
        assert found is None  # it has not ended, so it is run again, from what is kept
        return
    assert found
    added = set(found.marks) - set(whole.marks)  # of run.json, the damage may be in a mark
    assert [mark for mark in added if EDITED in mark and name in mark]


def tried(work: Callable[[], Any]) -> tuple[Any, str]:
    """Give what comes of work, and of what the user is told the text."""
    try:
        return work(), ""
    except RunFolderError as error:
        return None, str(error)


def record(folder: RunFolder) -> Run:
    found = record_of(folder)
    assert found
    return found


def test_a_finished_run_that_nobody_touched_has_no_mark(finished: RunFolder) -> None:
    assert edited.edited(finished.path, adapter=True) == []
    assert not any(EDITED in mark for mark in record(finished).marks)


def test_weights_are_looked_at_where_that_is_asked_for(
    finished: RunFolder, copied: Callable[[RunFolder], RunFolder]
) -> None:
    folder = copied(finished)
    flipped(folder.path / WEIGHTS, 0.5)
    assert edited.edited(folder.path) == []
    assert edited.edited(folder.path, adapter=True) == [WEIGHTS]


def test_a_score_of_before_sums_were_kept_is_counted_again(
    finished: RunFolder, copied: Callable[[RunFolder], RunFolder], result: Callable[..., Result]
) -> None:
    folder = copied(finished)
    (score, *others) = result().scores
    for value, named in ((0.4, []), (1.0, ["result.json"])):
        scores = (replace(score, value=value), *others)
        text = result(scores=scores).model_dump_json(exclude={"sha256"})
        (folder.path / "result.json").write_text(text)
        assert edited.edited(folder.path) == named


@pytest.mark.parametrize("damage", HOW)
@settings(max_examples=12)
@given(data=st.data())
def test_a_damaged_attempt_keeps_nobody_from_the_next_one(
    damage: Callable[[Path, float], None],
    working: RunFolder,
    copied: Callable[[RunFolder], RunFolder],
    data: st.DataObject,
) -> None:
    folder = copied(working)
    for _ in range(2):
        with claimed(folder, pytest.fail) as claim:
            assert claim
            claim.end("interrupted")
    do(damage, folder.path / "attempts" / "0002.json", data)
    begun = attempts_begun(folder)
    assert begun.token == (attempts.last(folder) or begun).token
    assert read(folder) == read(working)


def attempts_begun(folder: RunFolder) -> attempts.Attempt:
    with ExitStack() as stack:
        assert stack.enter_context(claimed(folder, pytest.fail))
        found = attempts.last(folder)
        assert found
        return found


@pytest.mark.parametrize(
    "name", ["spec.json", "places.json", "run.json", "lock", "log.txt", "failure.json"]
)
@pytest.mark.parametrize("damage", HOW)
@settings(max_examples=12)
@given(data=st.data())
def test_the_first_files_of_a_planned_run_are_written_again(
    name: str,
    damage: Callable[[Path, float], None],
    working: RunFolder,
    copied: Callable[[RunFolder], RunFolder],
    data: st.DataObject,
) -> None:
    folder = copied(working)
    for one in ("lock", "log.txt", "failure.json"):
        (folder.path / one).write_text("x")
    planned = folder.head(), folder.spec(), folder.places()
    do(damage, folder.path / name, data)
    _, error = tried(lambda: folder.create(*planned))
    if error:
        assert "Upgrade the harness." in error  # a digit of the format was raised
        return
    assert (folder.head(), folder.spec(), folder.places()) == planned
    with folder.locked():
        assert not folder.failed
    assert read(folder) == read(working)


def test_what_an_attempt_was_writing_when_it_was_killed_is_removed(
    working: RunFolder, copied: Callable[[RunFolder], RunFolder]
) -> None:
    folder = copied(working)
    (folder.path / "generations" / ".boolq.jsonl.gz.host.7.partial").write_bytes(b"x")
    (folder.path / "generations" / "boolq.partial.jsonl").write_bytes(b"")
    assert list(mend_kept(folder, trains=True)) == []
    assert sorted(names(folder)) == sorted(names(working))


def names(folder: RunFolder) -> Iterator[str]:
    return (str(path.relative_to(folder.path)) for path in folder.path.rglob("*"))
