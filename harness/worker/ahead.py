"""What the worker does before it forks a run, so that the run and those after it inherit it.

Here data are read and encoded, and what a run of these data, backbone and protocol asks for is
kept (`kept.py`). The run then asks as if nothing were there. So what fails here is left to the run,
which fails by itself and says why.
"""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness import backbones, plugins
from harness.spec.planned import PlannedRun
from harness.worker import encode, model, rows
from harness.worker.machine import version
from results.runfolder.folder import RunFolder


def prepare(folder: RunFolder) -> None:
    """Work out what the run of a folder will ask for; what it prints goes to the folder's log.

    Code of the user's or of another distribution is imported in the run's own process alone, so
    nothing is worked out for data that need it.
    """
    # Threads that encode would not be there after the fork, but locks that they held would.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    with suppress(Exception), printing_to(folder.log):
        planned = PlannedRun.of(folder)
        own_data = any(file.kind != "methods" for file in planned.files)
        if not own_data and rows.Sources.of(planned).ours and not folder.ended:
            _import()
            _encode(planned)
    # Children look at all that is not frozen whenever they collect garbage, and so copy it.
    gc.freeze()


def _import() -> None:
    """Import what scores and cards of runs need, and ask git for the commit."""
    for name in plugins.names("tasks"):
        if not plugins.is_guest("tasks", name):
            plugins.benchmark(name)
    for name in plugins.names("groups"):
        if not plugins.is_guest("groups", name):
            plugins.group(name)
    version.commit()


def _encode(planned: PlannedRun) -> None:
    """Read the rows of a run, count what it was trained on, and encode what it asks."""
    protocol, found = planned.spec.protocol, rows.load(planned)
    tokenizer = model.tokenizer(backbones.fetch(planned.located))
    if _trains(planned):
        encode.encoded(found.train, tokenizer, protocol)
        encode.encoded(found.validation, tokenizer, protocol)
    shots = protocol.draw(found.train)
    for name, tested in found.tests.items():
        rows.in_training(found.train, tested)
        encode.prompt_ids(tested, tokenizer, protocol, shots)
        if not plugins.benchmark(name).extractors:
            encode.encoded(tested, tokenizer, protocol)


def _trains(planned: PlannedRun) -> bool:
    name = planned.spec.method.name
    own = planned.files or plugins.is_guest("methods", name)
    return bool(own or plugins.method(name).trains)


@contextmanager
def printing_to(log: Path) -> Iterator[None]:
    """Send what this process prints to a file: its standard output is for answers."""
    opened = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    before = {stream: os.dup(stream) for stream in (1, 2)}
    for stream in before:
        os.dup2(opened, stream)
    os.close(opened)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for stream, copy in before.items():
            os.dup2(copy, stream)
            os.close(copy)
