"""A training that is cut and goes on, in this process; `worker/test_resuming.py` has real ones."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel

from harness import plugins
from harness.worker import stopping
from harness.worker.journal import Journal
from harness.worker.training.checkpoint import FORMAT, Checkpoints
from harness.worker.training.conformance import RECIPE, resumes_where_it_was_cut
from harness.worker.training.extras import Extras
from harness.worker.training.loop import Trained, fit
from methods import adalora
from methods.conformance.models import BUILDS
from methods.training.hooks import StepHooks
from methods.training.layer_selection import DynamicLayerSelection
from tests.harness.worker.training.test_loop import adapted, training, weights

TRAINED = [name for name in plugins.names("methods") if plugins.method(name).trains]
PACKED = [name for name in TRAINED if not plugins.method(name).unpacked]

REPRESENTATIVE = "rosa"
"""Its hooks have a state: which layers are selected."""

DEEPSPEED = """
import sys
from accelerate.state import AcceleratorState
from harness import plugins
from harness.worker.training.conformance import RECIPE, resumes_where_it_was_cut
from methods.conformance.models import BUILDS

def build():
    # Accelerate sets up its engine once a process.
    AcceleratorState._reset_state(reset_partial_state=True)
    return BUILDS["llama-gqa"]()

recipe = RECIPE.model_copy(update={"engine": "deepspeed"})
for name in sys.argv[1:]:
    resumes_where_it_was_cut(plugins.method(name), build, recipe)
"""


def test_a_training_resumes_where_it_was_cut() -> None:
    resumes_where_it_was_cut(plugins.method(REPRESENTATIVE), BUILDS["llama-gqa"])  # asserts


@pytest.mark.parts
@pytest.mark.parametrize("name", [name for name in TRAINED if name != REPRESENTATIVE])
def test_a_training_of_any_method_resumes_where_it_was_cut(name: str) -> None:
    resumes_where_it_was_cut(plugins.method(name), BUILDS["llama-gqa"])  # asserts


@pytest.mark.parts
@pytest.mark.parametrize("name", PACKED)
def test_a_packed_training_of_any_method_resumes_where_it_was_cut(name: str) -> None:
    packed = RECIPE.model_copy(update={"packed": True})
    resumes_where_it_was_cut(plugins.method(name), BUILDS["llama-gqa"], packed)  # asserts


@pytest.mark.parts
@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_under_deepspeed_a_training_resumes_where_it_was_cut() -> None:
    safe = [name for name in TRAINED if plugins.method(name).zero_safe]
    done = subprocess.run(
        [sys.executable, "-c", DEEPSPEED, *safe],
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", [REPRESENTATIVE, pytest.param("adalora", marks=pytest.mark.parts)])
def test_a_hook_that_keeps_a_part_of_its_state_to_itself_is_found(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(adalora, "SCORED", ("exp_avg_ipt", "exp_avg_unc"))
    monkeypatch.setattr(DynamicLayerSelection, "restore", StepHooks.restore)
    with pytest.raises(AssertionError, match=r"^cut in steps .* and resumed, .* differs?"):
        resumes_where_it_was_cut(plugins.method(name), BUILDS["llama-gqa"])


@pytest.fixture
def heeding() -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    stopping.heed()
    yield
    stopping.heed()
    signal.signal(signal.SIGTERM, before)


class Asking(StepHooks):
    """Asks the process to stop in the middle of a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def after_backward(self, step: int) -> None:
        if step == self.step:
            os.kill(os.getpid(), signal.SIGTERM)


def fitted(folder: Path, asked: int = 0, **fields: Any) -> tuple[PeftModel, Trained]:
    """Train until the process is asked to stop in a step, or to the end."""
    stopping.heed()
    model, plan = adapted(), training(validations_per_epoch=3, **fields)
    with Journal(folder / "events.jsonl") as journal:
        checkpoints = Checkpoints(folder / "checkpoints", minutes=10)
        return model, fit(model, plan, journal, Extras([Asking(asked)]), checkpoints=checkpoints)


@pytest.mark.usefixtures("heeding")
@pytest.mark.parametrize(
    "step",
    [
        pytest.param(1, id="first", marks=pytest.mark.parts),
        pytest.param(3, id="before", marks=pytest.mark.parts),
        pytest.param(4, id="validated"),
        pytest.param(5, id="after", marks=pytest.mark.parts),
        pytest.param(11, id="last"),
    ],
)
def test_a_training_that_was_asked_to_stop_finishes_its_step_and_goes_on_after_it(
    tmp_path: Path, step: int
) -> None:
    """Of 11 steps, validated after 4, 7 and 11."""
    (tmp_path / "whole").mkdir()
    whole, expected = fitted(tmp_path / "whole")
    assert (expected.steps, training(validations_per_epoch=3).validation_steps) == (11, {4, 7, 11})
    with pytest.raises(stopping.Interrupted):
        fitted(tmp_path, step)
    assert [one.name for one in (tmp_path / "checkpoints").iterdir()] == [str(step)]
    resumed, found = fitted(tmp_path)
    assert found == expected
    assert torch.equal(weights(resumed), weights(whole))


@pytest.mark.usefixtures("heeding")
def test_what_a_checkpoint_holds_is_that_of_its_format(tmp_path: Path) -> None:
    """Whoever changes these names raises the number: an older harness cannot read them."""
    with pytest.raises(stopping.Interrupted):
        fitted(tmp_path, 5)
    kept = Checkpoints(tmp_path / "checkpoints", minutes=10).newest()
    assert kept
    held = {name: sorted(one) for name, one in kept[1].items() if isinstance(one, dict)}
    assert FORMAT == 1
    assert kept[1].keys() == {*held, "tokens", "hooks"}
    assert held.pop("schedule")  # as torch has it
    assert held == {
        "best": ["kept", "live", "loss", "rejected", "step"],
        "engine": ["numbers", "param_groups", "state"],
        "random": ["cuda", "python", "torch"],
        "spent": ["peak_memory", "seconds"],
    }


@pytest.mark.usefixtures("heeding")
def test_patience_counts_on_where_a_training_was_cut(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    rising = {"epochs": 4, "lr": 0.5, "patience": 2}  # far too high a rate
    _, expected = fitted(tmp_path / "whole", **rising)
    assert expected.best_step < expected.steps < training(**rising).steps
    with pytest.raises(stopping.Interrupted):
        # The state before had one validation in a row without a lower loss.
        fitted(tmp_path, expected.steps - 1, **rising)
    assert fitted(tmp_path, **rising)[1] == expected


@pytest.mark.usefixtures("heeding")
def test_a_training_without_a_place_for_checkpoints_stops_all_the_same(tmp_path: Path) -> None:
    with (
        pytest.raises(stopping.Interrupted),
        Journal(tmp_path / "events.jsonl") as journal,
    ):
        fit(adapted(), training(), journal, Extras([Asking(2)]))
