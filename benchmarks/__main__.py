"""Measure the speed targets on this machine and print them as Markdown: `make bench`.

Figures that compare are ratios within this one run, since seconds differ between machines.
`python -m benchmarks main-job` or `methods` measures one part.
"""

import sys

from benchmarks import main_job, methods

PARTS = {"methods": methods.report, "main-job": main_job.report}

for name in sys.argv[1:] or PARTS:
    PARTS[name]()
