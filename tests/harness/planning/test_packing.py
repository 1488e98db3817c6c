"""Packed rows in plans: what is hashed, which backbones take them, and the memory of a pass."""

import pytest
from transformers import AutoConfig

from harness.planning.footprint.need import Texts, setting
from harness.planning.plan import plan
from harness.planning.request import Request
from methods.training.packing import refusal


def asked(methods: str, *settings: str) -> Request:
    return Request(methods=methods, tasks="gsm8k", settings=["train.packed=true", *settings])


@pytest.mark.parametrize(("method", "expected"), [("lora", (1, 400)), ("hycam", (2, 100))])
def test_the_memory_of_a_method_that_cannot_be_packed_is_that_of_its_batches(
    method: str, expected: tuple[int, int]
) -> None:
    (run,) = plan(asked(method))
    found = setting(run, Texts(taught=200, asked=200))
    assert (found.rows, found.tokens) == expected


def test_packing_is_another_run_and_its_absence_is_the_run_of_before() -> None:
    ((packed,), (padded,)) = (
        plan(Request(methods="lora", tasks="gsm8k", settings=settings))
        for settings in ([], ["train.packed=false"])
    )
    assert packed.spec.run_id != padded.spec.run_id
    assert packed.spec.train.packed
    assert "packed" not in padded.spec.train.model_dump()


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("llama", None),
        ("mistral", None),
        ("gemma2", None),
        ("gemma3_text", None),
        ("roberta", "the positions of roberta are not rotary"),
        ("mamba", "the attention of mamba cannot be taken row by row"),
        (
            "llama4_text",
            "llama4_text has layers of chunked_attention, which would run on across rows",
        ),
    ],
)
def test_a_backbone_packs_if_its_layers_can_start_again(kind: str, reason: str | None) -> None:
    assert refusal("", AutoConfig.for_model(kind)) == reason


@pytest.mark.parametrize(
    ("rows", "characters", "expected"),
    [
        (4, 200, (1, 400)),  # all rows of a step in one pass
        (64, 200, (1, 4096)),  # at most as many tokens as a pass takes
    ],
)
def test_the_memory_of_a_packed_pass_is_that_of_its_tokens(
    rows: int, characters: int, expected: tuple[int, int]
) -> None:
    (run,) = plan(asked("lora", f"train.accumulation_steps={rows // 2}"))
    found = setting(run, Texts(taught=characters, asked=characters))
    assert (found.rows, found.tokens) == expected
