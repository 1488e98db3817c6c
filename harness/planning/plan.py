"""From a request to planned runs, in four steps: parse, resolve, check, expand."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

from harness import gpus, plugins
from harness.planning.checks import Adjustments, check
from harness.planning.facts import Facts, MethodFacts
from harness.planning.faults import Faults
from harness.planning.footprint.cards import Card
from harness.planning.parse import Parsed, parse
from harness.planning.request import Request
from harness.planning.resolve import Resolved, ResolvedMethod, ResolvedTasks, resolve
from harness.plugins.source import task_source, texts
from harness.spec.planned import Located, PlannedRun, PluginFile, Provenance
from harness.spec.recipe import Recipe
from harness.spec.spec import Data, Precision, Seeds, Spec
from tasks.data.sets import DataSet


@dataclass(frozen=True)
class Draft:
    """The runs of a request, before their memory is worked out."""

    runs: list[PlannedRun]
    tasks: Sequence[ResolvedTasks]

    def fitted(self, cards: Sequence[Card], ended: Collection[str] = ()) -> list[PlannedRun]:
        """Work out what runs need, and fit them to cards; imports torch if there is one.

        Args:
            cards: The GPUs that the runs are to fit on, if any.
            ended: The ids of runs that are not to be run, and stay as they are.

        Raises:
            UserError: With all runs that do not fit.
        """
        new = [run for run in self.runs if run.spec.run_id not in ended]
        if not new:
            return self.runs
        from harness.planning.footprint.fit import fitted  # noqa: PLC0415 (start-up time)
        from harness.planning.footprint.need import longest  # noqa: PLC0415

        groups = {run.spec.group for run in new}
        texts = {one.group: longest(*one.texts) for one in self.tasks if one.group in groups}
        found = {run.spec.run_id: run for run in fitted(new, texts, cards)}
        return [found.get(run.spec.run_id, run) for run in self.runs]


def plan(request: Request, cards: Sequence[Card] | None = None) -> list[PlannedRun]:
    """Plan the runs of a request, without running or writing anything.

    Args:
        request: What was asked for.
        cards: The GPUs that the runs are to fit on, if any; without, their need is not worked out.

    Raises:
        UserError: With all faults of the request; then with all runs that do not fit.
    """
    found = draft(request)
    return found.runs if cards is None else found.fitted(cards)


def draft(request: Request, before: Callable[[], None] = lambda: None) -> Draft:
    """Plan the runs of a request, but for their memory.

    Args:
        request: What was asked for.
        before: Called once if the words can be read and torch has to be imported to go on.

    Raises:
        UserError: With all faults of the request.
    """
    faults = Faults(request.origin)
    parsed = parse(request, faults)
    facts = Facts(before) if not faults.found else Facts()
    resolved = resolve(parsed, request, facts, faults)
    adjustments = check(resolved, request, facts, faults)
    faults.raise_if_any()
    return Draft(expand(parsed, resolved, adjustments, request), resolved.tasks)


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
    gpu, runs = gpus.meant(request.device), {}
    every_fold = [None] if folds is None else range(folds)
    drawn = [Seeds(init=seed, order=seed, split=seed) for seed in seeds]
    for seed, fold, place, (method, chosen) in product(drawn, every_fold, places, methods):
        if seed != drawn[0] and not method.facts.trains:
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
            checkpoint_minutes=request.checkpoint_minutes,
            track=request.track,
            provenance=chosen,
            files=(*own[method.spec.name], *benchmark_files),
            gpu=gpu,
            folds=folds,
        )
    return list(runs.values())


def _provenance(method: ResolvedMethod, tasks: ResolvedTasks, request: Request) -> Provenance:
    titles = own_titles(method.facts, tasks.tests)
    return method.provenance.model_copy(update={"command": request.command, "titles": titles})


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


def own_titles(method: MethodFacts, benchmarks: Iterable[str]) -> dict[str, str]:
    """Give the titles of the method and the benchmarks that the user gave by path."""
    named = [name for name in benchmarks if plugins.named_file("tasks", name)]
    found = {name: plugins.benchmark(name).title for name in named}
    by_path = plugins.named_file("methods", method.spec.name)
    return found | ({method.spec.name: method.title} if by_path else {})


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
