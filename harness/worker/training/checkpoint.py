"""Checkpoints of a training: what it goes on from, to the bit, after it was cut.

One is a folder named after its step. `tensors.safetensors` holds tensors, `values.json` all else,
and `sha256.json` the hashes of both, with the number of their format. It is written beside, brought
to the disk, and renamed, so that it is whole or not there; one that is damaged, or that another
version of the harness wrote in another format, is set aside.

Where several ranks train, these files are of rank 0, and `rank1` and so on hold the same three of
what another rank has of its own.
"""

import json
import os
import random
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from harness.worker.ranks import ALONE, Rank

State = Mapping[str, Any]
"""Tensors and JSON values, and lists and objects of them, by name."""

TENSORS, VALUES, HASHES = "tensors.safetensors", "values.json", "sha256.json"
PLACE = "number of the tensor"
"""The only key of an object that stands in the values for a tensor."""

FORMAT = 1
"""Raised when the state of a training (`Course.state`) holds something else, or elsewhere."""

KEPT = 2
"""The newest, and the one before for when that is damaged."""


class Checkpoints:
    """The newest checkpoints of a training, below a folder.

    Args:
        folder: Of all of them; it need not be there.
        minutes: From one to the next; 0 for one after each step.
        rank: Which of the processes of the training this one is. They write and read together.
    """

    def __init__(self, folder: Path, minutes: float, rank: Rank = ALONE) -> None:
        self.folder, self.minutes, self.rank = folder, minutes, rank
        self._written = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether it is time for the next one."""
        return time.monotonic() - self._written >= 60 * self.minutes

    def write(self, step: int, state: State) -> None:
        """Write the state after a step; drop all but the newest two.

        Where the disk takes none, that is printed, and the training goes on without it.

        Args:
            step: The last one that was taken.
            state: Of rank 0 all of it; of another one what it has of its own instead.
        """
        part = self._part(self.rank.number)
        shutil.rmtree(part, ignore_errors=True)
        try:
            _write(part, state)
        except (OSError, SafetensorError) as error:
            print(f"No checkpoint could be written after step {step}: {error}")
            shutil.rmtree(part, ignore_errors=True)
        self.rank.wait()
        if self.rank.number == 0:
            self._put_together(step)
        self.rank.wait()
        self._written = time.monotonic()

    def newest(self) -> tuple[int, State] | None:
        """Read the newest one that is whole; set aside, and name, each that is not.

        Returns:
            Step and state, its tensors on the CPU; None if there is none.
        """
        step = self.rank.told(0 if self.rank.number else self._newest_whole())
        if not step:
            return None
        place = self.folder / str(step)
        own = _read(_of(self.rank.number, place)) if self.rank.number else {}
        return step, {**_read(place), **own}

    def clear(self) -> None:
        """Remove all of them: the training is over, and its adapter is saved."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _put_together(self, step: int) -> None:
        """Make a checkpoint of what the ranks wrote, where all of them could."""
        parts = [self._part(number) for number in range(self.rank.of)]
        try:
            if all(part.is_dir() for part in parts):
                for number, part in enumerate(parts[1:], 1):
                    part.rename(_of(number, parts[0]))
                _sync(parts[0])
                parts[0].rename(self.folder / str(step))
                _sync(self.folder)
        except OSError as error:
            print(f"No checkpoint could be written after step {step}: {error}")
        for part in parts:
            shutil.rmtree(part, ignore_errors=True)
        for place in self._places()[KEPT:]:
            self._drop(place)

    def _part(self, number: int) -> Path:
        """Name the folder in which a rank writes."""
        return self.folder / (f"rank{number}.partial" if number else "new.partial")

    def _newest_whole(self) -> int:
        """Find the step of the newest one that is whole, or 0."""
        for place in self._places():
            try:
                for number in range(self.rank.of):
                    _check(_of(number, place))
            except (OSError, ValueError) as error:
                aside = place.with_name(f"{place.name}.damaged")
                shutil.rmtree(aside, ignore_errors=True)
                place.rename(aside)
                print(f"The checkpoint {place} cannot be used: {error}. It is now {aside.name}.")
            else:
                return int(place.name)
        return 0

    def _places(self) -> list[Path]:
        """List the folders of whole checkpoints, the newest first."""
        found = [place for place in self.folder.glob("*") if place.name.isdecimal()]
        return sorted(found, key=lambda place: -int(place.name))

    def _drop(self, place: Path) -> None:
        """Remove one; what a kill leaves of it must not pass for a checkpoint.

        A disk that does not let it go, as NFS while a file is open, keeps it until the next time.
        """
        dropped = self.folder / "old.partial"
        shutil.rmtree(dropped, ignore_errors=True)
        with suppress(OSError):
            shutil.rmtree(place.rename(dropped))


