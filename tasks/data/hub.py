"""Data sets of the Hugging Face hub, written as files that `layouts.py` can read."""

import json
from pathlib import Path
from typing import BinaryIO

from tasks.contract import HubSet
from tasks.data.transfer import Progress, UnavailableError, UnreachableError, reach


def write(hub_set: HubSet, progress: Progress, stream: BinaryIO) -> None:
    """Load a set from the hub and write its columns to `stream`, from the start, as JSON lines.

    The same rows give the same bytes, whatever format the hub keeps them in. While the library
    loads the set, it shows its own progress; `progress` is called at the end.

    Raises:
        UnreachableError: The hub is not reached.
        UnavailableError: The hub does not give the set, or the set lacks a column.
    """
    # Slow to import, and no other command needs it.
    from datasets import config, load_dataset  # noqa: PLC0415
    from datasets.exceptions import DatasetGenerationError  # noqa: PLC0415

    if not Path(hub_set.repository).is_dir():
        reach(config.HF_ENDPOINT)  # where it cannot be reached, the library tries for long
    try:
        rows = load_dataset(
            hub_set.repository,
            hub_set.configuration,
            split=hub_set.split,
            revision=hub_set.revision,
        ).select_columns(list(hub_set.columns))
    except ConnectionError as error:
        raise UnreachableError(str(error)) from error
    except (OSError, ValueError, DatasetGenerationError) as error:
        raise UnavailableError(str(error)) from error
    stream.truncate(0)
    for row in rows:
        fields = {column: row[column] for column in hub_set.columns}
        stream.write(f"{json.dumps(fields)}\n".encode())
    progress(stream.tell(), stream.tell())
