"""The history of all attempts, as values."""

from collections.abc import Callable

from results.analysis.averages import Overall
from results.analysis.history import history
from results.record import Run, Score

Make = Callable[..., Run]


def test_the_history_keeps_the_order_and_tells_micro_of_headline_scores(make: Make) -> None:
    strict = Score("gsm8k", "accuracy", "strict", False, 1.0, 8)
    scores = (strict, Score("gsm8k", "accuracy", "e", True, 0.125, 8))
    entries = history([make(minute=1, scores=scores), make("dypam")])
    assert [entry.method for entry in entries] == ["lora", "dypam"]
    assert entries[0].overall == Overall("accuracy", "micro", 0.125)
