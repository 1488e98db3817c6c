"""Every value of a run folder comes back as it was written, and any JSON reader understands it."""

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, nan
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from results.record import PeakMemory, Score
from results.runfolder import attempts, partial, remarks, wishes
from results.runfolder.attempts import Attempt, AttemptStatus
from results.runfolder.events import EventLog, read_new
from results.runfolder.folder import RunFolder
from results.runfolder.remarks import Note, Remarks
from results.runfolder.values import (
    FORMAT,
    ClusterJob,
    Divergence,
    Environment,
    Event,
    Failure,
    FailureKind,
    FileValue,
    Generation,
    Head,
    OptionLikelihoods,
    PartialAnswer,
    PartialLikelihood,
    ReferenceLikelihood,
    Result,
    TrainRecord,
    Verdict,
)
from results.runfolder.wishes import Forgotten

ODD = "two\nlines\r\n, \u2028 and \x85 and \x0c, \0, \N{THUMBS UP SIGN}, ü"
TEXT = st.text() | st.just(ODD)
NUMBER = st.floats() | st.sampled_from([nan, inf, -inf])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: TEXT | st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=8,
)
FIELDS: Mapping[Any, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    bool | None: st.none() | st.booleans(),
    int: st.integers(),
    int | None: st.none() | st.integers(),
    float: NUMBER,
    float | None: st.none() | NUMBER,
    str: TEXT,
    str | None: st.none() | TEXT,
    FailureKind: st.sampled_from(get_args(FailureKind)),
    FailureKind | None: st.none() | st.sampled_from(get_args(FailureKind)),
    AttemptStatus | None: st.none() | st.sampled_from(get_args(AttemptStatus)),
    tuple[int, ...]: st.lists(st.integers()),
    tuple[str, ...]: st.lists(TEXT),
    tuple[Note, ...]: st.lists(st.builds(Note, time=NUMBER, text=TEXT)),
    tuple[Score, ...]: st.lists(
        st.builds(
            Score, TEXT, TEXT, TEXT, st.booleans(), NUMBER, st.integers(), st.integers(), TEXT
        )
    ),
    Mapping[str, str]: st.dictionaries(TEXT, TEXT),
    Mapping[str, bool]: st.dictionaries(TEXT, st.booleans()),
    Mapping[str, float]: st.dictionaries(TEXT, NUMBER),
    Mapping[str, Any]: st.dictionaries(TEXT, JSON),
    PeakMemory: st.dictionaries(TEXT, st.dictionaries(TEXT, st.integers())),
    Mapping[str, Mapping[str, Any]] | None: st.none()
    | st.dictionaries(TEXT, st.dictionaries(TEXT, JSON)),
}
"""What fields of each type may hold."""


def any_of(kind: type[FileValue]) -> st.SearchStrategy[FileValue]:
    fields = {name: FIELDS[field.annotation] for name, field in kind.model_fields.items()}
    if kind is Head:
        fields["format"] = st.just(FORMAT)
    return st.builds(kind, **fields)


def head_again(folder: RunFolder, heads: Sequence[Head]) -> Iterator[Head]:
    for head in heads:
        folder.create(head, {}, {})
        yield folder.head()


def attempt_again(folder: RunFolder, values: Sequence[Attempt]) -> Iterator[Any]:
    for value in values:
        numbered = value.model_copy(update={"number": 1})
        attempts.keep(folder, numbered)
        assert attempts.last(folder) is not None
        (read,) = attempts.attempts(folder)
        yield read.model_copy(update={"number": value.number})


def cluster_job_again(folder: RunFolder, values: Sequence[ClusterJob]) -> Iterator[Any]:
    for value in values:
        folder.write_cluster_job(value)
        yield folder.cluster_job()


def environment_again(folder: RunFolder, values: Sequence[Environment]) -> Iterator[Any]:
    for value in values:
        folder.write_environment(value)
        yield folder.environment()


def training_again(folder: RunFolder, values: Sequence[TrainRecord]) -> Iterator[Any]:
    for value in values:
        folder.write_train_record(value)
        yield folder.train_record()


def result_again(folder: RunFolder, values: Sequence[Result]) -> Iterator[Any]:
    for value in values:
        folder.write_result(value)
        read = folder.result()
        assert read is not None
        # The sums are taken at the moment of writing.
        yield read.model_copy(update={"sha256": value.sha256})


def divergence_again(folder: RunFolder, values: Sequence[Divergence]) -> Iterator[Any]:
    for value in values:
        folder.write_divergence(value)
        yield folder.divergence()


def failure_again(folder: RunFolder, values: Sequence[Failure]) -> Iterator[Any]:
    for value in values:
        folder.note_failure(value.reason, kind=value.kind, attempt=value.attempt)
        read = folder.failure()
        assert read is not None
        # When it began is worked out at the moment of writing.
        yield read.model_copy(update={"started": value.started, "seconds": value.seconds})


def remarks_again(folder: RunFolder, values: Sequence[Remarks]) -> Iterator[Any]:
    for value in values:
        remarks.keep(folder, value.tags, [])
        tags, _ = remarks.kept(folder)
        yield Remarks(tags=tags, notes=value.notes)


def forgotten_again(folder: RunFolder, values: Sequence[Forgotten]) -> Iterator[Any]:
    for value in values:
        wishes.forget(folder, value.reason)
        read = wishes.forgotten(folder)
        assert read is not None
        yield read.model_copy(update={"time": value.time})


