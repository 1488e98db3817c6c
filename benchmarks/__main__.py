"""Measure the speed targets on this machine and print them as Markdown: `make bench`.

Figures that compare are ratios within this one run, since seconds differ between machines.
`python -m benchmarks methods` measures one part: a key of `PARTS`.
`python -m benchmarks gpu` is another set, for a machine with a GPU: `make gpu`.
`python -m benchmarks validity` measures no speed: how often tests are wrong, and intervals right.
`python -m benchmarks packed-scores FOLDER` neither: whether packed training moves scores.
`python -m benchmarks chaos FOLDER` neither: what a grid survives, `make chaos`.
"""

import sys

from benchmarks import (
    cascade,
    counting,
    decoding,
    extraction,
    kept,
    leaderboard,
    main_job,
    memory,
    methods,
    moved_tokens,
    options,
    overhead,
    packed_scores,
    packing,
    reading,
    starting,
    static_build,
    statistics,
    steps,
    store,
)
from benchmarks.chaos import campaign
from benchmarks.gpu import command
from benchmarks.validity import page

PARTS = {
    "methods": methods.report,
    "memory": memory.report,
    "kept": kept.report,
    "cascade": cascade.report,
    "decoding": decoding.report,
    "moved-tokens": moved_tokens.report,
    "options": options.report,
    "steps": steps.report,
    "main-job": main_job.report,
    "overhead": overhead.report,
    "packing": packing.report,
    "reading": reading.report,
    "store": store.report,
    "statistics": statistics.report,
    "counting": counting.report,
    "extraction": extraction.report,
    "leaderboard": leaderboard.report,
    "static-build": static_build.report,
    "starting": starting.report,
}

if sys.argv[1:2] == ["gpu"]:
    sys.exit(command.main(sys.argv[2:]))
if sys.argv[1:2] == ["chaos"]:
    sys.exit(campaign.main(sys.argv[2:]))
if sys.argv[1:2] == ["packed-scores"]:
    sys.exit(packed_scores.report(*sys.argv[2:]))
if sys.argv[1:] == ["validity"]:
    sys.exit(page.report())
for name in sys.argv[1:] or PARTS:
    PARTS[name]()
