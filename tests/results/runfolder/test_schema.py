"""The README of the run folder is what the types and the writers say."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from results.runfolder import attempts, partial, remarks, schema, wishes
from results.runfolder.claims import claimed
from results.runfolder.events import EventLog
from results.runfolder.folder import RunFolder
from results.runfolder.values import (
    ClusterJob,
    Divergence,
    Environment,
    FileValue,
    Generation,
    OptionLikelihoods,
    PartialLikelihood,
    Result,
    TrainRecord,
    Verdict,
)

PACKAGE = Path(schema.__file__).parent
README = (PACKAGE / "README.md").read_text()


def test_the_readme_holds_the_tables_that_the_types_give() -> None:
    between = README.partition("<!-- schema: begin -->\n")[2].partition("\n<!-- schema: end -->")[0]
    assert between == schema.markdown()


def test_every_kind_of_value_has_a_table() -> None:
    shown = [kind for kinds in schema.FILES.values() for kind in kinds]
    assert set(shown) == set(FileValue.__subclasses__())
    assert len(shown) == len(set(shown))


@pytest.mark.parametrize("kind", FileValue.__subclasses__())
def test_every_key_has_a_meaning(kind: type[FileValue]) -> None:
    without = [name for name, field in kind.model_fields.items() if not field.description]
    assert without == []


@pytest.fixture
def whole(create: Callable[..., RunFolder], result: Callable[..., Result]) -> RunFolder:
    """Write every file that there is a writer for."""
    folder = create()
    folder.write_cluster_job(ClusterJob.model_construct())
    folder.copy({schema.__file__: "KIND/NAME/NAME.py"})
    EventLog(folder.events).close()
    with claimed(folder, pytest.fail) as claim:
        assert claim
        folder.write_environment(Environment.model_construct())
        folder.write_train_record(TrainRecord.model_construct())
        folder.write_method_record({})
        with partial.answers(folder.path, "NEXT"):
            pass
        with partial.likelihoods(folder.path, "NEXT", PartialLikelihood):
            pass
        folder.write_generations("NAME", [Generation.model_construct()])
        folder.write_likelihoods("NAME", [OptionLikelihoods.model_construct()])
        folder.write_verdicts("NAME", [Verdict.model_construct()])
        folder.write_result(result(attempt="TOKEN"))
        attempts.set_aside(folder)
        folder.write_result(result(attempt=claim.token))
        folder.write_divergence(Divergence.model_construct())
        folder.note_failure("no memory")
    (attempt,) = attempts.attempts(folder)
    attempts.lose(folder, attempt)
    wishes.cancel(folder)
    wishes.forget(folder, "the wrong data")
    remarks.keep(folder, ["main"], [])
    return folder


def files(folder: RunFolder) -> Iterator[str]:
    """Name the files of a folder, and what the worker lets others write there."""
    for path in folder.path.rglob("*"):
        if path.is_file():
            yield (
                str(path.relative_to(folder.path)).replace("0001", "NUMBER").replace("NEXT", "NAME")
            )
    yield folder.log.name
    yield f"{folder.adapter.name}/"
    yield f"{folder.checkpoints.name}/STEP/"


def test_every_file_that_is_written_is_in_the_table_of_writers(whole: RunFolder) -> None:
    table = README.partition("| file | written by | when |")[2].partition("\n\n")[0]
    rows = [line.split("`")[1] for line in table.splitlines()[2:]]
    assert sorted(rows) == sorted(files(whole))


def test_every_file_of_a_kind_of_value_is_written(whole: RunFolder) -> None:
    assert set(schema.FILES) <= set(files(whole))


def test_every_module_is_in_the_readme() -> None:
    modules = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py"}
    assert [name for name in modules if f"| `{name}` |" not in README] == []
