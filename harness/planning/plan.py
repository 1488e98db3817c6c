"""From a wish to jobs: everything is checked, and all faults reported, before anything runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import torch

from harness import backbones, plugins
from harness.backbones import Located
from harness.errors import UserError, unknown
from harness.planning import methods as hyperparameters
from harness.planning import parameters as counting
from harness.planning import parse as request
from harness.planning.parse import Faults
from harness.protocols.base import PAPER, Protocol
from harness.spec.planned import PlannedRun
from harness.spec.spec import BatchPlan, Data, MethodSpec, Precision, Recipe, Seeds, Spec
from harness.worker.rows import training_set
from tasks.data.sets import DataSet, load_test, pooled

FEWEST_ROWS = 20


@dataclass(frozen=True)
class Wish:
    """The words of `harness run`, not yet understood."""

    methods: str
    tasks: str
    backbones: str
    seeds: str
    settings: Sequence[str]
    limit: int | None
    train_limit: int | None
    data: Path | None
    protocol: str = PAPER.id
    train_data: Path | None = None


def plan(wish: Wish) -> list[PlannedRun]:
    """Expand a wish into jobs, seed outermost: an interrupted grid is still a fair comparison.

    Raises:
        UserError: With all faults of the wish.
    """
    faults = Faults()
    places = faults.each(backbones.locate, request.split_list(wish.backbones) or [""])
    methods = _methods(wish.methods, places, faults)
    seeds = faults.each(request.parse_seeds, [wish.seeds])
    tasks = faults.each(request.parse_tasks, [wish.tasks])
    group, names = tasks[0] if tasks else ("", ())
    settings = faults.each(
        lambda words: request.parse_settings(words, wish.protocol, group), [wish.settings]
    )
    tests = dict(faults.each(lambda name: (name, _test_set(name, wish.data)), names))
    known = [group] if group and (tests or not plugins.group(group).folds) else []
    train = faults.each(lambda name: _training_set(name, tests, wish), known)
    if 0 < len(tests) < len(names) and plugins.group(group).folds:
        faults.found.append(f"Without what is missing: --tasks {','.join(tests)}")
    pairs = list(product(methods, places))
    counts = faults.each(lambda pair: counting.count(*pair), pairs)
    faults.each(lambda pair: _trains_with(*pair), product(methods, settings))
    faults.each(lambda pair: _has_extractor(*pair), product(names, settings))
    faults.raise_if_any()
    recipe, batches, protocol = settings[0]
    weights, adapter = _precision(recipe)
    notes = {
        (method.label, place.place): found.notes
        for (method, place), found in zip(pairs, counts, strict=True)
    }
    folds = range(plugins.group(group).folds) or [None]
    jobs = {}
    for seed, fold, place, method in product(seeds[0], folds, places, methods):
        spec = Spec(
            method=method,
            backbone=place.backbone,
            group=group,
            train_data=train[0],
            tests={name: _described(one) for name, one in tests.items()},
            fold=fold,
            limit=wish.limit,
            train_limit=wish.train_limit,
            train=recipe,
            generate=batches,
            protocol=protocol,
            weights=weights,
            adapter=adapter,
            seeds=Seeds(init=seed, order=seed, split=seed),
        )
        jobs[spec.run_id] = PlannedRun(
            spec=spec,
            backbone_place=place.place,
            data_folder=_absolute(wish.data),
            train_file=_absolute(wish.train_data),
            notes=notes[method.label, place.place],
        )
    return list(jobs.values())


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())


def _methods(text: str, places: Sequence[Located], faults: Faults) -> list[MethodSpec]:
    """Complete every method that is asked for, and each there is for `all`."""
    found = []
    for one in request.split_list(text) or [""]:
        if one == "all":
            found += faults.each(lambda name: _fitting(name, places), plugins.names("methods"))
        else:
            found += faults.each(_method, [one])
    return found


def _method(text: str) -> MethodSpec:
    return hyperparameters.complete(request.parse_method(text))


def _fitting(name: str, places: Sequence[Located]) -> MethodSpec:
    """Complete a method, as its variant `small` where its defaults fit no layer of a backbone."""
    spec = _method(name)
    if "small" in plugins.method(name).variants:
        try:
            for place in places:
                counting.count(spec, place)
        except UserError:
            return _method(f"{name}:small")
    return spec


def _trains_with(method: MethodSpec, settings: tuple[Recipe, BatchPlan, Protocol]) -> None:
    """Refuse what would be another method under DeepSpeed."""
    frozen = (method.fields["dls"] or {}).get("freeze", False)
    same = plugins.method(method.name).zero_safe and not frozen
    if settings[0].engine == "deepspeed" and not same:
        raise UserError(
            f"{method.label} changes parameters between steps or has the optimizer skip some, "
            "which ZeRO-1's partitioned optimizer does not notice. Take --set train.engine=torch."
        )


def _has_extractor(name: str, settings: tuple[Recipe, BatchPlan, Protocol]) -> None:
    """Refuse a headline extractor that a benchmark does not have."""
    known, wanted = plugins.benchmark(name).extractors, settings[2].extractor
    if known and wanted not in known:
        raise UserError(unknown(f"extractor of {name}", wanted, known))


def _training_set(name: str, tests: Mapping[str, DataSet], wish: Wish) -> Data:
    """Describe the training set of a group, which reads and checks its file."""
    group = plugins.group(name)
    if group.folds:
        if wish.train_data:
            raise UserError(
                f"--train-data {wish.train_data}: {name} trains on the rows of its own sets, "
                "those of the other folds."
            )
        return _described(pooled(group, tests))
    found = training_set(name, wish.data, wish.train_data)
    if wish.train_data:
        _check_own(found, tests, wish.train_data)
    return _described(found)


def _check_own(found: DataSet, tests: Mapping[str, DataSet], path: Path) -> None:
    """Refuse a file of the user's that is a test set, or too short to train and to validate on."""
    for tested, one in tests.items():
        if found.sha256 == one.sha256:
            raise UserError(f"--train-data {path}: that is what {tested} tests on.")
    if len(found.rows) < FEWEST_ROWS:
        raise UserError(
            f"--train-data {path}: {len(found.rows)} rows; at least {FEWEST_ROWS} "
            "are needed to train and to validate."
        )


def _test_set(name: str, folder: Path | None) -> DataSet:
    """Read and check a test set."""
    return load_test(name, plugins.benchmark(name), folder)


def _described(data: DataSet) -> Data:
    return Data(
        title=data.title,
        kind=data.kind,
        sha256=data.sha256,
        verified=data.verified,
        rows=len(data.rows),
    )


def _precision(recipe: Recipe) -> tuple[Precision, Precision]:
    """Choose the precision of weights and adapter for this machine."""
    if not torch.cuda.is_available():
        return "float32", "float32"
    # PEFT keeps adapters in float32; DeepSpeed's bfloat16 engine casts them.
    return "bfloat16", "bfloat16" if recipe.engine == "deepspeed" else "float32"
