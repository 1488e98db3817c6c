"""A Slurm cluster of one node on this machine: munged, slurmctld and slurmd, by Debian."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, gethostname, socket

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch")

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket,cred_expire=5
SlurmctldPort={control}
SlurmdPort={node}
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
MpiDefault=none
KillWait=5
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=8000
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=urgent Nodes={host} MaxTime=INFINITE State=UP PriorityTier=2
"""


def missing() -> list[str]:
    """List the programs that are not installed."""
    return [name for name in PROGRAMS if not shutil.which(name)]


@contextmanager
def cluster(place: Path) -> Iterator[Mapping[str, str]]:
    """Start a cluster; give the variables by which Slurm's programs find it."""
    host = gethostname().split(".")[0]
    for name in ("state", "spool"):
        (place / name).mkdir()
    configuration = place / "slurm.conf"
    control, node = free_ports()
    configuration.write_text(
        CONFIGURATION.format(host=host, place=place, control=control, node=node)
    )
    key = place / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    munge = [f"--{name}={place}/munge.{end}" for name, end in MUNGE.items()]
    found = {"SLURM_CONF": os.fspath(configuration)}
    commands = (
        ["munged", "--foreground", "--force", f"--key-file={key}", *munge],
        ["slurmctld", "-D", "-f", os.fspath(configuration)],
        ["slurmd", "-D", "-f", os.fspath(configuration)],
    )
    with (place / "output.txt").open("w") as output:
        started = [start(command, output, found) for command in commands]
        try:
            until_idle(found)
            yield found
        finally:
            ask("scancel", "--me", found=found)
            for process in reversed(started):
                process.send_signal(signal.SIGTERM)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(20)
                process.kill()


MUNGE = {"socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}


def start(command: list[str], output: object, found: Mapping[str, str]) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        command, stdout=output, stderr=output, env={**os.environ, **found}, text=True
    )
    time.sleep(1)
    return process


def ask(*command: str, found: Mapping[str, str]) -> str:
    told = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **found}
    )
    return told.stdout.strip()


def free_ports() -> tuple[int, int]:
    with socket(AF_INET, SOCK_STREAM) as one, socket(AF_INET, SOCK_STREAM) as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def until_idle(found: Mapping[str, str]) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if ask("sinfo", "--noheader", "--format=%T", found=found) == "idle":
            return
        time.sleep(0.5)
    raise TimeoutError("the node of the cluster did not come up")
