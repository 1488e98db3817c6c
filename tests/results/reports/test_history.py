"""The history of all attempts, as text."""

import json
from collections.abc import Callable

from results.analysis.history import history
from results.record import POOLED, Run, Score
from results.reports.history import markdown
from results.reports.to_json import to_json

Make = Callable[..., Run]


def test_the_history_tells_fold_and_pooled_score_of_the_first_metric(make: Make) -> None:
    scores = (
        Score("dolly", "perplexity", "", True, 9.0, 100),
        Score(POOLED, "perplexity", "", True, 8.125, 300),
        Score("dolly", "bleu", "", True, 31.0, 10),
    )
    text = markdown(history([make(fold=3, scores=scores)]), wide=True)
    assert "| math  | paper/1  | 2333 |    3 | perplexity 8.125 (all) | sample data |" in text


def test_a_failed_attempt_shows_the_first_line_of_its_reason(make: Make) -> None:
    failed = make(status="failed", scores=(), reason="out of memory\nlog")
    text = markdown(history([failed]), wide=True)
    assert text.splitlines()[2].endswith(
        "| math  | paper/1  | 2333 |    - | -       | sample data; out of memory |"
    )
    assert "log" not in text


def test_what_all_attempts_have_in_common_is_said_once(make: Make) -> None:
    failed = make(seed=1, status="failed", scores=(), reason="out of memory " * 9)
    text = markdown(history([make(), failed]))
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert max(map(len, table)) <= 100
    assert [name.strip() for name in table[0].split("|")[1:-1]] == [
        *("started", "run", "status", "method", "seed", "overall", "notes")
    ]
    assert make().run_id[:8] in text
    assert make().run_id not in text
    assert "All of them: backbone tiny, group math, protocol paper/1." in text
    assert "Read with care: sample data." in text
    assert text.count("sample data") == 1
    assert text.count("memory") == 9


def test_the_marks_that_only_some_attempts_have_stay_in_their_line(make: Make) -> None:
    marks = ("sample data", "first 20 rows")
    text = markdown(history([make(marks=marks), make("dora")]))
    first, second = text.splitlines()[2:4]
    assert first.endswith("| first 20 rows |")
    assert second.endswith(f"| {' ' * len(marks[1])} |")
    assert text.endswith("Read with care: sample data.")


def test_the_history_is_readable_by_machines(make: Make) -> None:
    (entry,) = json.loads(to_json(history([make()])))
    assert entry["started"] == "2026-01-01T00:00:00+00:00"
    assert entry["marks"] == ["sample data"]
    assert entry["protocol"] == "paper/1"
