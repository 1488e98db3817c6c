"""What `harness run` was asked for, in the user's own words."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import protocols
from harness.spec.spec import Quantization


@dataclass(frozen=True, kw_only=True)
class Request:
    """The options of `harness run` as they were typed.

    Attributes:
        methods: Such as "dypam,lora[r=64,train.lr=2e-4]", or "all".
        tasks: A group, or benchmarks of one group.
        backbones: `tiny`, folders, hub repositories.
        seeds: How many, or which.
        settings: Assignments such as "train.lr=5e-4".
        limit: Rows per benchmark.
        train_limit: Training rows.
        data: Folder of the real data; samples without it.
        protocol: The name of a protocol.
        train_data: A training file instead of the group's own.
        quantize: How the frozen weights are stored; in full precision if None.
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
