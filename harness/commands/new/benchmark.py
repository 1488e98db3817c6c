"""`harness new benchmark`: a benchmark of the rows of a file, whose columns are guessed."""

import json
from dataclasses import asdict
from pathlib import Path

from harness.commands.new.place import new_file
from harness.commands.report import Report
from tasks.from_file.guess import Guess, guess

FORM = '''\
"""{title}: the rows of {rows}."""

from tasks.from_file import benchmark_from

benchmark = benchmark_from(__file__, {file}, question={question}, answer={answer}, kind="{kind}")
'''


def benchmark(name: str, rows: Path) -> Report:
    """Write a benchmark of the rows of a file, and report what was guessed.

    Raises:
        UserError: The name is no name, or is taken.
        DataError: The file is not what it should be, or nothing can be guessed.
    """
    path = new_file("tasks", name)
    guessed = guess(rows)
    path.write_text(_source(name, rows, guessed), encoding="utf-8")
    return Report(_said(path, rows, guessed), {"file": str(path), **asdict(guessed)})


def _source(name: str, rows: Path, guessed: Guess) -> str:
    quoted = {"file": str(rows), "question": guessed.question, "answer": guessed.answer}
    return FORM.format(
        title=name.replace("_", " ").capitalize(),
        rows=rows.name,
        kind=guessed.kind,
        **{key: json.dumps(text, ensure_ascii=False) for key, text in quoted.items()},
    )


def _said(path: Path, rows: Path, guessed: Guess) -> str:
    return (
        f"{rows}: {guessed.rows} rows with the columns {', '.join(guessed.columns)}.\n"
        f"  question  {guessed.question}, as in {guessed.shown[0]!r}\n"
        f"  answer    {guessed.answer}, as in {guessed.shown[1]!r}\n"
        f"  kind      {guessed.kind}: {guessed.reason}\n"
        f"{path} is written. Correct it where a guess is wrong.\n"
        f"  harness run --methods base,lora --tasks {path} --train-data FILE"
    )
