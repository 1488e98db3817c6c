"""What `harness run` was asked for, in the user's own words."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from harness import protocols
from harness.gpus import Device
from harness.planning.grid_file import COMMAND_LINE, Origin
from harness.spec.planned import CHECKPOINT_MINUTES, Track
from harness.spec.spec import Products, Quantization


@dataclass(frozen=True, kw_only=True)
class Request:
    """The options of `harness run` as they were typed.

    Attributes:
        methods: Such as "dypam,lora[r=64,train.lr=2e-4]", or "all".
        tasks: Groups and benchmarks.
        backbones: `tiny`, folders, hub repositories.
        seeds: How many, or which.
        settings: Assignments such as "train.lr=5e-4".
        limit: Rows per benchmark.
        train_limit: Training rows.
        data: Folder of the real data; samples without it.
        protocol: The name of a protocol.
        train_data: A training file instead of each group's own.
        quantize: How the frozen weights are stored; in full precision if None.
        float32_matmul: How a GPU multiplies float32 matrices.
        checkpoint_minutes: From one checkpoint of a training to the next.
        track: The tracker that is told losses and scores.
        gpus_per_run: GPUs of one run, each with a process; with a device map one process has all.
        device: What runs are planned for; None for what this machine has.
        origin: Where these words stand, for messages.
    """

    methods: str
    tasks: str
    backbones: str = "tiny"
    seeds: str = "1"
    settings: Sequence[str] = ()
    limit: int | None = None
    train_limit: int | None = None
    data: Path | None = None
    protocol: str = protocols.DEFAULT
    train_data: Path | None = None
    quantize: Quantization | None = None
    float32_matmul: Products = "highest"
    checkpoint_minutes: float = CHECKPOINT_MINUTES
    track: Track | None = None
    gpus_per_run: int = 1
    device: Device | None = None
    origin: Origin = field(default=COMMAND_LINE, compare=False)

    @property
    def command(self) -> tuple[str, ...]:
        """The words of a command line that asks for the same.

        A grid file is written out, since it may change. Store, run folders and executor are left
        out: they change no number, and the address of a store may hold a password. A field is the
        option of its name; those at their default are left out too.

        >>> Request(methods="lora", tasks="math", settings=["train.lr=5e-4"], limit=3).command[2:]
        ('--methods', 'lora', '--tasks', 'math', '--set', 'train.lr=5e-4', '--limit', '3')
        """
        words = ["harness", "run"]
        for one in fields(self):
            value = getattr(self, one.name)
            if value == one.default or not one.compare:
                continue
            name = "set" if one.name == "settings" else one.name.replace("_", "-")
            values = [value] if isinstance(value, str | Path | int | float) else value
            words += [word for part in values for word in (f"--{name}", str(part))]
        return tuple(words)
