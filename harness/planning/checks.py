"""Check that the parts of a request fit together; every fault is found before any run."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from harness import plugins
from harness.backbones import INSTALL_BITSANDBYTES
from harness.errors import UserError, unknown
from harness.planning import prompts
from harness.planning.faults import Faults
from harness.planning.footprint import parameters
from harness.planning.request import Request
from harness.planning.resolve import Resolved, ResolvedMethod, ResolvedTasks
from harness.spec.planned import Located
from harness.spec.recipe import FEWEST_TRAINING_ROWS
from harness.spec.spec import MethodSpec, Quantization
from tasks.data.sets import DataSet

Adjustments = dict[tuple[str, str], tuple[str, ...]]
"""What PEFT adjusted, by label of the method and place of the backbone."""


def check(resolved: Resolved, request: Request, faults: Faults) -> Adjustments:
    """Check methods against backbones and engine, benchmarks against protocol, data against data.

    Returns:
        What PEFT adjusted to make the methods fit.
    """
    pairs = list(product(resolved.methods, resolved.places))
    adjustments = dict(faults.each(lambda pair: _fit(*pair), pairs))
    for tasks in resolved.tasks:
        _check_tasks(tasks, resolved.places, request, faults)
    return adjustments


def _check_tasks(
    tasks: ResolvedTasks, places: Sequence[Located], request: Request, faults: Faults
) -> None:
    """Check what is of one group: its recipes, benchmarks and data."""
    faults.each(_trains_with_engine, tasks.methods)
    if request.quantize:
        quantize = request.quantize
        faults.of(lambda: _can_quantize(quantize))
        faults.each(lambda method: _fits_quantized(method, quantize), tasks.methods)
    if tasks.settings:
        extractor = tasks.settings.protocol.extractor
        faults.each(lambda name: _has_extractor(name, extractor), tasks.tests)
        if tasks.settings.batches.merge:
            faults.each(lambda method: _can_be_merged(method, request.quantize), tasks.methods)
        prompts.check(tasks.settings.protocol, tasks.train, places, request, faults)
    if request.train_data and tasks.train:
        train, path = tasks.train, request.train_data
        faults.of(lambda: _trains_on_own(train, tasks.tests, path))


def _fit(method: MethodSpec, place: Located) -> tuple[tuple[str, str], tuple[str, ...]]:
    """Put a method on a backbone without weights, which names what does not fit."""
    count = parameters.count(method, place)
    return (method.label, place.place), count.adjustments


def _trains_with_engine(method: ResolvedMethod) -> None:
    """Refuse a method that would be another one under DeepSpeed."""
    frozen = (method.spec.fields.get("dls") or {}).get("freeze", False)
    same = plugins.method(method.spec.name).zero_safe and not frozen
    if method.recipe.engine == "deepspeed" and not same:
        raise UserError(
            f"{method.spec.label} changes parameters between steps or has the optimizer skip some, "
            "which ZeRO-1's partitioned optimizer does not notice. Take --set train.engine=torch."
        )


def _can_quantize(quantize: Quantization) -> None:
    """Refuse what needs a package that is not there."""
    if find_spec("bitsandbytes") is None:
        raise UserError(f"--quantize {quantize} needs bitsandbytes: {INSTALL_BITSANDBYTES}")


def _fits_quantized(method: ResolvedMethod, quantize: Quantization) -> None:
    """Refuse a method that was not shown to train over weights in this format."""
    plugin = plugins.method(method.spec.name)
    if plugin.trains and quantize not in plugin.quantized:
        only = f" (but {', '.join(plugin.quantized)})" if plugin.quantized else ""
        raise UserError(
            f"{method.spec.label} does not take --quantize {quantize}{only}: the conformance "
            "checks over weights in this format have not passed."
        )


def _can_be_merged(method: ResolvedMethod, quantize: Quantization | None) -> None:
    """Refuse to merge what cannot be merged; a method without an adapter has nothing to merge."""
    plugin = plugins.method(method.spec.name)
    if plugin.trains and not plugin.mergeable:
        known = [name for name in plugins.names("methods") if plugins.method(name).mergeable]
        raise UserError(
            f"{method.spec.label} cannot be merged, so it does not take generate.merge=true.\n"
            f"  Methods that can: {', '.join(known)}"
        )
    if plugin.trains and quantize:
        raise UserError(
            f"generate.merge=true merges into no weights of --quantize {quantize}: leave one out."
        )


def _has_extractor(name: str, wanted: str) -> None:
    """Refuse a headline extractor that a benchmark does not have."""
    known = plugins.benchmark(name).extractors
    if known and wanted not in known:
        raise UserError(unknown(f"extractor of {name}", wanted, known))


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
