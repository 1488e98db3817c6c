"""One run in full."""

import shlex
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from results.record import POOLED, Run, Score
from results.reports.one_run.run import markdown

Make = Callable[..., Run]


def test_a_run_is_shown_with_all_that_is_stored_of_it(make: Make) -> None:
    scores = (
        Score("gsm8k", "accuracy", "llm-adapters", True, 0.125, 8),
        Score("gsm8k", "accuracy", "strict", False, 0.0, 8, unparsed=3),
        Score(POOLED, "bleu", "", True, 31.416, 8, signature="nrefs:1|tok:13a"),
    )
    run = make(
        scores=scores,
        fold=4,
        flags=("gsm8k: empty answers: 3 of 8",),
        conditions={"recipe": {"epochs": 1}},
        validation_loss=0.25,
    )
    text = markdown(run)
    for line in (
        f"## Run {run.run_id}",
        "    fold = 4",
        "    protocol = paper/1, recipe [epochs=1]",
        "    validation loss = 0.25",
        "    marks = sample data",
        "    gsm8k: empty answers: 3 of 8",
        "    all bleu = nrefs:1|tok:13a",
        "    recipe = recipe-a",
        "    train.lr = 0.001",
        "    commit = abc",
        "    packages.torch = 2.13",
        "    folder = /runs/lora",
        "    trainable parameters = 5 of 1,000 (0.5 %)",
        "| train    |    6.00 |      50.0 |",
        "| gsm8k     | accuracy | llm-adapters/1 | yes      | 12.50 % |   8 |        0 |",
        "| gsm8k     | accuracy | strict/1       |          |  0.00 % |   8 |        3 |",
        "| all       | bleu     |                | yes      |   31.42 |   8 |        0 |",
    ):
        assert line in text.splitlines(), text


def test_a_run_that_failed_at_once_shows_its_whole_reason_and_no_empty_section(make: Make) -> None:
    failed = make(
        status="failed",
        reason="it ended with status 1:\nOutOfMemoryError",
        scores=(),
        seconds={},
        trainable_parameters=0,
        total_parameters=0,
    )
    text = markdown(failed)
    assert "    reason = it ended with status 1:\n    OutOfMemoryError\n" in text
    assert "## Scores" not in text
    assert "## Flags" not in text
    assert "## Time" not in text


@given(words=st.lists(st.text(st.characters(exclude_characters="\n")), min_size=1))
def test_the_command_is_whole_and_a_shell_reads_it_back(make: Make, words: list[str]) -> None:
    text = markdown(make(provenance={"command": words, "tries": 2}))
    pasted = text.partition("## Command\n\n")[2]
    # The shell's own rule for a line that goes on (POSIX, 2.2.1), then its words.
    assert shlex.split(pasted.replace("\\\n", "")) == words
    assert "provenance" not in pasted
    assert "    tries = 2\n" in text


def test_the_command_is_broken_before_options_only(make: Make) -> None:
    methods = ",".join(f"lora[r={n}]" for n in range(12))
    words = ["harness", "run", "--methods", methods, "--tasks", "gsm8k", "--limit", "2"]
    lines = markdown(make(provenance={"command": words})).splitlines()
    assert lines[-3:] == [
        "    harness run \\",
        f"        --methods '{methods}' \\",
        "        --tasks gsm8k --limit 2",
    ]


def test_memory_is_shown_by_phase_and_kernels_by_name(make: Make) -> None:
    run = make(
        peak_memory={
            "train": {"allocated": 3 * 2**30, "reserved": 4 * 2**30},
            "generate": {"allocated": 2**20, "reserved": 2**21},
        },
        nondeterministic_kernels=("kthvalue CUDA",),
    )
    lines = markdown(run).splitlines()
    assert "| train    |          3,072 |         4,096 |" in lines
    assert "| generate |              1 |             2 |" in lines
    assert lines[lines.index("## Nondeterministic kernels") + 2] == "    kthvalue CUDA"
    for title in ("## GPU memory", "## Nondeterministic kernels"):
        assert title not in markdown(make())
