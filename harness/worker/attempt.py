"""One attempt at a run, in the processes that train it: it ends in a result or a divergence."""

import os
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers.utils import logging

from harness import plugins
from harness.spec.planned import PlannedRun
from harness.worker import card
from harness.worker.clock import Clock
from harness.worker.failing import kind_of, reason_of
from harness.worker.journal import Journal
from harness.worker.machine import determinism, device, environment, launcher
from harness.worker.planned import admit
from harness.worker.ranks import Rank, together
from harness.worker.stages import Stages
from harness.worker.tracking import Tracking
from harness.worker.training.divergence import DivergedError
from results.runfolder import earlier
from results.runfolder.claims import Claim
from results.runfolder.values import Divergence, Result


def execute(claim: Claim) -> None:
    """Take a run to its end: to its result, or to where its training diverged.

    Args:
        claim: Of this process on the run.

    Raises:
        LostError: Another process took the run over.
    """
    folder, started = claim.folder, time.time()
    logging.disable_progress_bar()
    launcher.forget()
    determinism.ask()
    planned = PlannedRun.of(folder)
    device.require(planned)
    admit(planned)
    work, give_up = partial(_train_with, claim, planned), partial(_give_up, claim)
    with together(_processes(claim, planned), work, give_up) as rank:
        _carry_out(claim, planned, rank, started)


def _carry_out(claim: Claim, planned: PlannedRun, rank: Rank, started: float) -> None:
    """Take the run to its end, as rank 0 of its training."""
    folder = claim.folder
    torch.set_float32_matmul_precision(planned.spec.float32_matmul)
    described = environment.describe(
        planned.memory.model_dump(exclude_defaults=True),
        quantized=planned.spec.quantize is not None,
    )
    described = earlier.begun(folder, described)
    folder.write_environment(described)
    with (
        Clock() as clock,
        Tracking(planned, folder) as tracking,
        Journal(folder.events, device.meter, clock.seconds, tracking.event) as journal,
        determinism.noted() as kernels,
    ):
        claim.measure = lambda: (
            journal.so_far(),
            device.peak_memory_bytes(dict(journal.peak_memory)),
        )
        stages = Stages(claim, planned, journal, rank)
        facts: dict[str, Any]
        try:
            facts, ending = stages.run(), "finished"
        except DivergedError as error:
            facts, ending = {"step": error.step, "reason": error.reason}, "diverged"
        facts |= {
            "started": started,
            "seconds": {**journal.total(), "wall": claim.seconds + journal.before},
            "environment_id": described.identity,
            **stages.size(),
            "peak_memory": journal.peak_memory,
            "nondeterministic_kernels": sorted(kernels),
            "attempt": claim.token,
        }
        claim.confirm()
        if ending == "finished":
            folder.write_result(Result(**facts))
            claim.end("finished")
            card.write(folder)
            tracking.scores(facts["scores"])
        else:
            folder.write_divergence(Divergence(**facts))
            claim.end("diverged", f"step {facts['step']}: {facts['reason']}")
        journal.write(phase=ending)


def _processes(claim: Claim, planned: PlannedRun) -> int:
    """Say how many processes train; evaluation is of one."""
    trains = plugins.method(planned.spec.method.name).trains and not claim.folder.train_record()
    return planned.spec.train.processes if trains else 1


def _train_with(claim: Claim, planned: PlannedRun, rank: Rank) -> None:
    """Train as another rank than 0, which writes what comes of it."""
    torch.set_float32_matmul_precision(planned.spec.float32_matmul)
    rank.take_gpu()
    with Journal(Path(os.devnull), device.meter) as journal, suppress(DivergedError):
        Stages(claim, planned, journal, rank).learn()


def _give_up(claim: Claim, error: Exception) -> None:
    """Note why the run failed, where rank 0 hangs in what it does with another one."""
    claim.fail(reason_of(error), kind_of(error))
