"""A benchmark from a file of questions and answers: JSON, JSON lines or CSV.

\"\"\"Zoo: questions about animals.\"\"\"

from tasks.from_file import benchmark_from

benchmark = benchmark_from(__file__, "rows.json", question="q", answer="a", kind="number")
"""

import ast
from pathlib import Path

from tasks.contract import Benchmark, Columns, DataFile
from tasks.from_file.kinds import KINDS, AnswerKind


def benchmark_from(
    module: str,
    rows: str,
    *,
    kind: AnswerKind,
    question: str = "",
    answer: str = "",
    train: str | None = None,
) -> Benchmark:
    """Make a benchmark of the rows of a file.

    A run trains on `--train-data`, or on `train`. A file to train on has the same columns, or is
    one of the layouts that `tasks/data/layouts.py` knows. Where it has a column `output`, this
    worked answer is what is learnt, else the answer; with kind `text` always the answer.

    Args:
        module: `__file__` of the benchmark, whose docstring begins with the title and a colon.
        rows: The file to test on; a relative path is one beside the benchmark's file.
        kind: What answers are: `number`; `letter`, A to E; `options`, a few words of which one is
            right; or `text`, which is compared with a reference.
        question: Its column; `question` or `instruction` by default.
        answer: Its column; `answer`, `output` or `label` by default.
        train: The file to train on.

    Raises:
        ValueError: There is no such kind, or the file to train on is the one to test on.
        DataError: The kind is `options`, and the file is not what it should be.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}.")
    if train == rows:
        raise ValueError(f"train is {train!r}, the file that is tested on.")
    columns = Columns(question, answer, output="" if kind == "text" else "output")
    path = Path(module).absolute()
    benchmark = Benchmark(
        title=_title(path),
        file=_own(path.parent / rows, columns),
        train=() if train is None else (_own(path.parent / train, columns),),
    )
    return KINDS[kind](benchmark)


def _own(path: Path, columns: Columns) -> DataFile:
    return DataFile(
        title=path.name,
        places=(str(path),),
        sha256=None,
        rows=None,
        source="the user",
        licence="the user's own",
        kind="own",
        columns=columns,
    )


def _title(path: Path) -> str:
    """Read the title off the docstring of a benchmark; its name where there is none."""
    documented = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return documented.splitlines()[0].partition(":")[0] if documented else path.stem
