"""From names to what they stand for: methods with all fields, backbones, data sets, settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from harness import backbones, plugins
from harness.errors import UserError
from harness.planning.facts import Facts, MethodFacts
from harness.planning.faults import Faults
from harness.planning.parse import MethodRequest, Parsed, Tasks
from harness.planning.request import Request
from harness.planning.settings import Settings, make_settings
from harness.spec.planned import Located, Provenance
from harness.spec.protocol import Protocol
from harness.spec.recipe import Recipe
from harness.spec.spec import MethodSpec
from tasks.contract import Row
from tasks.data.sets import DataSet, load_test, pooled, training_set


@dataclass(frozen=True)
class ResolvedMethod:
    """A method with all its fields, how it is trained, and how that was chosen."""

    facts: MethodFacts
    recipe: Recipe
    provenance: Provenance

    @property
    def spec(self) -> MethodSpec:
        """All that can change a number."""
        return self.facts.spec


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

    @property
    def texts(self) -> tuple[Sequence[Row], Sequence[Row], Protocol]:
        """The rows to train and to test on, and how they are written, where all was found."""
        assert self.settings
        assert self.train
        tested = [row for test in self.tests.values() for row in test.rows]
        return self.train.rows, tested, self.settings.protocol


@dataclass(frozen=True)
class Resolved:
    """What a request stands for, as far as it could be found; what each group has is in `tasks`."""

    methods: tuple[MethodSpec, ...]
    places: tuple[Located, ...]
    tasks: tuple[ResolvedTasks, ...]


def resolve(parsed: Parsed, request: Request, facts: Facts, faults: Faults) -> Resolved:
    """Find what the names of a request stand for; read and check the data files."""
    if request.data is not None and not request.data.is_dir():
        faults.add(f"--data {request.data}: no such folder.", "data")
        parsed = replace(parsed, tasks=(Tasks(),))
    located = faults.each(backbones.locate, parsed.backbones, "backbones")
    places = faults.of(lambda: backbones.told_apart(located), "backbones") or []
    found = faults.each(
        lambda one: (one, _completed(one, places, facts)), parsed.methods, "methods"
    )
    return Resolved(
        methods=tuple(method.spec for _, method in found),
        places=tuple(places),
        tasks=tuple(_tasks(tasks, parsed, found, request, faults) for tasks in parsed.tasks),
    )


def _tasks(
    tasks: Tasks,
    parsed: Parsed,
    found: Sequence[tuple[MethodRequest, MethodFacts]],
    request: Request,
    faults: Faults,
) -> ResolvedTasks:
    """Find what the runs of one group are trained and tested on, and how."""
    settings = faults.of(
        lambda: make_settings(parsed.settings, request.protocol, tasks.group, request.origin)
    )
    tests = _tests(tasks, request, faults)
    return ResolvedTasks(
        group=tasks.group,
        tests=tests,
        train=_train(tasks.group, request, tests, faults),
        settings=settings,
        methods=() if settings is None else tuple(_planned(found, settings, faults)),
    )


def _completed(request: MethodRequest, places: list[Located], facts: Facts) -> MethodFacts:
    """Complete a method, as its variant `small` where it may and its defaults fit no layer."""
    found = facts.method(request)
    if request.any_size and "small" in found.variants:
        try:
            for place in places:
                facts.adjustments(found.spec, place)
        except UserError:
            return facts.method(MethodRequest(request.name, variant="small"))
    return found


def _planned(
    found: Sequence[tuple[MethodRequest, MethodFacts]], settings: Settings, faults: Faults
) -> list[ResolvedMethod]:
    """Give each method the shared recipe, or its own."""

    def planned(pair: tuple[MethodRequest, MethodFacts]) -> ResolvedMethod:
        request, method = pair
        if not request.train:
            return ResolvedMethod(method, settings.recipe, Provenance(chosen=settings.chosen))
        own = dict(request.train)
        provenance = Provenance(chosen="for this method", own=own, tries=request.tries)
        return ResolvedMethod(method, settings.own_recipe(request.name, own), provenance)

    made = [faults.of(partial(planned, pair), "methods", str(pair[0])) for pair in found]
    return [one for one in made if one]


def _tests(tasks: Tasks, request: Request, faults: Faults) -> dict[str, DataSet]:
    """Read the test sets; where folds need all of them, say what could be run without the rest."""

    def test_set(name: str) -> tuple[str, DataSet]:
        found = load_test(name, plugins.benchmark(name), request.data)
        if not found.rows:
            raise UserError(
                f"{name} has no generated sample: name the folder of its data with --data DIR."
            )
        return name, found

    tests = dict(faults.each(test_set, tasks.benchmarks, "data"))
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
            lambda: training_set(name, group, benchmarks, request.data, request.train_data),
            "train-data",
        )
    if request.train_data:
        faults.add(
            f"--train-data {request.train_data}: {name} trains on the rows of its own "
            "sets, those of the other folds.",
            "train-data",
        )
    return pooled(group, tests) if tests else None
