"""`--quantize`, as far as it goes without bitsandbytes: plan, spec, and what transformers gets.

What bitsandbytes does with it is in `tests/harness/backbones/test_quantized.py`.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch

from harness import plugins
from harness.errors import UserError
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.spec.planned import Memory, PlannedRun
from harness.spec.spec import Quantization, Spec
from harness.worker.model import weights
from methods.conformance.checks import calls_the_frozen_layers
from methods.conformance.models import BUILDS
from results.runfolder.folder import RunFolder

LACKING = pytest.mark.skipif(find_spec("bitsandbytes") is not None, reason="bitsandbytes is here")


def faults(methods: str, quantize: Quantization = "nf4") -> str:
    request = Request(methods=methods, tasks="gsm8k", quantize=quantize)
    with pytest.raises(UserError) as error:
        plan(request)
    return str(error.value)


@LACKING
def test_without_bitsandbytes_planning_says_what_to_install() -> None:
    needed = "--quantize nf4 needs bitsandbytes: pip install 'peft-proving-ground[quantize]'"
    assert faults("lora") == needed


@pytest.mark.parametrize("method", ["full", "smoa", "peft:LOHA"])
def test_a_method_that_no_check_has_shown_to_fit_is_refused_with_the_reason(method: str) -> None:
    assert f"{method} does not take --quantize nf4: the conformance checks" in faults(method)


@pytest.mark.parametrize("method", ["dora", "shira"])
def test_a_method_that_fits_one_format_only_is_told_which(method: str) -> None:
    assert f"{method} does not take --quantize int8 (but nf4): " in faults(method, "int8")


def test_a_quantized_run_is_another_run_in_a_table_of_its_own(spec: Callable[..., Spec]) -> None:
    plain, nf4, int8 = (spec(quantize=how) for how in (None, "nf4", "int8"))
    assert "quantize" not in plain.model_dump(mode="json")
    assert nf4.model_dump(mode="json")["quantize"] == "nf4"
    assert len({one.run_id for one in (plain, nf4, int8)}) == 3
    assert len({one.setting for one in (plain, nf4, int8)}) == 3
    assert "backbone quantized to int8" in int8.marks
    assert Spec(**nf4.model_dump(mode="json")) == nf4


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_nf4_is_loaded_as_qlora_does_and_multiplied_in_the_precision_of_the_spec(
    precision: str, planned: Callable[..., PlannedRun]
) -> None:
    # Dettmers et al., 2023, QLoRA: 4-bit NormalFloat with double quantization.
    options = weights(planned(quantize="nf4", weights=precision))
    config = options.pop("quantization_config")
    assert options == {"dtype": getattr(torch, precision)}
    assert (config.load_in_4bit, config.load_in_8bit) == (True, False)
    assert (config.bnb_4bit_quant_type, config.bnb_4bit_use_double_quant) == ("nf4", True)
    assert config.bnb_4bit_compute_dtype == getattr(torch, precision)


def test_int8_is_loaded_by_the_defaults_of_bitsandbytes(
    planned: Callable[..., PlannedRun],
) -> None:
    config = weights(planned(quantize="int8"))["quantization_config"]
    assert (config.load_in_4bit, config.load_in_8bit) == (False, True)
    assert config.llm_int8_threshold == 6.0  # section 3.2 of LLM.int8()


def test_without_it_nothing_changes(planned: Callable[..., PlannedRun]) -> None:
    assert weights(planned()) == {"dtype": torch.float32}


def test_on_a_gpu_the_weights_go_straight_to_it_or_where_the_user_wants_them(
    planned: Callable[..., PlannedRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert weights(planned())["device_map"] == "cuda"
    spread = planned().model_copy(update={"memory": Memory(device_map="auto")})
    assert weights(spread)["device_map"] == "auto"
    assert "device_map" not in weights(planned(quantize="nf4"))


STAND_IN = """
class nn:
    class Linear8bitLt: ...
    class Linear4bit: ...
"""


@LACKING
def test_with_bitsandbytes_the_command_line_plans_the_quantized_run(tmp_path: Path) -> None:
    (tmp_path / "site" / "bitsandbytes").mkdir(parents=True)
    (tmp_path / "site" / "bitsandbytes" / "__init__.py").write_text(STAND_IN)
    path = os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])
    command = [Path(sys.executable).with_name("harness"), "run", "--methods", "lora,base"]
    done = subprocess.run(
        [*command, "--tasks", "gsm8k", "--quantize", "int8", "--dry-run"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "2 runs, 2 to do." in done.stdout
    assert "backbone quantized to int8" in done.stdout


def test_an_unknown_format_is_refused_and_the_help_says_experimental(
    harness: Callable[..., Any], tmp_path: Path
) -> None:
    grid = ("run", "--methods", "lora", "--tasks", "gsm8k")
    assert harness(tmp_path, *grid, "--quantize", "fp4").returncode == 2
    assert "experimental" in harness(tmp_path, "run", "--help").stdout


def test_checkpointing_is_the_memory_setting_and_no_part_of_the_spec(
    harness: Callable[..., Any], tmp_path: Path
) -> None:
    grid = ("run", "--methods", "lora", "--tasks", "gsm8k")
    plain = harness(tmp_path, *grid, "--dry-run").stdout
    frugal = harness(tmp_path, *grid, "--checkpointing", "on", "--dry-run").stdout
    assert frugal.split()[0] == plain.split()[0]
    assert ("with checkpointing" in frugal, "with checkpointing" in plain) == (True, False)
    settings = ["memory.gradient_checkpointing=on"]
    (planned,) = plan(Request(methods="lora", tasks="gsm8k", settings=settings))
    folder = RunFolder(tmp_path / "run")
    folder.create(*planned.kept)
    assert '"gradient_checkpointing": true' in (folder.path / "places.json").read_text()
    assert "gradient_checkpointing" not in (folder.path / "spec.json").read_text()


def test_a_method_takes_8_bits_if_it_calls_the_frozen_layers() -> None:
    for name in ("lora", "dora", "shira", "smoa"):
        method = plugins.method(name)
        try:
            calls_the_frozen_layers(method, BUILDS["llama-gqa"])
        except Exception:
            assert "int8" not in method.quantized, name
        else:
            assert "int8" in method.quantized, name
