"""From a request to planned runs, in four steps: parse, resolve, check, expand."""

from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Literal

import torch

from harness import plugins
from harness.planning.checks import Adjustments, check
from harness.planning.faults import Faults
from harness.planning.footprint.cards import Card
from harness.planning.footprint.fit import fitted
from harness.planning.footprint.need import Texts, longest
from harness.planning.footprint.parameters import counting
from harness.planning.parse import Parsed, parse
from harness.planning.request import Request
from harness.planning.resolve import Resolved, ResolvedMethod, ResolvedTasks, resolve
from harness.plugins.source import task_source, texts
from harness.spec.planned import Located, PlannedRun, PluginFile, Provenance
from harness.spec.recipe import Recipe
from harness.spec.spec import Data, Precision, Seeds, Spec
from tasks.data.sets import DataSet


def plan(request: Request, cards: Sequence[Card] | None = None) -> list[PlannedRun]:
    """Plan the runs of a request, without running or writing anything.

    Args:
        request: What was asked for.
        cards: The GPUs that the runs are to fit on, if any; without, their need is not worked out.

    Raises:
        UserError: With all faults of the request; then with all runs that do not fit.
    """
    faults = Faults()
    with counting():
        parsed = parse(request, faults)
        resolved = resolve(parsed, request, faults)
        adjustments = check(resolved, request, faults)
        faults.raise_if_any()
        runs = expand(parsed, resolved, adjustments, request)
    return runs if cards is None else fitted(runs, _texts(resolved.tasks), cards)


def expand(
    parsed: Parsed, resolved: Resolved, adjustments: Adjustments, request: Request
) -> list[PlannedRun]:
    """Multiply groups, methods, backbones, folds and seeds out; equal specs become one run.

    Seeds are outermost: an interrupted grid is still a fair comparison. A method without training
    has one run for all seeds.
    """
    runs = [
        run
        for tasks in resolved.tasks
        for run in _of_group(tasks, parsed.seeds, resolved.places, adjustments, request)
    ]
    return sorted(runs, key=lambda run: parsed.seeds.index(run.spec.seeds.init))


def _of_group(
    tasks: ResolvedTasks,
    seeds: Sequence[int],
    places: Sequence[Located],
    adjustments: Adjustments,
    request: Request,
) -> list[PlannedRun]:
    """Multiply the runs of one group out."""
    assert tasks.settings
    assert tasks.train
    settings, train = tasks.settings, _described(tasks.train)
    tests = {name: _described(test) for name, test in tasks.tests.items()}
    sources = task_sources(tasks.group, tasks.tests)
    benchmark_files = own_files("tasks", tasks.tests)
    own = {method.spec.name: own_files("methods", [method.spec.name]) for method in tasks.methods}
    provenance = [_provenance(method, tasks, request) for method in tasks.methods]
    methods = list(zip(tasks.methods, provenance, strict=True))
    folds = plugins.group(tasks.group).folds or None
    gpu, runs = torch.cuda.is_available(), {}
    every_fold = [None] if folds is None else range(folds)
    drawn = [Seeds(init=seed, order=seed, split=seed) for seed in seeds]
    for seed, fold, place, (method, chosen) in product(drawn, every_fold, places, methods):
        if seed != drawn[0] and not plugins.method(method.spec.name).trains:
            continue
        weights, adapter = _precision(method.recipe, gpu=gpu)
        spec = Spec(
            method=method.spec,
            backbone=place.backbone,
            group=tasks.group,
            train_data=train,
            tests=tests,
            fold=fold,
            limit=request.limit,
            train_limit=request.train_limit,
            train=method.recipe,
            generate=settings.batches,
            protocol=settings.protocol,
            weights=weights,
            adapter=adapter,
            seeds=seed,
            task_sources=sources,
            quantize=request.quantize,
            float32_matmul=request.float32_matmul,
        )
        runs[spec.run_id] = PlannedRun(
            spec=spec,
            backbone_place=place.place,
            backbone_name=place.name,
            data_folder=_absolute(request.data),
            train_file=_absolute(request.train_data),
            adjustments=adjustments[method.spec.label, place.place],
            memory=settings.memory,
            provenance=chosen,
            files=(*own[method.spec.name], *benchmark_files),
            gpu=gpu,
            folds=folds,
        )
    return list(runs.values())


def _provenance(method: ResolvedMethod, tasks: ResolvedTasks, request: Request) -> Provenance:
    titles = own_titles(method.spec.name, tasks.tests)
    return method.provenance.model_copy(update={"command": request.command, "titles": titles})


def _texts(every: Iterable[ResolvedTasks]) -> dict[str, Texts]:
    """Measure the longest texts of each group."""
    found = {}
    for tasks in every:
        assert tasks.settings
        assert tasks.train
        rows = [row for test in tasks.tests.values() for row in test.rows]
        found[tasks.group] = longest(tasks.train.rows, rows, tasks.settings.protocol)
    return found


def task_sources(group: str, benchmarks: Iterable[str]) -> dict[str, str]:
    """Hash the sources of the benchmarks, and of the group, that are no part of the harness."""
    named: list[tuple[plugins.Kind, str]] = [("tasks", name) for name in benchmarks]
    named += [("groups", group)]
    found = {f"{kind}/{name}": task_source(kind, name) for kind, name in named}
    return {name: source for name, source in found.items() if source}


def own_files(kind: Literal["methods", "tasks"], names: Iterable[str]) -> tuple[PluginFile, ...]:
    """Describe the plugins among some that the user gave by path."""
    return tuple(
        PluginFile(
            kind=kind,
            path=str(path),
            texts={str(one): digest for one, digest in texts(kind, name).items()},
        )
        for name in names
        if (path := plugins.named_file(kind, name))
    )


def own_titles(method: str, benchmarks: Iterable[str]) -> dict[str, str]:
    """Give the titles of the method and the benchmarks that the user gave by path."""
    found = {name: plugins.benchmark(name).title for name in _by_path("tasks", benchmarks)}
    return found | {name: plugins.method(name).title for name in _by_path("methods", [method])}


def _by_path(kind: plugins.Kind, names: Iterable[str]) -> list[str]:
    return [name for name in names if plugins.named_file(kind, name)]


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())


def _described(data: DataSet) -> Data:
    return Data(
        title=data.title,
        kind=data.kind,
        sha256=data.sha256,
        verified=data.verified,
        rows=len(data.rows),
    )


def _precision(recipe: Recipe, *, gpu: bool) -> tuple[Precision, Precision]:
    """Choose the precision of weights and adapter for this machine."""
    if not gpu:
        return "float32", "float32"
    # PEFT keeps adapters in float32; DeepSpeed's bfloat16 engine casts them.
    return "bfloat16", "bfloat16" if recipe.engine == "deepspeed" else "float32"
