"""Training demands deterministic kernels; others, where they are let, are recorded.

The kernel that has no deterministic form, also on a CPU, is `put_`.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from harness.worker.machine import determinism
from methods.training.determinism import excepted
from methods.tuners.prefix import Sums
from tests.harness.worker.training.engines import train

Command = Callable[..., Any]


@pytest.fixture(autouse=True)
def asked() -> Iterator[None]:
    """Ask as a run does, and leave torch as it was."""
    warned = torch.is_deterministic_algorithms_warn_only_enabled()
    before = torch.are_deterministic_algorithms_enabled()
    determinism.ask()
    yield
    torch.use_deterministic_algorithms(before, warn_only=warned)


def put() -> Tensor:
    return torch.zeros(3).put_(torch.tensor([1]), torch.ones(1))


def test_training_ends_at_a_kernel_without_a_deterministic_form() -> None:
    with determinism.strict(), pytest.raises(RuntimeError, match="put_ does not have"):
        put()


NOTED = """
import warnings, torch
from harness.worker.machine import determinism
determinism.ask()
with determinism.noted() as names:
    for n in range(3):
        exec(n * chr(10) + "torch.zeros(3).put_(torch.tensor([1]), torch.ones(1))")  # line n
    warnings.warn("something else")
print(names)
"""


def test_a_nondeterministic_kernel_is_noted_by_name_and_printed_once(python: Command) -> None:
    done = python(NOTED)
    assert done.stdout == "{'put_'}\n"
    assert done.stderr.count("put_ does not have") == 1
    assert "something else" in done.stderr


def test_an_exception_holds_for_its_block_alone() -> None:
    with determinism.noted() as names, determinism.strict():
        with excepted():
            put()
        with pytest.raises(RuntimeError):
            put()
    assert names == {"put_"}


def test_where_training_is_not_strict_an_exception_changes_nothing() -> None:
    torch.use_deterministic_algorithms(False)
    with excepted():
        assert not torch.are_deterministic_algorithms_enabled()
    assert not torch.are_deterministic_algorithms_enabled()


def test_the_sums_over_a_prefix_are_cumsum_to_the_bit_and_so_are_their_gradients() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 7, 5, generator=generator, requires_grad=True)
    weight = torch.randn(2, 7, 5, generator=generator)
    found: Tensor = Sums.apply(x)  # type: ignore[no-untyped-call]
    plain = x.cumsum(-2)
    assert torch.equal(found, plain)
    gradients = [torch.autograd.grad((sums * weight).sum(), x)[0] for sums in (found, plain)]
    assert torch.equal(*gradients)


@pytest.mark.parametrize(
    "name",
    [
        "adalora",
        *(
            pytest.param(name, marks=pytest.mark.parts)
            for name in ("lora", "cascade[K_dct=200,K_wav=100,r=8,pooling=prefix]")
        ),
    ],
)
def test_a_training_repeats_to_the_bit(name: str, tmp_path: Path) -> None:
    # On the GPU where there is one: attention, and both exceptions.
    first, again = (train(tmp_path, "torch", "bfloat16", name).state_dict() for _ in range(2))
    assert all(torch.equal(first[key], again[key]) for key in first)


METHOD = """
from dataclasses import replace

import torch

from methods.lora import method as lora
from methods.training.determinism import excepted


def nothing(model):
    {opening}
        return torch.zeros(3).put_(torch.tensor([1]), torch.ones(1)).sum() * 0


method = replace(lora, title="Changed", auxiliary_loss=nothing)
"""


@pytest.mark.parts
def test_a_nondeterministic_kernel_ends_a_training_unless_it_is_excepted(
    harness: Command, tmp_path: Path
) -> None:
    for name, opening in {"bare": "if True:", "wrapped": "with excepted():"}.items():
        (tmp_path / f"{name}.py").write_text(METHOD.format(opening=opening))
    grid = ["run", "--methods", "bare.py,wrapped.py", "--tasks", "gsm8k", "--limit", "1"]
    grid += ["--train-limit", "40", "--set", "train.epochs=1", "--set", "protocol.max_new_tokens=4"]
    grid += ["--slots", "1"]
    assert harness(tmp_path, *grid).returncode == 1
    runs = {one["method"]: one for one in json.loads(harness(tmp_path, "history", "--json").stdout)}
    bare, wrapped = runs["bare"], runs["wrapped"]
    assert (bare["status"], wrapped["status"]) == ("failed", "finished")
    shown = json.loads(harness(tmp_path, "show", bare["run_id"], "--json").stdout)
    assert "put_ does not have a deterministic implementation" in shown["reason"]
    shown = json.loads(harness(tmp_path, "show", wrapped["run_id"], "--json").stdout)
    assert shown["nondeterministic_kernels"] == ["put_"]
    assert shown["environment"]["determinism"] == {"training": "strict", "evaluation": "warn"}
    text = harness(tmp_path, "show", wrapped["run_id"], "--all").stdout
    assert "## Nondeterministic kernels\n\n    put_\n" in text
