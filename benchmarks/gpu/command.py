"""`python -m benchmarks gpu [PART ...]`: measure on a GPU what is left, and write the page."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import torch

from benchmarks.gpu import machine, missing_card, real_shape, repeatability, suite, tiny, two_slots
from benchmarks.gpu.kept import Kept
from benchmarks.gpu.page import page, state
from benchmarks.gpu.part import Part, go_on
from benchmarks.gpu.process import ROOT
from harness.errors import unknown

RESULTS = Path(__file__).parent / "results"

Parts = Callable[[Path], Mapping[str, Part]]


def parts(folder: Path) -> dict[str, Part]:
    """Describe all parts; what they run is kept below `folder`."""
    return {
        "missing-card": missing_card.part(folder / "missing-card"),
        "suite": suite.part(folder / "suite"),
        "tiny": tiny.part(folder / "tiny"),
        "repeatability": repeatability.part(folder / "repeatability"),
        "two-slots": two_slots.part(folder / "two-slots"),
        "real-shape": real_shape.part(),
    }


def main(names: Sequence[str]) -> int:
    """Measure these parts, or all, on the GPU of this machine; return the exit status."""
    if not torch.cuda.is_available():
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "not set")
        print(
            f"error: `make gpu` needs a GPU, and torch {torch.__version__} sees none "
            f"(CUDA_VISIBLE_DEVICES: {visible}).",
            file=sys.stderr,
        )
        return 2
    return measure(names, parts, RESULTS, ROOT / machine.PAGE)


def measure(names: Sequence[str], known: Parts, results: Path, place: Path) -> int:
    """Go on with parts, and write the page of all after each.

    Args:
        names: Of the parts; all if empty.
        known: Gives the parts by name, with a folder for what they run.
        results: Where figures are kept, so that the next call goes on.
        place: Of the page.

    Returns:
        2 for a name that is no part's; 1 if something is left, or came not as expected; else 0.
    """
    here = machine.describe()
    # What was run with other code or on another card must not be taken for what runs here.
    of_here = sha256(json.dumps(here).encode()).hexdigest()[:8]
    found = known(results / "runs" / of_here)
    if faults := [unknown("part", name, list(found)) for name in names if name not in found]:
        print(f"error: {faults[0]}", file=sys.stderr)
        return 2
    kept = {name: Kept(results / f"{name}.json") for name in found}
    for name in names or found:
        kept[name] = Kept(results / f"{name}.json", here)
        go_on(found[name], kept[name])
        place.write_text(page(found, kept), encoding="utf-8")
        print(f"{name}: {state(kept[name])}", flush=True)
    left = {name: kept[name].left() for name in names or found if kept[name].left()}
    for name, items in left.items():
        print(f"left of {name}: {', '.join(items)}")
    if left:
        print("The same command goes on with what is left.")
    return 1 if left else 0
