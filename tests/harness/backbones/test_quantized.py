"""Backbones in 4 and 8 bits, on the layers of bitsandbytes itself (`make parts` installs it)."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from harness import plugins
from harness.commands.doctor import examine, tiny
from methods.conformance.probes import logits, prompts
from methods.conformance.quantized import QUANTIZED_CHECKS
from methods.contract import Method
from results.runfolder.folder import RunFolder

pytestmark = pytest.mark.parts

FORMATS = ("nf4", "int8")
ONE = ["run", "--methods", "lora", "--tasks", "gsm8k", "--limit", "3", "--train-limit", "40"]
ONE += ["--set", "train.epochs=1", "--set", "protocol.max_new_tokens=8", "--quantize"]


def conforms(method: Method, how: str) -> bool:
    build = partial(tiny, how)
    try:
        for check in QUANTIZED_CHECKS:
            check(method, build)
    except Exception:
        return False
    return True


@pytest.mark.parametrize("name", [n for n in plugins.names("methods") if plugins.method(n).trains])
def test_a_method_takes_the_formats_over_which_it_conforms_and_no_other(name: str) -> None:
    method = plugins.method(name)
    assert tuple(how for how in FORMATS if conforms(method, how)) == method.quantized


def test_the_doctor_checks_every_format_that_a_method_takes() -> None:
    found = [one.check for one in examine("ia3") if not (one.fault or one.skipped)]
    for how in FORMATS:
        assert {f"{check.__name__} over {how}" for check in QUANTIZED_CHECKS} <= set(found)


@pytest.mark.parametrize("how", FORMATS)
def test_the_weights_take_a_quarter_or_a_half_of_the_bytes_of_bfloat16(how: str) -> None:
    layer: Any = tiny(how).get_submodule("model.layers.0.mlp.up_proj")
    assert layer.weight.nbytes == 128 * 304 // {"nf4": 2, "int8": 1}[how]


@pytest.mark.parametrize("how", FORMATS)
def test_evaluating_leaves_the_weights_as_they_were_loaded(how: str) -> None:
    model: Any = tiny(how)
    evaluated = logits(model, prompts(2, 9))
    stored = model.dequantize().eval()
    for layer in ("self_attn.q_proj", "mlp.down_proj"):
        name = f"model.layers.0.{layer}"
        untouched: Any = tiny(how)
        weight = untouched.dequantize().get_submodule(name).weight
        assert torch.equal(stored.get_submodule(name).weight, weight)
    if how == "nf4":  # 8 bits round what goes into a layer too
        torch.testing.assert_close(evaluated, logits(stored, prompts(2, 9)))


@pytest.mark.parametrize("how", FORMATS)
def test_another_process_answers_with_the_saved_adapter_as_the_one_that_trained_it(
    how: str, program: Callable[..., Any], tmp_path: Path
) -> None:
    done = program(tmp_path, *ONE, how)
    assert done.returncode == 0, done.stderr
    assert f"backbone quantized to {how}" in done.stdout
    (folder,) = (tmp_path / "runs").iterdir()
    answered = RunFolder(folder).generations("gsm8k")
    shutil.rmtree(folder / "generations")
    (folder / "result.json").unlink()
    (tmp_path / "harness.db").unlink()
    assert program(tmp_path, *ONE, how).returncode == 0
    assert json.loads((folder / "result.json").read_text())["resumed"]
    assert RunFolder(folder).generations("gsm8k") == answered


@pytest.mark.parametrize("how", FORMATS)
def test_deepspeed_takes_the_steps_of_plain_torch(
    how: str, program: Callable[..., Any], tmp_path: Path
) -> None:
    losses = []
    for engine in ("torch", "deepspeed"):
        place = tmp_path / engine
        place.mkdir()
        done = program(place, *ONE, how, "--set", f"train.engine={engine}")
        assert done.returncode == 0, done.stderr
        (folder,) = (place / "runs").iterdir()
        events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
        losses.append([event["loss"] for event in events if "loss" in event])
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)
    assert len(losses[0]) == 9  # 36 rows to train on, four a step
