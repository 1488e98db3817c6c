"""`--gpus-per-run` and `train.zero`, where a request is checked: before any run."""

import pytest

from harness.errors import UserError
from harness.planning.footprint.need import Texts, need_of
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.spec.planned import PlannedRun

DEEPSPEED = "train.engine=deepspeed"


def planned(*settings: str, gpus_per_run: int = 1, methods: str = "lora") -> PlannedRun:
    request = Request(methods=methods, tasks="gsm8k", settings=settings, gpus_per_run=gpus_per_run)
    (run,) = plan(request)
    return run


def refused(*settings: str, gpus_per_run: int = 1, methods: str = "lora") -> str:
    with pytest.raises(UserError) as error:
        planned(*settings, gpus_per_run=gpus_per_run, methods=methods)
    return str(error.value)


def test_each_gpu_of_a_run_has_a_process_and_the_batch_stays() -> None:
    one, two = planned(), planned(gpus_per_run=2)
    assert two.spec.train == one.spec.train.model_copy(update={"processes": 2})
    assert "--gpus-per-run 2" in " ".join(two.provenance.command)


def test_processes_and_stages_are_other_runs_and_their_absence_is_the_run_of_before() -> None:
    before = planned(DEEPSPEED)
    written = before.spec.train.model_dump()
    assert "zero" not in written
    assert "processes" not in written
    others = [planned(DEEPSPEED, gpus_per_run=2), planned(DEEPSPEED, "train.zero=2")]
    assert len({run.spec.run_id for run in (before, *others)}) == 3
    assert len({run.spec.setting for run in (before, *others)}) == 3


def test_a_device_map_gives_all_gpus_of_a_run_to_one_process() -> None:
    run = planned("memory.device_map=auto", gpus_per_run=4)
    assert run.spec.run_id == planned().spec.run_id


@pytest.mark.parametrize(
    ("settings", "gpus", "words"),
    [
        (["train.processes=2"], 1, "--gpus-per-run says how many processes train"),
        (["train.zero=2"], 1, "--set train.engine=deepspeed"),
        ([DEEPSPEED, "train.zero=4"], 1, "train.zero"),
        ([DEEPSPEED, "memory.device_map=auto"], 1, "divides it with train.zero=3"),
        ([], 4, "may be --set train.batch_size=1 --set train.accumulation_steps=4."),
        ([], 3, "which does not divide either"),
    ],
)
def test_what_would_be_ignored_or_does_not_divide_is_refused_with_what_to_do(
    settings: list[str], gpus: int, words: str
) -> None:
    assert words in refused(*settings, gpus_per_run=gpus)


def test_a_method_whose_hooks_move_parameters_is_refused_at_every_stage() -> None:
    for stage in (1, 2, 3):
        assert "adalora changes parameters" in refused(
            DEEPSPEED, f"train.zero={stage}", methods="adalora"
        )


def test_no_memory_is_foretold_where_deepspeed_divides_it() -> None:
    texts = Texts(taught=200, asked=200)
    assert need_of(planned(DEEPSPEED), texts)
    assert need_of(planned(gpus_per_run=2), texts) == need_of(planned(), texts)
    assert need_of(planned(DEEPSPEED, "train.zero=3"), texts) is None
    assert need_of(planned(DEEPSPEED, gpus_per_run=2), texts) is None