def randomness() -> dict[str, Any]:
    """Return the states of what draws random numbers, of torch and of Python."""
    version, numbers, spare = random.getstate()
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "python": [version, list(numbers), spare],
    }


def restore_randomness(state: State) -> None:
    """Draw on from what `randomness` returned."""
    version, numbers, spare = state["python"]
    random.setstate((version, tuple(numbers), spare))
    torch.set_rng_state(state["torch"])
    # Another machine may have more GPUs, or fewer.
    for gpu, one in zip(range(torch.cuda.device_count()), state["cuda"], strict=False):
        torch.cuda.set_rng_state(one, gpu)


def _write(folder: Path, state: State) -> None:
    """Write the files of a checkpoint, and see to it that they are on the disk."""
    folder.mkdir(parents=True)
    tensors: list[Tensor] = []
    values = _without_tensors(state, tensors)
    save_file({str(number): one for number, one in enumerate(tensors)}, folder / TENSORS)
    (folder / VALUES).write_text(json.dumps(values))
    (folder / HASHES).write_text(json.dumps({"format": FORMAT, **_hashes(folder)}))
    for name in (TENSORS, VALUES, HASHES):
        _sync(folder / name)
    _sync(folder)


def _of(number: int, place: Path) -> Path:
    """Say where in a checkpoint the files of a rank are."""
    return place / f"rank{number}" if number else place


def _check(folder: Path) -> None:
    """Go on only with the files that were written.

    Raises:
        OSError: One is missing, or no file: to open a FIFO would never return.
        ValueError: One is not what was written, or of another format.
    """
    if missing := [one for one in (TENSORS, VALUES, HASHES) if not (folder / one).is_file()]:
        raise FileNotFoundError(f"{' and '.join(missing)} is no file")
    noted = json.loads((folder / HASHES).read_text())
    if noted.get("format") != FORMAT:
        raise ValueError(
            f"another version of the harness wrote it, in another format than {FORMAT}"
        )
    if noted != {"format": FORMAT, **_hashes(folder)}:
        raise ValueError(f"{TENSORS} or {VALUES} is not as it was written")


def _read(folder: Path) -> State:
    values = json.loads((folder / VALUES).read_text())
    state: State = _with_tensors(values, load_file(folder / TENSORS))
    return state


def _hashes(folder: Path) -> dict[str, str]:
    found = {}
    for name in (TENSORS, VALUES):
        with (folder / name).open("rb") as file:
            found[name] = file_digest(file, "sha256").hexdigest()
    return found


def _without_tensors(value: Any, tensors: list[Tensor]) -> Any:
    """Copy a state with places instead of its tensors, which are added to the list."""
    if isinstance(value, Tensor):
        # A copy, also on the CPU: a file holds no two tensors of one storage.
        tensors.append(value.detach().to("cpu", copy=True).contiguous())
        return {PLACE: len(tensors) - 1}
    if isinstance(value, Mapping):
        return {name: _without_tensors(one, tensors) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_without_tensors(one, tensors) for one in value]
    return value


def _with_tensors(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    """Put tensors back in their places."""
    if isinstance(value, dict):
        if value.keys() == {PLACE}:
            return tensors[str(value[PLACE])]
        return {name: _with_tensors(one, tensors) for name, one in value.items()}
    if isinstance(value, list):
        return [_with_tensors(one, tensors) for one in value]
    return value


def _sync(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
