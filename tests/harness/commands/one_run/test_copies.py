"""Copies of the user's files in a run folder: what they are used for, and where they are shown."""

import json
from pathlib import Path

import pytest

from harness import plugins
from harness.commands.one_run.copies import with_copies
from harness.commands.one_run.show import show
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.spec.planned import PlannedRun
from results.runfolder.folder import RunFolder

ZOO = b'"""Zoo: legs."""\r\nfrom tasks.from_file import benchmark_from\r\n'
ZOO += b'benchmark = benchmark_from(__file__, "rows.json", kind="number", train="train.json")\r\n'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, count in (("rows.json", 5), ("train.json", 30)):
        rows = [{"question": f"Legs of {n} cats?", "answer": 4 * n} for n in range(count)]
        (tmp_path / name).write_text(json.dumps(rows))
    (tmp_path / "zoo.py").write_bytes(ZOO)
    return tmp_path


def kept(place: Path) -> tuple[PlannedRun, RunFolder]:
    """Plan a run of the benchmark and begin its folder."""
    (run,) = plan(Request(methods="base", tasks=str(place / "zoo.py")))
    folder = RunFolder(place / "runs" / run.spec.run_id)
    folder.path.mkdir(parents=True)
    folder.create(*run.kept)
    folder.copy(run.copies)
    return run, folder


def test_a_file_that_is_as_it_was_is_used_itself(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, folder = kept(place)
    assert with_copies(run, folder, place / "room") == run
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("after", [None, "benchmark = 3"])
def test_the_copy_of_a_file_that_is_gone_or_edited_finds_the_data_beside_it(
    place: Path, after: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    run, folder = kept(place)
    (place / "zoo.py").write_text(after) if after else (place / "zoo.py").unlink()
    (file,) = with_copies(run, folder, place / "room").files
    assert Path(file.path).read_bytes() == ZOO
    plugins.add("tasks", Path(file.path))
    (data,) = plugins.benchmark("zoo").files
    assert len(json.loads(Path(data.places[0]).read_text())) == 5
    assert capsys.readouterr().err.count("\n") == 1


def test_a_folder_of_before_has_no_copies_and_the_file_is_checked_as_before(place: Path) -> None:
    run, folder = kept(place)
    (folder.copies / "tasks" / "zoo" / "zoo.py").unlink()
    (place / "zoo.py").unlink()
    assert with_copies(run, folder, place / "room") == run


def test_show_names_the_file_and_its_copy(place: Path) -> None:
    _, folder = kept(place)
    folder.note_failure("ValueError: no such layer")
    copy = folder.copies / "tasks" / "zoo" / "zoo.py"
    assert f"{place / 'zoo.py'}, copy: {copy}" in show("", str(folder.path), in_full=True).text
