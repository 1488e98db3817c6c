"""What the command line does, for a notebook or a script: values in, values out.

    from harness import grid, table

    done = grid("lora,dypam", "math", seeds=2, limit=50, settings={"train.epochs": 1})
    done.failed                 # the reasons by run id; empty where all went well
    done.runs[0].scores         # the runs as they are stored
    done.table.frame()          # a data frame, a line per number
    print(table(store="harness.db", tasks="math").markdown())

A mistake is an exception with the message that the command line prints: a
`harness.errors.UserError`, or a `results.errors.ResultsError` where there is no such store.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness import protocols
from harness.commands import run as command
from harness.commands import table as stored
from harness.commands.started import started
from harness.planning.request import Request
from harness.plugins.titles import titles
from harness.scheduling.resources import Resources
from harness.scheduling.slots import take
from harness.spec.spec import Products, Quantization
from results.analysis.table import Table
from results.record import Run
from results.reports import formats
from results.reports.formats.csv import records
from results.reports.sheets.printing import Printing

Names = str | Sequence[str]
"""As on the command line, "lora,dypam", or one by one, ["lora", "dypam"]."""


@dataclass(frozen=True)
class Tables:
    """Comparison tables: the values, and the forms in which they can be had.

    Attributes:
        values: One for each set of comparable runs and each metric, the newest set first.
    """

    values: tuple[Table, ...]

    def frame(self) -> Any:
        """Give a line per number, shares in [0, 1]: a data frame, or dicts without pandas."""
        return _framed(records(self.values))

    def markdown(self) -> str:
        """Write the tables as `harness table` prints them."""
        return formats.render(self.values, "markdown")

    def latex(self) -> str:
        """Write the tables for a paper."""
        return formats.render(self.values, "latex", Printing(titles=titles(self.values)))

    def _repr_markdown_(self) -> str:
        """Show the tables where a notebook's cell ends in them."""
        return self.markdown()


@dataclass(frozen=True)
class Grid:
    """What became of the runs of a request.

    Attributes:
        runs: Those that are finished, now or before, in the order of the request.
        failed: Why runs failed, by their ids.
        table: The tables of these runs alone.
    """

    runs: tuple[Run, ...]
    failed: Mapping[str, str]
    table: Tables

    def frame(self) -> Any:
        """Give a line per score of each run: a data frame, or dicts without pandas."""
        return _framed([_who(run) | asdict(score) for run in self.runs for score in run.scores])

    def _repr_markdown_(self) -> str:
        """Show the table where a notebook's cell ends in a grid."""
        return self.table.markdown()


def grid(
    methods: Names,
    tasks: Names,
    *,
    backbones: Names = "tiny",
    seeds: int | Sequence[int] = 1,
    settings: Mapping[str, Any] | None = None,
    limit: int | None = None,
    train_limit: int | None = None,
    data: str | Path | None = None,
    protocol: str = protocols.DEFAULT,
    train_data: str | Path | None = None,
    quantize: Quantization | None = None,
    float32_matmul: Products = "highest",
    store: str | Path = "harness.db",
    runs: str | Path = "runs",
    slots: int | None = None,
    per_gpu: int = 1,
    gpus_per_run: int = 1,
    gpus: str | None = None,
    stall: float | None = None,
    executor: str = "local",
) -> Grid:
    """Fine-tune and evaluate every method on every backbone and seed, as `harness run` does.

    Runs that are in the store already are not run again.

    Args:
        methods: Such as "dypam,lora[r=64,train.lr=2e-4]", or "all".
        tasks: Groups and benchmarks; each group trains runs of its own.
        backbones: `tiny`, folders, hub repositories.
        seeds: How many of the papers' five seeds, or which seeds.
        settings: Fields of recipe, batch plan, protocol or memory, such as {"train.lr": 5e-4}.
        limit: Rows per benchmark.
        train_limit: Training rows.
        data: Folder of the real data; samples without it.
        protocol: The name of a protocol.
        train_data: A training file instead of each group's own.
        quantize: How the frozen weights are stored; in full precision if None.
        float32_matmul: How a GPU multiplies float32 matrices.
        store: Database: a file or a SQLAlchemy URL.
        runs: Folder of the run folders.
        slots: Runs at a time: GPUs, or shares of the cores.
        per_gpu: Runs at a time on one GPU.
        gpus_per_run: GPUs of one run, each with a process that trains.
        gpus: Only these, as CUDA_VISIBLE_DEVICES names them; this process sees no others then.
        stall: Ends a run that tells nothing new for so many seconds.
        executor: Where runs run: local, or a plugin.

    Raises:
        UserError: The request is wrong; the message has all faults. A run that fails raises
            nothing: its reason stands in `failed`.
    """
    request = Request(
        methods=_listed(methods),
        tasks=_listed(tasks),
        backbones=_listed(backbones),
        seeds=_seeds(seeds),
        settings=[f"{name}={json.dumps(value)}" for name, value in (settings or {}).items()],
        limit=limit,
        train_limit=train_limit,
        data=_path(data),
        protocol=protocol,
        train_data=_path(train_data),
        quantize=quantize,
        float32_matmul=float32_matmul,
        gpus_per_run=gpus_per_run,
    )
    if gpus is not None:
        take(gpus)
    resources = Resources(slots, per_gpu, gpus_per_run)
    with started(executor, resources, stall=stall) as opened:
        done = command.carry_out(request, str(store), Path(runs), opened)
    return Grid(done.finished, done.failed, Tables(tuple(done.tables)))


def table(
    store: str | Path = "harness.db",
    tasks: Names | None = None,
    *,
    clean: bool = False,
    own_recipes: bool = False,
    choose: str | None = None,
) -> Tables:
    """Make the tables of all finished runs of a store, as `harness table` does.

    Args:
        store: Database: a file or a SQLAlchemy URL.
        tasks: Only these groups and benchmarks.
        clean: Also average over the test rows that are not in the training set.
        own_recipes: Compare methods that were trained by recipes of their own.
        choose: "validation" keeps of each method the recipe of the lowest validation loss.

    Raises:
        UserError: No finished run is stored, or there is no such choice.
        ResultsError: There is no such store.
    """
    names = None if tasks is None else _listed(tasks)
    found = stored.of_finished(
        str(store), names, clean=clean, own_recipes=own_recipes, choose=choose
    )
    return Tables(tuple(found))


def _listed(names: Names) -> str:
    return names if isinstance(names, str) else ",".join(names)


def _seeds(seeds: int | Sequence[int]) -> str:
    """Write seeds as the command line takes them: `2` is how many, `7,` is the seed 7."""
    return str(seeds) if isinstance(seeds, int) else "".join(f"{seed}," for seed in seeds)


def _path(place: str | Path | None) -> Path | None:
    return None if place is None else Path(place)


def _who(run: Run) -> dict[str, Any]:
    named = ("run_id", "group", "method", "backbone", "seed", "fold", "protocol")
    return {name: getattr(run, name) for name in named}


def _framed(rows: list[dict[str, Any]]) -> Any:
    if not find_spec("pandas"):
        return rows
    import pandas as pd

    return pd.DataFrame(rows)
