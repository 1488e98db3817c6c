"""What planning does where a run does not fit on the GPUs that are there."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.commands.preview import preview
from harness.commands.run import cut
from harness.commands.started import started
from harness.errors import UserError
from harness.planning.footprint.cards import CONTEXT, Card, visible_cards
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.scheduling.resources import Resources
from harness.spec.planned import Need

ASKED = Request(
    methods="lora", tasks="gsm8k", settings=["generate.batch_size=1", "train.packed=false"]
)
OFF = replace(ASKED, settings=[*ASKED.settings, "memory.gradient_checkpointing=false"])
ON = replace(ASKED, settings=[*ASKED.settings, "memory.gradient_checkpointing=true"])


def card(memory: int) -> Card:
    return Card("NVIDIA Tiny", memory + CONTEXT)


@pytest.fixture(scope="module")
def needs() -> tuple[int, int]:
    """Work out the peak with and without checkpointing."""
    ((on,), (off,)) = (plan(asked, []) for asked in (ON, OFF))
    assert on.need
    assert off.need
    return on.need.peak, off.need.peak


@pytest.fixture(scope="module")
def least(needs: tuple[int, int]) -> int:
    """Find the peak with checkpointing, and with nothing kept for an evaluation."""
    (run,) = plan(ON, [card(needs[0] - 1)])
    assert run.need
    return run.need.peak


def test_checkpointing_is_turned_on_only_where_a_run_fits_only_so(needs: tuple[int, int]) -> None:
    on, off = needs
    assert on < off
    assert [plan(ASKED, [card(size)])[0].checkpoints for size in (on, off - 1, off)] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("asked", "phase", "helps"),
    [
        (ASKED, "validation", "--set protocol.max_length=N, --quantize nf4"),
        (
            OFF,
            "training",
            "--checkpointing on, --set train.batch_size=1, --set protocol.max_length=N, "
            "--quantize nf4",
        ),
    ],
)
def test_what_fits_on_no_gpu_is_refused_with_what_would_help(
    asked: Request, phase: str, helps: str, least: int
) -> None:
    with pytest.raises(UserError) as error:
        plan(asked, [card(0), card(least - 1)])
    message = str(error.value)
    assert message.startswith(f"lora on tiny: {phase} takes about ")
    assert "MiB, which no GPU here has; the largest is NVIDIA Tiny (590.3 MiB)." in message
    assert message.endswith(f"What may help: {helps}, a larger GPU.")


def test_packed_rows_that_fit_on_no_gpu_are_refused_with_what_would_help() -> None:
    packed = replace(OFF, settings=[one for one in OFF.settings if "packed" not in one])
    with pytest.raises(UserError, match=r"What may help: .*--set train\.packed=false, "):
        plan(packed, [card(0)])


def test_a_run_fits_where_there_is_no_room_for_what_an_evaluation_keeps(
    needs: tuple[int, int],
) -> None:
    (kept,), (recomputed,) = (plan(ON, [card(size)]) for size in (needs[0], needs[0] - 1))
    assert kept.need
    assert recomputed.need
    assert recomputed.need.training == kept.need.training
    assert recomputed.need.peak < needs[0] == kept.need.peak == kept.need.validation
    assert recomputed.spec == kept.spec


def test_one_fault_is_told_for_all_seeds(needs: tuple[int, int]) -> None:
    with pytest.raises(UserError) as error:
        plan(replace(ASKED, seeds="3"), [card(0)])
    assert str(error.value).count("lora on tiny") == 1


def test_the_need_is_no_part_of_the_run_id(needs: tuple[int, int]) -> None:
    assert {run.spec.run_id for asked in (ON, OFF) for run in plan(asked, [])} == {
        run.spec.run_id for run in plan(ASKED)
    }


def test_an_evaluation_alone_needs_no_memory_for_training() -> None:
    (run,) = plan(replace(ASKED, methods="base"), [])
    assert run.need
    assert run.need.phase == "generation"
    assert run.need == Need(training=0, validation=0, generation=run.need.peak)


LOOKING = """'LoRA whose loss looks at a number.'
from dataclasses import replace
from methods.lora import method as lora
def looked(model):
    return next(p for p in model.parameters() if p.requires_grad).sum().item()
method = replace(lora, auxiliary_loss=looked)
"""


@pytest.mark.usefixtures("no_named_files")
def test_a_method_that_looks_at_numbers_is_planned_without_its_need(tmp_path: Path) -> None:
    (tmp_path / "looking.py").write_text(LOOKING)
    (run,) = plan(replace(ASKED, methods=str(tmp_path / "looking.py")), [card(0)])
    assert run.need is None


def test_a_dry_run_names_the_need_and_the_gpus_that_are_too_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, needs: tuple[int, int]
) -> None:
    cards = [card(needs[1]), card(needs[1] - 1)]
    monkeypatch.setattr("harness.commands.preview.visible_cards", lambda per_gpu: cards)
    with started("local", Resources()) as opened:
        text = preview(OFF, str(tmp_path / "no.db"), tmp_path, opened)
    assert text.splitlines()[0].endswith("lora on tiny, math, seed 2333  28.8 MiB, not on GPU 1")


def test_runs_that_share_a_gpu_share_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    class Properties:
        name, total_memory = "NVIDIA H200", 150_000_000_000

    monkeypatch.setattr("harness.gpus.there", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    monkeypatch.setattr("torch.cuda.get_device_properties", lambda n: Properties)
    assert list(map(str, visible_cards())) == ["NVIDIA H200 (139.7 GiB)"]
    assert list(map(str, visible_cards(3))) == ["1/3 of NVIDIA H200 (46.6 GiB)"]


def test_slots_that_are_cut_are_told() -> None:
    told = ["--slots 4: 1 at a time, with 1 GPU; see --per-gpu"]
    assert cut(Resources(slots=4), gpus=1) == told
    assert cut(Resources(slots=4, per_gpu=4), gpus=1) == cut(Resources(slots=4), gpus=0) == []
