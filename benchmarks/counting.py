"""What it costs to count all methods on each backbone of the papers, in a fresh process each."""

import json

from benchmarks.reading import load, timed
from harness.planning.footprint.parameters import SHAPES


def report() -> None:
    """Print the seconds of `harness methods --backbone`, and the CPU time of it."""
    print(f"`harness methods --backbone SHAPE`, {load()}:\n")
    print("| shape | seconds | CPU seconds |\n| :--- | ---: | ---: |")
    for shape in json.loads(SHAPES.read_text()):
        wall, cpu = timed(f"methods --backbone {shape}", ".")
        print(f"| `{shape}` | {wall:.1f} | {cpu:.1f} |")
