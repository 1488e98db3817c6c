"""Check that the parts of a request fit together; every fault is found before any run."""

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from harness import plugins
from harness.backbones import INSTALL_BITSANDBYTES
from harness.errors import UserError, unknown
from harness.planning.facts import Facts
from harness.planning.faults import Faults
from harness.planning.request import Request
from harness.planning.resolve import Resolved, ResolvedMethod, ResolvedTasks
from harness.planning.settings import Settings
from harness.spec.planned import Located, Track
from harness.spec.recipe import FEWEST_TRAINING_ROWS
from harness.spec.spec import MethodSpec, Quantization
from tasks.data.sets import DataSet

TRACKERS: Mapping[Track, Sequence[str]] = {
    "tensorboard": ("tensorboard", "tensorboardX"),
    "wandb": ("wandb",),
    "mlflow": ("mlflow-skinny", "mlflow"),
}
"""The packages that trackers need, one of several."""

Adjustments = dict[tuple[str, str], tuple[str, ...]]
"""What PEFT adjusted, by label of the method and place of the backbone."""


def check(resolved: Resolved, request: Request, facts: Facts, faults: Faults) -> Adjustments:
    """Check methods against backbones and engine, benchmarks against protocol, data against data.

    Returns:
        What PEFT adjusted to make the methods fit.
    """
    pairs = list(product(resolved.methods, resolved.places))
    adjustments = dict(faults.each(lambda pair: _fit(*pair, facts), pairs))
    if request.track:
        track = request.track
        faults.of(lambda: _can_track(track), "track")
    for tasks in resolved.tasks:
        _check_tasks(tasks, resolved.places, request, facts, faults)
    return adjustments


def _check_tasks(
    tasks: ResolvedTasks,
    places: Sequence[Located],
    request: Request,
    facts: Facts,
    faults: Faults,
) -> None:
    """Check what is of one group: its recipes, benchmarks and data."""
    faults.each(_trains_with_engine, tasks.methods)
    if request.quantize:
        quantize = request.quantize
        faults.of(lambda: _can_quantize(quantize))
        faults.each(lambda method: _fits_quantized(method, quantize), tasks.methods)
    if tasks.settings:
        settings = tasks.settings
        faults.of(lambda: _engine_fits(settings, request))
        extractor = settings.protocol.extractor
        faults.each(lambda name: _has_extractor(name, extractor), tasks.tests)
        if tasks.settings.batches.merge:
            faults.each(lambda method: _can_be_merged(method, request.quantize), tasks.methods)
        protocol = tasks.settings.protocol
        if protocol.shots and tasks.train:
            train = tasks.train
            faults.of(lambda: _has_examples(protocol.shots, train, request.train_limit))
        if protocol.chat:
            faults.each(lambda place: facts.takes_chat(place, protocol), places)
    if request.train_data and tasks.train:
        train, path = tasks.train, request.train_data
        faults.of(lambda: _trains_on_own(train, tasks.tests, path))


def _can_track(track: Track) -> None:
    """Refuse a tracker whose package is not installed."""
    packages = TRACKERS[track]
    if not any(map(_is_installed, packages)):
        raise UserError(
            f"--track {track} needs the package {' or '.join(packages)}, which is not installed.\n"
            f"  To install it: pip install {packages[0]}"
        )


def _is_installed(package: str) -> bool:
    # Not by an import of the name: a folder of the tracker's files may be called so.
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


def _fit(
    method: MethodSpec, place: Located, facts: Facts
) -> tuple[tuple[str, str], tuple[str, ...]]:
    """Put a method on a backbone without weights, which names what does not fit."""
    return (method.label, place.place), facts.adjustments(method, place)


def _trains_with_engine(method: ResolvedMethod) -> None:
    """Refuse a method that would be another one under DeepSpeed."""
    frozen = (method.spec.fields.get("dls") or {}).get("freeze", False)
    same = method.facts.zero_safe and not frozen
    if method.recipe.engine == "deepspeed" and not same:
        raise UserError(
            f"{method.spec.label} changes parameters between steps or has the optimizer skip some, "
            "which DeepSpeed's partitioned optimizer does not notice. Take --set "
            "train.engine=torch."
        )
    _shares_passes(method)


