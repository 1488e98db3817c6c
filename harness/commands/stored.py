"""The runs of a store that a user names, as tables and lists take them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from results.analysis.runs.selection import narrowed, require, select, split_names
from results.record import Run
from results.store import Reader
from tasks.contract import EXTRACTOR_VERSIONS


def marked(runs: Sequence[Run]) -> list[Run]:
    """Mark the runs whose answers were read by an earlier version of their extractor."""
    told = ((run, tuple(_earlier(run))) for run in runs)
    return [replace(run, marks=run.marks + earlier) if earlier else run for run, earlier in told]


def _earlier(run: Run) -> Iterator[str]:
    for read_by in sorted(run.extraction):
        name, _, version = read_by.rpartition("/")
        current = EXTRACTOR_VERSIONS.get(name, 1)
        if int(version) < current:
            yield f"answers read by {read_by}, now {name}/{current}: run `harness rescore`"


def runs(
    store_place: str, tasks: str | None, method: str | None = None, backbones: Sequence[str] = ()
) -> list[Run]:
    """List the runs of groups and benchmarks, of a method and on backbones, newest first.

    Raises:
        ResultsError: A name is of no run; it gives the nearest.
    """
    store, typed = Reader(store_place), [without_path(method)] if method else []
    names = list(map(without_path, split_names(tasks or ""))), typed, backbones
    kinds = store.kinds()
    found = select(marked(store.runs(**narrowed(kinds, *names))), kinds, *names)
    if typed and not found:  # it may still be of runs of other tasks or backbones
        require(store.runs(**narrowed(kinds, methods=typed)), typed, kinds)
    return found


def without_path(name: str) -> str:
    """Name a method or a benchmark that is given by the path of its file, as `run` takes it.

    >>> without_path("my/tanh_lora.py[r=4]"), without_path("zoo.py"), without_path("lora[r=4]")
    ('tanh_lora[r=4]', 'zoo', 'lora[r=4]')
    """
    return re.sub(r"^(?:[^:\[]*/)?([^/:\[]+)\.py(?=[:\[]|$)", r"\1", name)
