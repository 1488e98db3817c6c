"""The clock that stands still while the process is stopped."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

from harness.worker.clock import STOPPED, TICK, Clock

LOOK = """
import time
from harness.worker.clock import Clock

with Clock() as clock:
    begun, worked = time.perf_counter(), clock.seconds()
    print("ready", flush=True)
    input()
    print(time.perf_counter() - begun, clock.seconds() - worked)
"""


def test_time_without_a_look_at_it_is_time_in_which_the_process_was_stopped() -> None:
    now = 100.0
    clock = Clock(lambda: now)
    begun = clock.seconds()
    for _ in range(8):
        now += TICK
        clock.seconds()
    assert clock.seconds() - begun == 8 * TICK
    now += 3600.0
    assert clock.seconds() - begun == 8 * TICK
    now += STOPPED / 2
    assert clock.seconds() - begun == 8 * TICK + STOPPED / 2


def test_a_process_that_is_stopped_for_a_while_did_not_work_in_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LOOK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        os.kill(process.pid, signal.SIGSTOP)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOPPED + 1)
        os.kill(process.pid, signal.SIGCONT)
        process.stdin.write("\n")
        process.stdin.flush()
        passed, worked = map(float, process.stdout.readline().split())
    assert passed - worked > STOPPED
