"""A process that runs planned runs by stand-in workers: `python -m ... PLANNED STORE ROOT`."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from harness.scheduling.executors.conformance.stand_in import COMMAND
from harness.scheduling.executors.local import LocalExecutor
from harness.scheduling.schedule import run
from harness.scheduling.slots import Slot
from harness.spec.planned import PlannedRun
from results.store import Store

if __name__ == "__main__":
    planned_file, store, root = sys.argv[1:]
    planned = [PlannedRun.model_validate(one) for one in json.loads(Path(planned_file).read_text())]
    with LocalExecutor([Slot(threads=1)] * 2, COMMAND) as executor:
        print("ready", flush=True)
        found = run(planned, Store(store), Path(root), executor)
    print(json.dumps(asdict(found)), flush=True)
