"""What is imported, and when: every reading command in a fresh process, on runs made by hand."""

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
from results.runfolder.values import Generation, Result, TrainRecord

HEAVY = {"torch", "transformers", "peft", "accelerate", "deepspeed", "datasets"}

LISTED = """
import sys
from harness.cli import main
sys.argv = ["harness", *sys.argv[1:]]
try:
    main()
finally:
    names = {name.partition(".")[0] for name in sys.modules}
    print("imported:", *sorted(names), file=sys.stderr)
"""

READING = {
    "table": [
        "--format latex --no-sd --width column --label tab:own",
        "--columns gsm8k --wide",
        "--json",
        "--extractors",
        "--clean",
        "--own-recipes",
        "--costs --runs",
    ],
    "compare": ["lora dypam", "lora dypam --json"],
    "history": ["", "--wide", "--json", "--costs --method lora --backbone tiny --tasks gsm8k"],
    "show": ["{run}", "{run} --json", "{failed}"],
    "reindex": ["--store other.db"],
    "rescore": [""],
    "tasks": ["", "gsm8k", "--json"],
    "methods": ["", "--json"],
    "data": ["status", "status --data data", "contamination math"],
}
"""Commands that read, with arguments; the ones that run or count load models."""

LOADING = {"run", "doctor"}


@pytest.fixture(scope="module")
def place(
    tmp_path_factory: pytest.TempPathFactory, planned: Callable[..., PlannedRun]
) -> tuple[Path, dict[str, str]]:
    """Write two finished runs and a failed one, and the store of them."""
    root, ids = tmp_path_factory.mktemp("reading"), {}
    (root / "data").mkdir()
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
            finish(folder)
    listed("reindex", root)
    return root, {"run": ids["lora"], "failed": ids["failed"]}


def finish(folder: RunFolder) -> None:
    answers = ("The answer is 7.", "The answer is 8.")
    folder.write_generations(
        "gsm8k",
        [
            Generation(id=number, answer="7", ended=True, long=False, text=text)
            for number, text in enumerate(answers)
        ],
    )
    counts = {"rows": 9, "cut": 0, "dropped": 0, "steps": 1, "tokens": 9, "best_step": 1}
    folder.write_train_record(
        TrainRecord(**counts, best_validation_loss=1.0, tokens_per_second=1.0)
    )
    scores = [
        Score("gsm8k", "accuracy", extractor, extractor == "llm-adapters", 0.5, 2)
        for extractor in ("llm-adapters", "strict")
    ]
    folder.write_result(
        Result(
            started=1_767_225_600.0,
            seconds={"wall": 1.0},
            environment_id="0123456789abcdef",
            resumed=False,
            trainable_parameters=5,
            total_parameters=1000,
            adapter_bytes=20,
            peak_memory_bytes=4096,
            scores=tuple(scores),
            flags=(),
        )
    )


def listed(command: str, folder: Path) -> set[str]:
    """Run a command in a fresh process and list the top-level modules that it imported."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HARNESS_")}
    done = subprocess.run(
        [sys.executable, "-c", LISTED, *command.split()],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    said, _, names = done.stderr.rpartition("imported:")
    assert done.returncode == 0, said
    return set(names.split())


@pytest.mark.parametrize(
    "command", [f"{name} {words}" for name, several in READING.items() for words in several]
)
def test_a_reading_command_imports_neither_torch_nor_transformers_nor_peft(
    command: str, place: tuple[Path, dict[str, str]]
) -> None:
    root, ids = place
    imported = listed(command.format(**ids), root)
    assert "harness" in imported
    assert imported & HEAVY == set()


def test_every_command_reads_or_is_known_to_load_models() -> None:
    names = {command.callback.__name__ for command in app.registered_commands if command.callback}
    names |= {str(group.name) for group in app.registered_groups}
    assert names == READING.keys() | LOADING


def test_the_command_line_starts_without_anything_heavy() -> None:
    # `harness --help` has to answer in under 0.3 s; importing torch alone takes seconds.
    show = "import harness.cli, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    command = [sys.executable, "-c", show]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    heavy = HEAVY | {"scipy", "sqlalchemy", "numpy", "pydantic"}
    assert set(done.stdout.split()) & heavy == set()
