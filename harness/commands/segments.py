"""The texts of runs as sums of parts, read from the run folders, for tests over items."""

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from harness.spec.planned import PlannedRun
from results.analysis.testing.evidence import Segments
from results.record import Run
from results.runfolder.folder import RunFolder, RunFolderError
from results.statistics.items.verdicts import Floats
from tasks.metrics.overlap import MetricUnavailableError
from tasks.metrics.parts import PARTS

UNREADABLE = (KeyError, MetricUnavailableError, OSError, RunFolderError, ValueError)
"""What leaves a run without segments: its folder is gone, or was written before they were kept."""


MOST = 256
"""Texts of runs that are kept once read; a comparison takes those of each seed and metric."""


def segments(run: Run, benchmark: str, metric: str) -> Segments | None:
    """Read the parts of each text of a benchmark; None if the run folder does not have them."""
    try:
        ids, parts = _read(run.folder, benchmark, metric)
    except UNREADABLE:
        return None
    data = run.spec["tests"][benchmark]["sha256"]
    return Segments(parts, sha256(repr([data, ids]).encode()).hexdigest()) if ids else None


@lru_cache(MOST)
def _read(place: str, benchmark: str, metric: str) -> tuple[list[int], Floats]:
    folder = RunFolder(Path(place))
    return (
        _losses(folder, benchmark)
        if metric == "perplexity"
        else _overlaps(folder, benchmark, metric)
    )


def _overlaps(folder: RunFolder, benchmark: str, metric: str) -> tuple[list[int], Floats]:
    generations = sorted(folder.generations(benchmark), key=lambda one: one.id)
    heard = PlannedRun.of(folder).spec.protocol.heard
    texts = [heard(one.text) for one in generations]
    return [one.id for one in generations], PARTS[metric](
        texts, [one.reference for one in generations]
    )


def _losses(folder: RunFolder, benchmark: str) -> tuple[list[int], Floats]:
    rows = sorted(folder.reference_likelihoods(benchmark), key=lambda one: one.id)
    # A reference none of whose tokens the model could read counts for nothing.
    sums = [(one.answer, one.answer_tokens) if one.answer_tokens else (0.0, 0) for one in rows]
    return [one.id for one in rows], np.array(sums, float)
