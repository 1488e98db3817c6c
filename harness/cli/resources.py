"""Options that say where runs run and what they take there."""

from enum import Enum
from typing import Annotated

import typer

from harness.cli import options


class Device(Enum):
    """The choices of `--device`, as `harness.gpus.Device` has them."""

    cpu = "cpu"
    gpu = "gpu"


Slots = Annotated[
    int | None, typer.Option(min=1, help="Runs at a time: GPUs, or shares of the cores.")
]
PerGpu = Annotated[int, typer.Option("--per-gpu", min=1, help="Runs at a time on one GPU.")]
CpusPerRun = Annotated[
    int | None,
    typer.Option(
        "--cpus-per-run",
        min=1,
        help="Cores of one run: an equal share of this machine, or one of a cluster, by default.",
    ),
]
Executor = Annotated[str, typer.Option(help="Where runs run: local, ray, slurm, or a plugin.")]
Address = Annotated[
    str | None, typer.Option(help="Of the Ray cluster; RAY_ADDRESS or the one of this machine.")
]
Partition = Annotated[str | None, typer.Option(help="Of Slurm.")]
Account = Annotated[str | None, typer.Option(help="Of Slurm.")]
Time = Annotated[
    float | None,
    typer.Option(
        parser=options.seconds,
        metavar="TIME",
        help="Limit of a Slurm job, 4h by default; a run that it cuts goes on in another job.",
    ),
]


def of_executor(
    address: str | None, partition: str | None, account: str | None, time: float | None
) -> dict[str, object]:
    """Gather the options that were given for one sort of executor, times in whole minutes."""
    minutes = None if time is None else max(1, round(time / 60))
    given = {"address": address, "partition": partition, "account": account, "time": minutes}
    return {name: value for name, value in given.items() if value is not None}
