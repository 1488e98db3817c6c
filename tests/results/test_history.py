"""The history of all attempts, and one run in full."""

import json
from collections.abc import Callable

from results import details
from results.history import history, markdown
from results.json_text import json_text
from results.record import Run, Score

Make = Callable[..., Run]


def test_the_history_keeps_the_order_and_tells_micro_of_headline_scores(make: Make) -> None:
    scores = (Score("gsm8k", "e", True, 1, 8), Score("gsm8k", "strict", False, 8, 8))
    entries = history([make(minute=1, scores=scores), make("dypam")])
    assert [entry.method for entry in entries] == ["lora", "dypam"]
    assert entries[0].micro == 0.125


def test_a_failed_attempt_shows_the_first_line_of_its_reason(make: Make) -> None:
    text = markdown(history([make(status="failed", scores=(), reason="out of memory\nlog")]))
    assert text.splitlines()[2].endswith(
        "| failed | lora   | tiny     | math  | 2333 |       - | sample data; out of memory |"
    )
    assert "log" not in text


def test_the_history_is_readable_by_machines(make: Make) -> None:
    (entry,) = json.loads(json_text(history([make()])))
    assert entry["started"] == "2026-01-01T00:00:00+00:00"
    assert entry["marks"] == ["sample data"]


def test_a_run_is_shown_with_all_that_is_stored_of_it(make: Make) -> None:
    scores = (Score("gsm8k", "llm-adapters", True, 1, 8), Score("gsm8k", "strict", False, 0, 8))
    text = details.markdown(make(scores=scores))
    for line in (
        f"## Run {make().run_id}",
        "    marks = sample data",
        "    recipe.lr = 0.001",
        "    packages.torch = 2.13",
        "    folder = runs/lora",
        "    trainable parameters = 5 of 1,000 (0.5 %)",
        "| train    |    6.00 |      50.0 |",
        "| gsm8k     | llm-adapters | yes      |       1 |   8 | 12.50 |",
        "| gsm8k     | strict       |          |       0 |   8 |  0.00 |",
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
    text = details.markdown(failed)
    assert "    reason = it ended with status 1:\n    OutOfMemoryError\n" in text
    assert "## Scores" not in text
    assert "## Time" not in text
