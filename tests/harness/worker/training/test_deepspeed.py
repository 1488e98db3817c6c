"""DeepSpeed ZeRO-1 on one CPU process trains as plain torch does."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# DeepSpeed compiles an operator at its first start.
pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")

SYSTEMS = ("dypam", "rosa", "cascade", "hycam", "smoa")
"""The proposed systems: hooks (RoSA's layer selection), auxiliary losses (CASCADE, HyCAM)."""

TRAIN = """
import json, sys
from pathlib import Path

import torch
from accelerate.state import AcceleratorState

from harness import plugins
from harness.planning.methods import complete
from harness.planning.parse import parse_method
from harness.spec.recipe import Recipe
from harness.spec.spec import Seeds
from harness.worker.encode import Example
from harness.worker.journal import Journal
from harness.worker.training.batches import Training
from harness.worker.training.extras import extras
from harness.worker.training.loop import fit
from methods.conformance.models import VOCABULARY, build
from tasks.data.splits import hold_out

folder, names = Path(sys.argv[1]), sys.argv[2:]
generator = torch.Generator().manual_seed(0)
rows = [
    Example(torch.randint(3, VOCABULARY, (length,), generator=generator).tolist(), 4)
    for length in range(6, 26)
]


def train(engine, name):
    recipe, seeds = Recipe(epochs=3, engine=engine), Seeds(init=1, order=2, split=3)
    plan = Training(*hold_out(rows, 2, seeds.split), recipe, seeds.order, pad=0)
    method = plugins.method(name)
    small = ":small" if "small" in method.variants else ""
    dls = '[dls={"interval":2}]' if method.dls else ""
    fields = complete(parse_method(name + small + dls)).fields
    torch.manual_seed(0)
    model = method.adapt(build("llama-gqa"), method.configure(**fields))
    torch.manual_seed(0)
    selection = method.layer_selection(fields)
    with Journal(folder / engine / f"{name}.jsonl") as journal:
        hooks = extras(method, selection, model, plan, seed=0)
        fit(model, plan, journal, hooks)
    # Accelerate sets up its engine once a process.
    AcceleratorState._reset_state(reset_partial_state=True)
    kept = [hook.record() for hook in hooks.hooks]
    (folder / engine / f"{name}.json").write_text(json.dumps(kept))


for engine in ("torch", "deepspeed"):  # plain torch first: DeepSpeed leaves traces
    (folder / engine).mkdir()
    for name in names:
        train(engine, name)
"""


def losses(events: Path) -> list[float]:
    found = [json.loads(line) for line in events.read_text().splitlines()]
    return [event["loss"] for event in found if "loss" in event]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Train every system by both engines, in one process: its imports take longer than that."""
    folder = tmp_path_factory.mktemp("engines")
    script = [sys.executable, "-c", TRAIN, os.fspath(folder), *SYSTEMS]
    done = subprocess.run(script, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "torch", folder / "deepspeed"


@pytest.mark.parametrize("name", SYSTEMS)
def test_zero_one_takes_the_steps_that_torch_takes(runs: tuple[Path, Path], name: str) -> None:
    plain, sharded = (losses(folder / f"{name}.jsonl") for folder in runs)
    assert len(plain) == len(sharded) == 13  # 18 rows, 3 epochs, 4 rows a step
    assert sharded == pytest.approx(plain, rel=1e-3)
    assert min(plain) < plain[0]


def test_layer_selection_under_zero_one_sees_the_gradients_that_torch_has(
    runs: tuple[Path, Path],
) -> None:
    plain, sharded = (json.loads((folder / "rosa.json").read_text()) for folder in runs)
    histories = [one[0]["layer_selection"]["history"] for one in (plain, sharded)]
    assert [event["selected"] for event in histories[0]] == [
        event["selected"] for event in histories[1]
    ]
    assert len(histories[0]) == 6  # every second step after the first, which is warm-up
    for one, other in zip(*histories, strict=True):
        assert other["scores"] == pytest.approx(one["scores"], rel=1e-3)
