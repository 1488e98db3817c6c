"""Trainable parameters of methods on a backbone, without weights."""

import gc
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from torch import nn
from transformers import AutoConfig, PreTrainedModel

from harness import backbones, plugins
from harness.errors import UserError, unknown
from harness.planning.footprint.skeleton import ShapesOnly, Skeleton, whole
from harness.spec.planned import Located
from harness.spec.spec import MethodSpec
from methods.contract import Size, replaced, size


@dataclass(frozen=True)
class Count:
    """Parameters after adapting, the share of those that train, and what PEFT adjusted."""

    trainable: int
    total: int
    percent: float
    adjustments: tuple[str, ...] = ()


COUNTED: dict[str, Count] = {}
"""What was counted before, by method and shape of the backbone."""


def count(method: MethodSpec, located: Located) -> Count:
    """Put a method on a backbone on the meta device and count; once for backbones of one shape.

    Raises:
        UserError: The method cannot be put on this backbone with these fields.
    """
    config = config_of(located)
    shape = {name: value for name, value in config.to_dict().items() if name != "_name_or_path"}
    key = json.dumps([method.name, method.fields, method.source, shape], default=str)
    if key not in COUNTED:
        COUNTED[key] = count_on(method, located.backbone.name, config)
    return COUNTED[key]


def count_on(method: MethodSpec, backbone: str, config: Any) -> Count:
    """Count on the model that a configuration of transformers describes.

    Raises:
        UserError: The method cannot be put on this model with these fields.
    """
    return _count(method, backbone, whole(config))


def count_by_kind(method: MethodSpec, backbone: str, skeleton: Skeleton) -> Count:
    """Count as `count_on` does, in less time: one layer of each kind, times how many there are.

    A guest may treat equal layers differently, so it is counted on all of them. So is what PEFT
    adjusted, since the adjustments say in how many layers.

    Raises:
        UserError: The method cannot be put on this model with these fields.
    """
    if not plugins.is_guest("methods", method.name):
        one = deepcopy(skeleton)
        found = _count(method, backbone, one.model, one.more)
        if not found.adjustments:
            return found
    return count_on(method, backbone, skeleton.model.config)


def _count(
    method: MethodSpec,
    backbone: str,
    model: PreTrainedModel,
    more: Sequence[tuple[nn.Module, int]] = (),
) -> Count:
    plugin = plugins.method(method.name)
    try:
        with ShapesOnly():
            adapted: Any = plugin.adapt(model, plugin.configure(**method.fields))
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise UserError(f"{method.label} on {backbone}: {error}") from error
    found = _size(adapted, more)
    adjusted: list[str] = plugin.adjustments(adapted) if plugin.adjustments else []
    return Count(found.trainable, found.total, round(found.percent, 4), tuple(adjusted))


def _size(adapted: Any, more: Sequence[tuple[nn.Module, int]]) -> Size:
    """Add the layers that were left out to the size of an adapted model."""
    found = size(adapted)
    trainable, total = found.trainable, found.total
    for layer, times in more:
        parameters = list(layer.parameters())
        trainable += times * sum(one.numel() for one in parameters if one.requires_grad)
        total += times * (sum(one.numel() for one in parameters) - replaced(layer))
    return Size(trainable, total)


@contextmanager
def counting() -> Iterator[None]:
    """Leave what is there out of garbage collection while many models are made and dropped.

    Each collection would walk through all that torch, transformers and PEFT hold.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def shapes(name: str) -> dict[str, Any]:
    """Return the configurations that a backbone's name stands for, by what they are called.

    One of `SHAPES` in upper or lower case, a `config.json` or the folder that it is in, or else a
    backbone as `harness run` takes it: the first two need neither network nor weights. A multimodal
    model has two: all of it, and its language model alone.

    Raises:
        UserError: There is no such backbone; the message has the names of `SHAPES`.
    """
    known = json.loads(SHAPES.read_text())
    if name.lower() in known:
        name = name.lower()
        config = AutoConfig.for_model(**known[name])
    else:
        config = _found(name, list(known))
    text = config.get_text_config()
    return {name: config} if text is config else {name: config, f"{name} (text only)": text}


SHAPES = Path(__file__).parent / "shapes.json"
"""The configurations of the backbones that the papers use, as far as they decide shapes."""


def _found(name: str, known: Sequence[str]) -> Any:
    folder = backbones.TINY if name == "tiny" else Path(name).expanduser()
    if folder.name == "config.json":
        folder = folder.parent
    try:
        if (folder / "config.json").is_file():
            return _read(str(folder), None, name)
        return config_of(backbones.locate(name))
    except UserError as error:
        nearest = unknown("shape", name.rpartition("/")[2].lower(), ["tiny", *known])
        raise UserError(f"{error}\n  To count without weights: {nearest}") from error


@cache
def config_of(located: Located) -> Any:
    """Read the configuration of a backbone.

    Raises:
        UserError: It cannot be read.
    """
    local = Path(located.place).is_dir()
    revision = None if local else located.backbone.revision
    return _read(located.place, revision, located.backbone.name)


def _read(place: str, revision: str | None, name: str) -> Any:
    try:
        return AutoConfig.from_pretrained(place, revision=revision, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise UserError(f"{name}: {error}") from error
