from collections.abc import Iterator

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from benchmarks.gpu.kept import EXPECTED
from benchmarks.gpu.one_method import PHASES, Place, Sizes, against, measure
from harness import backbones
from harness.planning.footprint import simulation
from harness.planning.footprint.meter import Meter
from harness.planning.footprint.need import need
from harness.planning.methods import complete
from harness.planning.parse import parse_method
from harness.spec.planned import Need
from harness.worker.machine import device

CPU = Place("cpu", torch.float32)
SMALL = Sizes(steps=3, tokens=64, prompts=2, prompt=8, new=4)


@pytest.fixture(autouse=True)
def determinism() -> Iterator[None]:
    yield
    torch.use_deterministic_algorithms(False)


def test_a_method_is_measured_on_random_weights_and_set_against_the_model_of_memory() -> None:
    method, config = complete(parse_method("lora")), AutoConfig.from_pretrained(backbones.TINY)
    with Meter([]) as alive:

        def since() -> dict[str, int]:
            peak, alive.peak = alive.peak, alive.now
            return {"allocated": peak}

        row = measure(method, config, SMALL, CPU, since)
    # LoRA of rank r trains r (m + n) numbers for an (m, n) layer: of `tiny`, in each of 5 layers,
    # queries and output 128 x 128, keys and values 128 x 64, and three times 128 x 304.
    assert row["trained, M"] == pytest.approx(24 * 5 * (2 * 256 + 2 * 192 + 3 * 432) / 1e6)
    assert row["step, s"] > 0
    assert row["tokens/s"] > 0
    simulated = simulation.measure(method, config, SMALL.setting(torch.float32))
    row = against(row, need(simulated))
    assert row["training, of model"] == pytest.approx(1, abs=0.25)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu_the_peak_of_each_phase_is_what_torch_allocated() -> None:
    method, config = complete(parse_method("lora")), AutoConfig.from_pretrained(backbones.TINY)
    row = measure(method, config, SMALL, Place("cuda", torch.bfloat16), device.meter)
    peaks = [row[f"{phase}, GB"] for phase in PHASES.values()]
    weights = sum(p.nbytes for p in AutoModelForCausalLM.from_config(config).parameters()) / 2e9
    assert weights < min(peaks)
    assert max(peaks) <= torch.cuda.mem_get_info()[1] / 1e9


def test_the_model_of_memory_is_held_within_a_quarter() -> None:
    expected = Need(training=20_000_000_000, validation=10_000_000_000, generation=8_000_000_000)
    row = {"training, GB": 22.0, "validation, GB": 10.0, "generation, GB": 7.0}
    found = against(row, expected)
    assert found["training, of model"] == pytest.approx(1.1)
    assert found["outcome"] == EXPECTED
    assert against({**row, "validation, GB": 14.0}, expected)["outcome"] == (
        "validation, of model 1.40"
    )
