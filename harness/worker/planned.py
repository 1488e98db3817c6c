"""What was planned is what runs: a run's code is compared before any of it is imported."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

from harness import plugins
from harness.errors import UserError
from harness.plugins import named_files
from harness.plugins.source import changed, task_source
from harness.spec.planned import PlannedRun
from harness.spec.spec import Spec


def admit(planned: PlannedRun) -> None:
    """Take the files that the user named, if all code is what it was at planning.

    The backbone is compared where it is fetched, the data where they are read.

    Raises:
        UserError: Something is not what it was, with both hashes.
    """
    for file in planned.files:
        named_files.check(file.texts)
        plugins.add(file.kind, Path(file.path))
    if faults := list(_changed(planned.spec)):
        advice = "Put it back, or rerun the command to plan with what is there."
        raise UserError("\n".join([*faults, advice]))


def _changed(spec: Spec) -> Iterator[str]:
    if fault := changed(spec.method):
        yield fault
    for place, source in spec.task_sources.items():
        kind, _, name = place.partition("/")
        now = task_source(cast(plugins.Kind, kind), name)
        if now != source:
            yield (
                f"{name}: its source has changed since: its hash is {str(now)[:16]}, that of the "
                f"run is {source[:16]}."
            )
