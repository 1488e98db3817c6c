"""`harness methods --backbone B --memory`, on the embedded backbone."""

import pytest

from harness.commands.memory import CARDS, Both, memory
from harness.errors import UserError
from harness.planning.footprint.cards import CONTEXT
from harness.spec.planned import Need


def test_a_method_is_listed_with_each_phase_and_the_smallest_gpu_that_holds_it() -> None:
    report = memory("lora[r=4]", "tiny")
    (row,) = report.value
    assert (row["method"], row["gpu"]) == ("lora[r=4]", "24 GB")
    assert row["need_with_checkpointing"]["training"] < row["need"]["training"]
    assert row["need"]["generation"] == row["need_with_checkpointing"]["generation"]
    assert "| lora[r=4] |" in report.text


def test_without_a_backbone_it_says_what_to_add() -> None:
    with pytest.raises(UserError, match=r"add --backbone llama-3\.2-3b"):
        memory("lora", None)


def test_a_method_that_does_not_fit_the_backbone_has_an_empty_row() -> None:
    (row,) = memory("fourierft[n_frequency=100000000]", "tiny").value
    assert (row["need"], row["gpu"]) == (None, None)


@pytest.mark.parametrize(
    ("plain", "frugal", "holder"),
    [
        (CARDS[0].memory, 1, "24 GB"),
        (CARDS[0].memory + 1, CARDS[0].memory, "24 GB, checkpointing"),
        (CARDS[1].memory, CARDS[1].memory, "80 GB"),
        (CARDS[2].memory + 1, CARDS[2].memory + 1, "none"),
    ],
)
def test_checkpointing_comes_before_a_larger_gpu(plain: int, frugal: int, holder: str) -> None:
    needs = (Need(training=size - CONTEXT, validation=0, generation=0) for size in (plain, frugal))
    assert Both(*needs, seconds=1).holder == holder