def generations_again(folder: RunFolder, values: Sequence[Generation]) -> Sequence[Generation]:
    folder.write_generations("gsm8k", values)
    return folder.generations("gsm8k")


def options_again(folder: RunFolder, values: Sequence[OptionLikelihoods]) -> Sequence[Any]:
    folder.write_likelihoods("boolq", values)
    return folder.option_likelihoods("boolq")


def references_again(folder: RunFolder, values: Sequence[ReferenceLikelihood]) -> Sequence[Any]:
    folder.write_likelihoods("dolly", values)
    return folder.reference_likelihoods("dolly")


def partial_again(folder: RunFolder, values: Sequence[FileValue]) -> Sequence[FileValue]:
    kind = type(values[0]) if values else Verdict
    partial.drop(folder.path, "likelihoods", "dolly")
    with partial.likelihoods(folder.path, "dolly", kind) as opened:
        opened.append(values)
    with partial.likelihoods(folder.path, "dolly", kind) as opened:
        return opened.found


def verdicts_again(folder: RunFolder, values: Sequence[Verdict]) -> Sequence[Verdict]:
    folder.write_verdicts("gsm8k", values)
    return folder.verdicts("gsm8k")


def events_again(folder: RunFolder, values: Sequence[Event]) -> Sequence[Event]:
    folder.events.unlink(missing_ok=True)
    log = EventLog(folder.events)
    for value in values:
        log.append(value)
    log.close()
    return read_new(folder.events, 0)[0]


AGAIN: Mapping[type[FileValue], Callable[..., Any]] = {
    Head: head_again,
    Attempt: attempt_again,
    ClusterJob: cluster_job_again,
    Environment: environment_again,
    Event: events_again,
    TrainRecord: training_again,
    Generation: generations_again,
    OptionLikelihoods: options_again,
    ReferenceLikelihood: references_again,
    PartialAnswer: partial_again,
    PartialLikelihood: partial_again,
    Verdict: verdicts_again,
    Result: result_again,
    Divergence: divergence_again,
    Failure: failure_again,
    Forgotten: forgotten_again,
    Note: lambda folder, values: values,  # only ever in the remarks
    Remarks: remarks_again,
}
"""What writes values of each kind and reads them."""


@pytest.fixture(scope="module")
def folder(create: Callable[..., RunFolder]) -> RunFolder:
    return create()


@pytest.mark.parametrize("kind", FileValue.__subclasses__())
@settings(max_examples=30)
@given(data=st.data())
def test_every_value_comes_back_as_it_was_written(
    kind: type[FileValue], folder: RunFolder, data: st.DataObject
) -> None:
    values = data.draw(st.lists(any_of(kind), max_size=2))
    # By their text, since NaN is not equal to itself.
    assert repr(list(AGAIN[kind](folder, values))) == repr(values)


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_files_are_strict_json_also_with_numbers_that_are_not_finite(
    value: float, create: Callable[..., RunFolder], result: Callable[..., Result]
) -> None:
    folder = create()
    score = Score("dolly", "perplexity", "", True, value, 3)
    folder.write_result(result(seconds={"wall": value}, scores=(score,)))
    folder.write_method_record({"norms": [value]})
    folder.write_likelihoods("boolq", [OptionLikelihoods(id=0, options={"true": value})])
    log = EventLog(folder.events)
    log.append(Event(time=1.0, loss=value))
    log.close()
    files = [path for path in folder.path.rglob("*") if path.suffix in {".json", ".jsonl"}]
    assert len(files) == 8
    for path in files:
        texts = [path.read_text()] if path.suffix == ".json" else path.read_text().splitlines()
        for text in texts:
            json.loads(
                text, parse_constant=lambda found, path=path: pytest.fail(f"{path}: {found}")
            )


def test_generations_are_compressed_and_any_program_can_read_them(
    create: Callable[..., RunFolder],
) -> None:
    folder = create()
    made = Generation(id=3, prompt="How many?\n", tokens=(5, 2), ended=True, long=False, text=ODD)
    folder.write_generations("gsm8k", 100 * [made])
    path = folder.path / "generations" / "gsm8k.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        lines = [json.loads(line) for line in file]
    assert len(lines) == 100
    assert lines[0]["prompt"] == "How many?\n"
    assert (lines[99]["text"], lines[99]["tokens"]) == (ODD, [5, 2])
    assert path.stat().st_size < 1000 < 100 * len(ODD)


def test_equal_generations_make_equal_files_whenever_they_are_written(
    create: Callable[..., RunFolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [Generation(id=n, ended=True, long=False, text=ODD) for n in range(5)]
    contents = set[bytes]()
    for moment in (1_000_000_000.0, 2_000_000_000.0):
        monkeypatch.setattr("time.time", lambda moment=moment: moment)
        folder = create()
        folder.write_generations("gsm8k", made)
        contents.add((folder.path / "generations" / "gsm8k.jsonl.gz").read_bytes())
    assert len(contents) == 1


def test_the_facts_of_an_environment_are_one_level_deep() -> None:
    machine = {"host": "here", "threads": 2}
    stack = Environment(
        packages={"peft": "1"},
        python="3.11.7",
        torch="2",
        device="CPU",
        machine=machine,
        harness={},
    )
    assert stack.facts == {
        "packages.peft": "1",
        "python": "3.11.7",
        "torch": "2",
        "device": "CPU",
        "driver": None,
        "machine.host": "here",
        "machine.threads": 2,
        "begun": None,
    }
