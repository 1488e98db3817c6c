"""The history of all attempts, and one run in full."""

import json
from collections.abc import Callable

from results import details
from results.averages import Overall
from results.history import history, markdown
from results.json_text import json_text
from results.record import POOLED, Run, Score

Make = Callable[..., Run]


def test_the_history_keeps_the_order_and_tells_micro_of_headline_scores(make: Make) -> None:
    strict = Score("gsm8k", "accuracy", "strict", False, 1.0, 8)
    scores = (strict, Score("gsm8k", "accuracy", "e", True, 0.125, 8))
    entries = history([make(minute=1, scores=scores), make("dypam")])
    assert [entry.method for entry in entries] == ["lora", "dypam"]
    assert entries[0].overall == Overall("accuracy", "micro", 0.125)


def test_the_history_tells_fold_and_pooled_score_of_the_first_metric(make: Make) -> None:
    scores = (
        Score("dolly", "perplexity", "", True, 9.0, 100),
        Score(POOLED, "perplexity", "", True, 8.125, 300),
        Score("dolly", "bleu", "", True, 31.0, 10),
    )
    text = markdown(history([make(fold=3, scores=scores)]))
    assert "| math  | paper/1  | 2333 |    3 | perplexity 8.12 (all) | sample data |" in text


def test_a_failed_attempt_shows_the_first_line_of_its_reason(make: Make) -> None:
    text = markdown(history([make(status="failed", scores=(), reason="out of memory\nlog")]))
    assert text.splitlines()[2].endswith(
        "| math  | paper/1  | 2333 |    - | -       | sample data; out of memory |"
    )
    assert "log" not in text


def test_the_history_is_readable_by_machines(make: Make) -> None:
    (entry,) = json.loads(json_text(history([make()])))
    assert entry["started"] == "2026-01-01T00:00:00+00:00"
    assert entry["marks"] == ["sample data"]
    assert entry["protocol"] == "paper/1"


def test_a_run_is_shown_with_all_that_is_stored_of_it(make: Make) -> None:
    scores = (
        Score("gsm8k", "accuracy", "llm-adapters", True, 0.125, 8),
        Score("gsm8k", "accuracy", "strict", False, 0.0, 8, unparsed=3),
        Score(POOLED, "bleu", "", True, 31.416, 8, signature="nrefs:1|tok:13a"),
    )
    run = make(scores=scores, fold=4, flags=("gsm8k: empty answers: 3 of 8",))
    text = details.markdown(run)
    for line in (
        f"## Run {run.run_id}",
        "    fold = 4",
        "    marks = sample data",
        "    gsm8k: empty answers: 3 of 8",
        "    all bleu = nrefs:1|tok:13a",
        "    recipe.lr = 0.001",
        "    packages.torch = 2.13",
        "    folder = runs/lora",
        "    trainable parameters = 5 of 1,000 (0.5 %)",
        "| train    |    6.00 |      50.0 |",
        "| gsm8k     | accuracy | llm-adapters | yes      | 12.50 % |   8 |        0 |",
        "| gsm8k     | accuracy | strict       |          |  0.00 % |   8 |        3 |",
        "| all       | bleu     |              | yes      |   31.42 |   8 |        0 |",
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
    assert "## Flags" not in text
    assert "## Time" not in text
