"""Two runs side by side."""

from collections.abc import Callable

from results.analysis.difference import Flips, difference
from results.record import Run, Verdicts
from results.reports.one_run.difference import markdown

Make = Callable[..., Run]


def test_a_difference_names_fields_scores_and_flipped_items(make: Make) -> None:
    first = make(spec={"train": {"lr": 0.1, "epochs": 3}}, correct={"gsm8k": 50})
    second = make(spec={"train": {"lr": 0.2, "epochs": 3}}, correct={"gsm8k": 52}, seed=7)
    # By hand: of six rows both answer 2 right, the first 1 alone, the second 2 alone.
    bits = [
        {"gsm8k": Verdicts("gsm8k", "rows", 6, bytes([n]), None)} for n in (0b11100000, 0b11011000)
    ]
    found = difference((first, second), (bits[0], bits[1]))
    assert found.spec == {"train.lr": (0.1, 0.2)}
    assert found.environment == {}
    assert found.flips == (Flips("gsm8k", 6, first=1, second=2),)
    text = markdown(found)
    assert "train.lr: 0.1 -> 0.2" in text
    assert "| gsm8k     | accuracy | 50.00 | 52.00 | +2.00 |" in text


def test_answers_to_other_rows_are_not_compared(make: Make) -> None:
    bits = [{"gsm8k": Verdicts("gsm8k", rows, 6, b"\xff", None)} for rows in ("a", "b")]
    assert difference((make(), make(seed=1)), (bits[0], bits[1])).flips == ()
