"""Commands that make runs, and those that look at them one by one."""

from contextlib import nullcontext
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options


class Quantize(Enum):
    """The choices of `--quantize`, as `harness.spec.spec.Quantization` has them."""

    nf4 = "nf4"
    int8 = "int8"


class Products(Enum):
    """The choices of `--float32-matmul`, as `harness.spec.spec.Products` has them."""

    highest = "highest"
    high = "high"
    medium = "medium"


class Checkpointing(Enum):
    """The choices of `--checkpointing`, as `harness.spec.planned.Memory` has them."""

    auto = "auto"
    on = "on"
    off = "off"


def run(
    methods: Annotated[
        str, typer.Option(help=r'Such as "dypam,lora\[r=64,train.lr=2e-4|1e-3]", or "all".')
    ],
    tasks: Annotated[
        str,
        typer.Option(
            help="Groups and benchmarks; each group trains runs of its own. A benchmark of two "
            "groups runs in the first by name."
        ),
    ],
    backbones: Annotated[
        str, typer.Option(help="`tiny`, folders, hub repositories; or NAME=PATH.")
    ] = "tiny",
    seeds: Annotated[
        str, typer.Option(help="How many of the papers' five seeds, or a list such as 7,8.")
    ] = "1",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A field of recipe, batch plan, protocol or memory: train.lr=5e-4."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Rows per benchmark.")] = None,
    train_limit: Annotated[int | None, typer.Option(help="Training rows, 20 at least.")] = None,
    data: options.DataFolder = None,
    protocol: Annotated[str, typer.Option(help="paper, llm-adapters, hycam or chat.")] = "paper",
    train_data: options.TrainData = None,
    store: options.StorePlace = "harness.db",
    root: options.RunsRoot = Path("runs"),
    slots: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time: GPUs, or shares of the cores.")
    ] = None,
    per_gpu: Annotated[
        int, typer.Option("--per-gpu", min=1, help="Runs at a time on one GPU.")
    ] = 1,
    executor: Annotated[str, typer.Option(help="Where runs run: local, or a plugin.")] = "local",
    quantize: Annotated[
        Quantize | None,
        typer.Option(
            help="Store the frozen weights in 4 or 8 bits by bitsandbytes (experimental: run "
            "on a CPU, not yet on a GPU)."
        ),
    ] = None,
    float32_matmul: Annotated[
        Products,
        typer.Option(
            help="How a GPU multiplies float32 matrices, such as those of adapters: `high` takes "
            "TF32. Part of the run id."
        ),
    ] = Products.highest,
    checkpointing: Annotated[
        Checkpointing | None,
        typer.Option(
            help="Less memory for more time: computes activations again in the backward pass. "
            "`auto`, the default, is on where a run fits on the GPU only so."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list the runs, and the memory that each needs.")
    ] = False,
) -> None:
    """Fine-tune and evaluate every method on every backbone and seed, then print the table.

    Runs that are in the store already are not run again. No GPU has run them yet: that path is
    checked by reading, and by bfloat16 on a CPU only.
    """
    from harness.commands.started import Share, started
    from harness.imports import many
    from harness.planning.request import Request

    request = Request(
        methods=methods,
        tasks=tasks,
        backbones=backbones,
        seeds=seeds,
        settings=[*(settings or []), *_checkpointing(checkpointing)],
        limit=limit,
        train_limit=train_limit,
        data=data,
        protocol=protocol,
        train_data=train_data,
        quantize=quantize.value if quantize else None,
        float32_matmul=float32_matmul.value,
    )
    share = Share(slots, per_gpu)
    with nullcontext() if dry_run else started(request, executor, share) as opened:
        with many():
            from harness.commands import run as command
        if opened is None:
            typer.echo(command.preview(request, store, executor, share))
        else:
            raise typer.Exit(command.run(request, store, root, opened, share))


def _checkpointing(chosen: Checkpointing | None) -> list[str]:
    return [f"memory.gradient_checkpointing={chosen.value}"] if chosen else []


def show(
    run: options.RunName,
    in_full: Annotated[
        bool, typer.Option("--all", help="All that is stored: spec, environment, every score.")
    ] = False,
    store: options.StorePlace = "harness.db",
    as_json: options.AsJson = False,
) -> None:
    """Show one run on one screen, or in full."""
    from harness.commands.one_run.show import show as command

    options.show(command(store, run, in_full=in_full), as_json)


def rescore(
    store: options.StorePlace = "harness.db", root: options.RunsRoot = Path("runs")
) -> None:
    """Rescore stored generations with the current extractors and metrics."""
    from harness.commands.store import rescore as command

    options.show(command(store, root), as_json=False)


def reindex(
    store: options.StorePlace = "harness.db", root: options.RunsRoot = Path("runs")
) -> None:
    """Rebuild the store from the run folders."""
    from harness.commands.store import reindex as command

    options.show(command(store, root), as_json=False)
