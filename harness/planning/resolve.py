"""From names to what they stand for: methods with all fields, backbones, data sets, settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness import backbones, plugins
from harness.errors import UserError
from harness.planning.faults import Faults
from harness.planning.footprint import parameters
from harness.planning.methods import complete
from harness.planning.parse import MethodRequest, Parsed, Tasks
from harness.planning.request import Request
from harness.planning.settings import Settings, make_settings
from harness.spec.planned import Located, Provenance
from harness.spec.recipe import Recipe
from harness.spec.spec import MethodSpec
from tasks.data.sets import DataSet, load_test, pooled, training_set


@dataclass(frozen=True)
class ResolvedMethod:
    """A method with all its fields, how it is trained, and how that was chosen."""

    spec: MethodSpec
    recipe: Recipe
    provenance: Provenance


@dataclass(frozen=True)
class ResolvedTasks:
    """What the runs of one group are trained and tested on, and how.

    Attributes:
        group: Empty if the tasks could not be read.
        tests: The test sets by benchmark.
        train: What the group trains on; None if it could not be read.
        settings: None if an assignment was wrong.
        methods: As they are trained on this group.
    """

    group: str
    tests: Mapping[str, DataSet]
    train: DataSet | None
    settings: Settings | None
    methods: tuple[ResolvedMethod, ...]


@dataclass(frozen=True)
class Resolved:
    """What a request stands for, as far as it could be found; what each group has is in `tasks`."""

    methods: tuple[MethodSpec, ...]
    places: tuple[Located, ...]
    tasks: tuple[ResolvedTasks, ...]


def resolve(parsed: Parsed, request: Request, faults: Faults) -> Resolved:
    """Find what the names of a request stand for; read and check the data files."""
    if request.data is not None and not request.data.is_dir():
        faults.add(f"--data {request.data}: no such folder.")
        parsed = replace(parsed, tasks=(Tasks(),))
    located = faults.each(backbones.locate, parsed.backbones)
    places = faults.of(lambda: backbones.told_apart(located)) or []
    specs = faults.each(lambda method: (method, _completed(method, places)), parsed.methods)
    return Resolved(
        methods=tuple(spec for _, spec in specs),
        places=tuple(places),
        tasks=tuple(_tasks(tasks, parsed, specs, request, faults) for tasks in parsed.tasks),
    )


def _tasks(
    tasks: Tasks,
    parsed: Parsed,
    specs: Sequence[tuple[MethodRequest, MethodSpec]],
    request: Request,
    faults: Faults,
) -> ResolvedTasks:
    """Find what the runs of one group are trained and tested on, and how."""
    settings = faults.of(lambda: make_settings(parsed.settings, request.protocol, tasks.group))
    tests = _tests(tasks, request, faults)
    return ResolvedTasks(
        group=tasks.group,
        tests=tests,
        train=_train(tasks.group, request, tests, faults),
        settings=settings,
        methods=() if settings is None else tuple(_planned(specs, settings, faults)),
    )


def _completed(request: MethodRequest, places: list[Located]) -> MethodSpec:
    """Complete a method, as its variant `small` where it may and its defaults fit no layer."""
    spec = complete(request)
    if request.any_size and "small" in plugins.method(request.name).variants:
        try:
            for place in places:
                parameters.count(spec, place)
        except UserError:
            return complete(MethodRequest(request.name, variant="small"))
    return spec


def _planned(
    specs: Sequence[tuple[MethodRequest, MethodSpec]], settings: Settings, faults: Faults
) -> list[ResolvedMethod]:
    """Give each method the shared recipe, or its own."""

    def planned(pair: tuple[MethodRequest, MethodSpec]) -> ResolvedMethod:
        request, spec = pair
        if not request.train:
            return ResolvedMethod(spec, settings.recipe, Provenance(chosen=settings.chosen))
        own = dict(request.train)
        provenance = Provenance(chosen="for this method", own=own, tries=request.tries)
        return ResolvedMethod(spec, settings.own_recipe(request.name, own), provenance)

    return faults.each(planned, specs)


def _tests(tasks: Tasks, request: Request, faults: Faults) -> dict[str, DataSet]:
    """Read the test sets; where folds need all of them, say what could be run without the rest."""

    def test_set(name: str) -> tuple[str, DataSet]:
        found = load_test(name, plugins.benchmark(name), request.data)
        if not found.rows:
            raise UserError(
                f"{name} has no generated sample: name the folder of its data with --data DIR."
            )
        return name, found

    tests = dict(faults.each(test_set, tasks.benchmarks))
    if 0 < len(tests) < len(tasks.benchmarks) and plugins.group(tasks.group).folds:
        faults.add(f"Without what is missing: --tasks {','.join(tests)}")
    return tests


def _train(
    name: str, request: Request, tests: Mapping[str, DataSet], faults: Faults
) -> DataSet | None:
    """Read what the group `name` trains on; with folds, the rows of its own sets."""
    if not name:
        return None
    group = plugins.group(name)
    if not group.folds:
        benchmarks = [plugins.benchmark(one) for one in group.benchmarks]
        generated = request.data is None and any(one.sample for one in benchmarks)
        if not (generated or group.train or request.train_data):
            faults.add(
                f"{name} has no training set: name a file with --train-data FILE, or give "
                "the benchmark a field `train`."
            )
            return None
        return faults.of(
            lambda: training_set(name, group, benchmarks, request.data, request.train_data)
        )
    if request.train_data:
        faults.add(
            f"--train-data {request.train_data}: {name} trains on the rows of its own "
            "sets, those of the other folds."
        )
    return pooled(group, tests) if tests else None
