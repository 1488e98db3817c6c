"""Commands that make runs, and those that look at them one by one."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import grid_file, options, resources
from harness.printed import say


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


class Track(Enum):
    """The choices of `--track`, as `harness.spec.planned.Track` has them."""

    tensorboard = "tensorboard"
    wandb = "wandb"
    mlflow = "mlflow"


def run(
    context: typer.Context,
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
    slots: resources.Slots = None,
    per_gpu: resources.PerGpu = 1,
    gpus_per_run: Annotated[
        int,
        typer.Option(
            "--gpus-per-run",
            min=1,
            help="GPUs of one run, each with a process that trains; on a CPU so many processes. "
            "Part of the run id. With memory.device_map, one process has them all.",
        ),
    ] = 1,
    cpus_per_run: resources.CpusPerRun = None,
    gpus: Annotated[
        str | None,
        typer.Option(help="Only these, as CUDA_VISIBLE_DEVICES names them: 0,1 or UUIDs."),
    ] = None,
    device: Annotated[
        resources.Device | None,
        typer.Option(
            help="What runs are planned for: by default what this machine has; on a cluster, say "
            "what its nodes have. Part of the run id."
        ),
    ] = None,
    stall: Annotated[
        float | None,
        typer.Option(
            parser=options.seconds,
            metavar="TIME",
            help="End a run that tells nothing new for so long, such as 30m or 2h. Without it, "
            "none: a first run may compile or download for hours.",
        ),
    ] = None,
    executor: resources.Executor = "local",
    address: resources.Address = None,
    partition: resources.Partition = None,
    account: resources.Account = None,
    time: resources.Time = None,
    retries: Annotated[
        int,
        typer.Option(
            min=0,
            help="How often a run is started again whose process vanished or stalled. Two: one "
            "that vanishes three times is more likely the cause of it than unlucky.",
        ),
    ] = 2,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Start nothing more once a run has failed.")
    ] = False,
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
    checkpoint_minutes: Annotated[
        float,
        typer.Option(
            min=0,
            help="Minutes between two checkpoints of a training, from which it goes on after it "
            "was cut; 0 for one after each step.",
        ),
    ] = 10,
    track: Annotated[
        Track | None,
        typer.Option(
            help="Tell a tracker the losses, the learning rate and the scores. Its package is "
            "yours to install; one that fails ends no run."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Only list the runs: which are done, and what the others take.",
        ),
    ] = False,
    grid: grid_file.GridFile = None,
) -> None:
    """Fine-tune and evaluate every method on every backbone and seed, then print the table.

    Runs that are in the store already are not run again. No GPU has run them yet: that path is
    checked by reading, and by bfloat16 on a CPU only.
    """
    from harness.commands.leaving import Leaving

    leaving = context.with_resource(Leaving())

    from harness.commands.started import started
    from harness.planning.request import Request
    from harness.scheduling.resources import Resources
    from harness.scheduling.slots import hide, take

    origin, assigned = grid_file.taken(context, settings or [])
    request = Request(
        methods=methods,
        tasks=tasks,
        backbones=backbones,
        seeds=seeds,
        settings=[*assigned, *_checkpointing(checkpointing)],
        limit=limit,
        train_limit=train_limit,
        data=data,
        protocol=protocol,
        train_data=train_data,
        quantize=quantize.value if quantize else None,
        float32_matmul=float32_matmul.value,
        checkpoint_minutes=checkpoint_minutes,
        track=track.value if track else None,
        gpus_per_run=gpus_per_run,
        device=device.value if device else None,
        origin=origin,
    )
    if gpus is not None:
        take(gpus)
    if device is resources.Device.cpu:
        hide()
    takes = Resources(slots, per_gpu, gpus_per_run, cpus_per_run, request.device)
    own = resources.of_executor(address, partition, account, time)
    with started(executor, takes, leaving, stall, own) as opened:
        if dry_run:
            from harness.commands.preview import preview

            say(preview(request, store, root, opened))
        else:
            from harness.commands import run as command
            from harness.scheduling.policy import Policy

            policy = Policy(retries, fail_fast)
            raise typer.Exit(command.run(request, store, root, opened, leaving, policy))


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
    from harness.commands.rescore import rescore as command

    options.show(command(store, root), as_json=False)


def reindex(
    store: options.StorePlace = "harness.db", root: options.RunsRoot = Path("runs")
) -> None:
    """Rebuild the store from the run folders."""
    from harness.commands.reindex import reindex as command

    options.show(command(store, root), as_json=False)
