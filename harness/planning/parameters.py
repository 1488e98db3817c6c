"""Trainable parameters of methods on a backbone, without weights."""

import gc
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.nn import init
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors
from transformers import AutoConfig, AutoModelForCausalLM

from harness import backbones, plugins
from harness.errors import UserError, unknown
from harness.spec.planned import Located
from harness.spec.spec import MethodSpec
from methods.contract import size


@dataclass(frozen=True)
class Count:
    """Parameters after adapting, the share of those that train, and what PEFT adjusted."""

    trainable: int
    total: int
    percent: float
    adjustments: tuple[str, ...] = ()


def count(method: MethodSpec, located: Located) -> Count:
    """Put a method on a backbone on the meta device and count.

    Raises:
        UserError: The method cannot be put on this backbone with these fields.
    """
    return count_on(method, located.backbone.name, _config(located))


def count_on(method: MethodSpec, backbone: str, config: Any) -> Count:
    """Count on the model that a configuration of transformers describes.

    Raises:
        UserError: The method cannot be put on this model with these fields.
    """
    plugin = plugins.method(method.name)
    try:
        with ShapesOnly():
            model = AutoModelForCausalLM.from_config(config)
            adapted: Any = plugin.adapt(model, plugin.configure(**method.fields))
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        raise UserError(f"{method.label} on {backbone}: {error}") from error
    found = size(adapted)
    adjusted: list[str] = plugin.adjustments(adapted) if plugin.adjustments else []
    return Count(found.trainable, found.total, round(found.percent, 4), tuple(adjusted))


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


class ShapesOnly(TorchFunctionMode):
    """Makes tensors on the meta device and leaves out the start values, which have no effect there.

    Like `torch.device("meta")`, in less time: on that device torch works out the shapes of start
    values in Python.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call a function of torch, or give back the tensor that it would fill."""
        given = kwargs or {}
        if func in FILLS:
            return args[0] if args else given["tensor"]
        if func in CONSTRUCTORS and given.get("device") is None:
            return func(*args, **{**given, "device": "meta"})
        return func(*args, **given)


CONSTRUCTORS = frozenset(_device_constructors())
FILLS = frozenset({init.uniform_, init.normal_, init.constant_, init.kaiming_uniform_}) | {
    *(Tensor.uniform_, Tensor.normal_, Tensor.zero_, Tensor.fill_)
}
"""What sets start values in place, as far as torch asks a mode first."""


def shapes(name: str) -> dict[str, Any]:
    """Return the configurations that a backbone's name stands for, by what they are called.

    One of `SHAPES` in upper or lower case, a folder with a `config.json`, or else a backbone as
    `harness run` takes it: the first two need neither network nor weights. A multimodal model has
    two: all of it, and its language model alone.

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
    try:
        if (folder / "config.json").is_file():
            return _read(str(folder), None, name)
        return _config(backbones.locate(name))
    except UserError as error:
        nearest = unknown("shape", name.rpartition("/")[2].lower(), ["tiny", *known])
        raise UserError(f"{error}\n  To count without weights: {nearest}") from error


@cache
def _config(located: Located) -> Any:
    local = Path(located.place).is_dir()
    revision = None if local else located.backbone.revision
    return _read(located.place, revision, located.backbone.name)


def _read(place: str, revision: str | None, name: str) -> Any:
    try:
        return AutoConfig.from_pretrained(place, revision=revision, trust_remote_code=False)
    except (OSError, ValueError) as error:
        raise UserError(f"{name}: {error}") from error