def _shares_passes(method: ResolvedMethod) -> None:
    """Refuse a recipe whose passes do not divide among the processes."""
    recipe, processes = method.recipe, method.recipe.processes
    if recipe.accumulation_steps % processes:
        rows = recipe.batch_size * recipe.accumulation_steps
        single = " --set train.batch_size=1" if recipe.batch_size > 1 else ""
        raise UserError(
            f"{method.spec.label}: a step of {recipe.accumulation_steps} forward passes "
            f"(train.accumulation_steps) does not divide among {processes} processes. Such a step "
            f"of {rows} rows may be{single} --set train.accumulation_steps={rows}"
            f"{'' if rows % processes == 0 else ', which does not divide either'}."
        )


def _engine_fits(settings: Settings, request: Request) -> None:
    """Refuse what the engine would not do, or do twice."""
    recipe, spread = settings.recipe, settings.memory.device_map
    faults = {
        f"train.processes={recipe.processes}: --gpus-per-run says how many processes train, "
        "and memory.device_map gives all GPUs of a run to one.": recipe.processes
        != (1 if spread else request.gpus_per_run),
        f"train.zero={recipe.zero} is of DeepSpeed: --set train.engine=deepspeed.": recipe.zero > 1
        and recipe.engine == "torch",
        f"memory.device_map={spread} is for train.engine=torch; DeepSpeed takes no model that is "
        "spread over devices, and divides it with train.zero=3.": spread is not None
        and recipe.engine == "deepspeed",
        f"--quantize {request.quantize}: train.zero=3 does not divide quantized weights. "
        "Take train.zero=2.": request.quantize is not None and recipe.partitioned,
    }
    if found := [fault for fault, holds in faults.items() if holds]:
        raise UserError("\n".join(found))


def _can_quantize(quantize: Quantization) -> None:
    """Refuse what needs a package that is not there."""
    if find_spec("bitsandbytes") is None:
        raise UserError(f"--quantize {quantize} needs bitsandbytes: {INSTALL_BITSANDBYTES}")


def _fits_quantized(method: ResolvedMethod, quantize: Quantization) -> None:
    """Refuse a method that was not shown to train over weights in this format."""
    facts = method.facts
    if facts.trains and quantize not in facts.quantized:
        only = f" (but {', '.join(facts.quantized)})" if facts.quantized else ""
        raise UserError(
            f"{method.spec.label} does not take --quantize {quantize}{only}: the conformance "
            "checks over weights in this format have not passed."
        )


def _can_be_merged(method: ResolvedMethod, quantize: Quantization | None) -> None:
    """Refuse to merge what cannot be merged; a method without an adapter has nothing to merge."""
    facts = method.facts
    if facts.trains and not facts.mergeable:
        known = [name for name in plugins.names("methods") if plugins.method(name).mergeable]
        raise UserError(
            f"{method.spec.label} cannot be merged, so it does not take generate.merge=true.\n"
            f"  Methods that can: {', '.join(known)}"
        )
    if facts.trains and quantize:
        raise UserError(
            f"generate.merge=true merges into no weights of --quantize {quantize}: leave one out."
        )


def _has_extractor(name: str, wanted: str) -> None:
    """Refuse a headline extractor that a benchmark does not have."""
    known = plugins.benchmark(name).extractors
    if known and wanted not in known:
        raise UserError(unknown(f"extractor of {name}", wanted, known))


def _has_examples(shots: int, train: DataSet, limit: int | None) -> None:
    """Refuse more examples than there are training rows to draw them from."""
    rows = min(len(train.rows), limit or len(train.rows))
    if shots > rows:
        raise UserError(f"protocol.shots={shots}: {train.title} has only {rows} rows to draw from.")


def _trains_on_own(train: DataSet, tests: Mapping[str, DataSet], path: Path) -> None:
    """Refuse a file of the user's that is a test set, or too short to train and validate on."""
    for name, test in tests.items():
        if train.sha256 == test.sha256:
            raise UserError(f"--train-data {path}: that is what {name} tests on.")
    if len(train.rows) < FEWEST_TRAINING_ROWS:
        raise UserError(
            f"--train-data {path}: {len(train.rows)} rows; at least {FEWEST_TRAINING_ROWS} "
            "are needed to train and to validate."
        )
