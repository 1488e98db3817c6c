"""What is imported, and when: reading commands in a fresh process, on runs made by hand."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import app
from harness.spec.planned import PlannedRun
from harness.spec.spec import Data, MethodSpec
from results.record import Score
from results.runfolder.folder import RunFolder
from results.runfolder.values import Generation, Result, TrainRecord, Verdict

HEAVY = {"torch", "transformers", "peft", "accelerate", "deepspeed", "datasets"}

LISTED = """
import json, sys
from pathlib import Path
from harness.cli import main
path, *commands = sys.argv[1:]
found = {}
for command in commands:
    before = {*sys.modules}
    sys.argv = ["harness", *command.split()]
    try:
        main()
    except SystemExit as ended:
        status = ended.code
    names = {name.partition(".")[0] for name in {*sys.modules} - before}
    found[command] = status, sorted(names)
Path(path).write_text(json.dumps(found))
"""
"""Runs commands one after the other, and writes the status of each and what it imported newly."""

READING = {
    "table": [
        "--format latex --no-sd --width column --label tab:own",
        "--columns gsm8k --wide",
        "--json",
        "--extractors",
        "--clean",
        "--own-recipes",
        "--costs --runs",
        "--test permutation --against lora --one-sided --margin 1",
    ],
    "compare": ["lora dypam", "lora dypam --json", "lora dypam --margin 2 --one-sided"],
    "seeds": ["plan --delta 1", "plan --delta 1 --methods lora --json"],
    "audit": ["paper.md", "paper.md --seeds 5 --items gsm8k=2 --json", "--published smoa"],
    "leaderboard": ["build --out pages", "serve --help"],
    "status": ["", "--json"],
    "logs": ["{run} -n 2", "{run} --follow"],
    "cancel": ["{failed}"],
    "forget": ["{failed} --reason wrong"],
    "history": ["", "--wide", "--json", "--costs --method lora --backbone tiny --tasks gsm8k"],
    "diff": ["{run} {other}"],
    "tag": ["{run} main"],
    "note": ["{run} right"],
    "show": ["{run}", "{run} --all", "{run} --json", "{failed}"],
    "items": ["{run}", "{run} gsm8k --wrong --csv", "{run} --against {other} --jsonl"],
    "card": ["{run}"],
    "push": ["--help"],  # test_card.py pushes, to a server of its own
    "reindex": ["--store other.db"],
    "merge": ["harness.db --store third.db"],
    "export": ["{run} --out runs.zip"],
    "import": ["runs.zip --store fourth.db --runs imported"],
    "rescore": [""],
    "tasks": ["", "gsm8k", "--json"],
    "methods": [""],
    "new": ["method my_method", "benchmark my_benchmark --from rows.json"],
    "data": ["status", "status --data data", "contamination math"],
}
"""Commands that read or write a small file, with arguments; the others load models.

`methods --json` is left out: the fields of a method are those of a class of PEFT.
"""

LOADING = {"run", "rerun", "retry", "doctor"}

COMMANDS = [f"{name} {words}" for name, several in READING.items() for words in several]


@pytest.fixture(scope="module")
def imported(
    tmp_path_factory: pytest.TempPathFactory,
    planned: Callable[..., PlannedRun],
    train_record: TrainRecord,
    result: Result,
) -> dict[str, tuple[int, list[str]]]:
    """Run all commands over two finished runs and a failed one; return what `LISTED` writes."""
    root, ids = tmp_path_factory.mktemp("reading"), {}
    (root / "data").mkdir()
    (root / "rows.json").write_text('[{"question": "1 + 1?", "answer": 2}]')
    (root / "paper.md").write_text("| m | gsm8k |\n| -- | -- |\n| lora | 50.0 |\n")
    data = Data(title="sample", kind="sample", sha256="ab" * 32, verified=True, rows=2)
    for name in ("lora", "dypam", "failed"):
        method = MethodSpec(name=name, label=name, fields={}, source="cd")
        one = planned(method=method, tests={"gsm8k": data})
        folder = RunFolder(root / "runs" / one.spec.run_id)
        folder.create(*one.kept)
        ids[name] = one.spec.run_id
        if name == "failed":
            folder.note_failure("ValueError: no such layer")
        else:
            finish(folder, train_record, result)
    ids = {"run": ids["lora"], "other": ids["dypam"], "failed": ids["failed"]}
    found = listed(root, "reindex", *(command.format(**ids) for command in COMMANDS))
    return dict(zip(["reindex", *COMMANDS], found, strict=True))


def finish(folder: RunFolder, train_record: TrainRecord, result: Result) -> None:
    folder.log.write_text("step 1\nstep 2\nstep 3\n")
    answers = ("The answer is 7.", "The answer is 8.")
    folder.write_generations(
        "gsm8k",
        [
            Generation(id=number, answer="7", ended=True, long=False, text=text)
            for number, text in enumerate(answers)
        ],
    )
    right = {"llm-adapters": True, "strict": True}
    folder.write_verdicts(
        "gsm8k", [Verdict(id=0, extracted=dict.fromkeys(right, "7"), correct=right)]
    )
    folder.write_train_record(train_record)
    folder.adapter.mkdir()
    config = {"peft_type": "LORA", "base_model_name_or_path": "tiny"}
    (folder.adapter / "adapter_config.json").write_text(json.dumps(config))
    (folder.adapter / "adapter_model.safetensors").write_bytes(b"weights")
    scores = [
        Score("gsm8k", "accuracy", extractor, extractor == "llm-adapters", 0.5, 2)
        for extractor in ("llm-adapters", "strict")
    ]
    folder.write_result(result.model_copy(update={"scores": tuple(scores)}))


def listed(folder: Path, *commands: str) -> list[tuple[int, list[str]]]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HARNESS_")}
    done = subprocess.run(
        [sys.executable, "-c", LISTED, "imported.json", *commands],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [*json.loads((folder / "imported.json").read_text()).values()]


def test_a_first_command_imports_what_it_needs(
    imported: dict[str, tuple[int, list[str]]],
) -> None:
    assert {"harness", "results", "sqlalchemy"} <= {*imported["reindex"][1]}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reading_command_imports_neither_torch_nor_transformers_nor_peft(
    command: str, imported: dict[str, tuple[int, list[str]]]
) -> None:
    status, names = imported[command]
    assert status == 0
    assert HEAVY.isdisjoint(names)


def test_every_command_reads_or_is_known_to_load_models() -> None:
    names = {
        command.name or command.callback.__name__
        for command in app.registered_commands
        if command.callback
    }
    names |= {str(group.name) for group in app.registered_groups}
    assert names == READING.keys() | LOADING


def test_the_command_line_starts_without_anything_heavy() -> None:
    # `harness --help` has to answer in under 0.3 s; importing torch alone takes seconds.
    show = "import harness.cli, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    command = [sys.executable, "-c", show]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    heavy = HEAVY | {"scipy", "sqlalchemy", "numpy", "pydantic"}
    assert set(done.stdout.split()) & heavy == set()
