"""Steps of a run on the meta device: the real modules and kernels' needs, without numbers.

A model of two layers and one of three give what a layer adds; all others add the same.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AutoModelForCausalLM
from transformers.integrations.sdpa_attention import repeat_kv

from harness import plugins
from harness.planning.footprint.meter import Meter
from harness.planning.footprint.skeleton import ShapesOnly
from harness.planning.footprint.speed import Work
from harness.spec.spec import MethodSpec, Quantization
from methods.contract import Method
from methods.training.hooks import TrainingAhead
from methods.tuners.kept import keeping
from methods.tuners.room import Room

FEW, FIRST, PASSES = 2, 1, 2
STORED: Mapping[Quantization, float] = {"nf4": 0.516, "int8": 1.0}
"""Bytes of a quantized number: in nf4 with an 8-bit scale for each 64, as `double_quant` has it."""
AHEAD = TrainingAhead(steps=1000, warmup_steps=50, seed=0)


@dataclass(frozen=True)
class Setting:
    """What decides the memory of a run.

    Attributes:
        weights: Precision of the frozen weights.
        rows: Rows of a training batch.
        tokens: Tokens of its longest row.
        checkpointing: Whether activations are computed again in the backward pass.
        validated: Rows and tokens of a validation batch.
        decoded: Rows of a batch for generation, and tokens of its longest row at the end.
        quantize: How the frozen weights of linear layers are stored.
        merge: Whether the adapter is merged for generation into weights of any precision.
        keeps: Whether evaluations keep what depends on parameters alone.
    """

    weights: torch.dtype
    rows: int
    tokens: int
    checkpointing: bool
    validated: tuple[int, int]
    decoded: tuple[int, int]
    quantize: Quantization | None = None
    merge: bool = False
    keeps: bool = True


@dataclass(frozen=True)
class Measured:
    """What a model takes.

    Attributes:
        frozen: Bytes of frozen weights and buffers.
        trained: Bytes of what trains.
        training: Most bytes beside these in a step of two passes.
        validation: Likewise in a validation batch.
        generation: Likewise at the end of a generation.
        kernels: Of one training pass; see `Work`.
        low: Likewise.
        full: Likewise.
        moved: Likewise.
    """

    frozen: float
    trained: float
    training: float
    validation: float
    generation: float
    kernels: float
    low: float
    full: float
    moved: float

    @property
    def work(self) -> Work:
        """What a training pass asks of the device."""
        return Work(self.kernels, self.low, self.full, self.moved)


def measure(method: MethodSpec, config: Any, setting: Setting) -> Measured:
    """Measure a method on the language model that a configuration describes."""
    config = config.get_text_config()
    layers = config.num_hidden_layers
    fewer = _measured(method, _cut(config, min(layers, FEW)), setting)
    if layers <= FEW:
        return fewer
    more = _measured(method, _cut(config, FEW + 1), setting)
    return Measured(
        *(
            few + (layers - FEW) * (many - few)
            for few, many in zip(vars(fewer).values(), vars(more).values(), strict=True)
        )
    )


def _measured(method: MethodSpec, config: Any, setting: Setting) -> Measured:
    plugin = plugins.method(method.name)
    with ShapesOnly():
        model = AutoModelForCausalLM.from_config(config, dtype=setting.weights)
        adapted: Any = plugin.adapt(model, plugin.configure(**method.fields))
    trained = [p for p in adapted.parameters() if p.requires_grad]
    held = {t.untyped_storage()._cdata: t.untyped_storage().nbytes() for t in _held(adapted)}
    frozen = sum(held.values()) - sum(p.nbytes for p in trained)
    trains = _training(plugin, adapted, setting) if trained else Meter([])
    room = Room() if setting.keeps else Room(free=0)
    validating = keeping(adapted, plugin, room=room)
    generating = keeping(adapted, plugin, rounding=setting.merge, room=room)
    validates = _evaluation(adapted, validating, *setting.validated)
    generates = _evaluation(adapted, generating, *setting.decoded, use_cache=True, logits_to_keep=1)
    return Measured(
        frozen=frozen - _spared(adapted, setting.quantize),
        trained=sum(p.nbytes for p in trained),
        training=trains.peak,
        validation=validates.peak,
        generation=generates.peak,
        kernels=trains.kernels / PASSES,
        low=trains.products[2] / PASSES,
        full=trains.products[4] / PASSES,
        moved=trains.moved / PASSES,
    )


def _spared(model: nn.Module, quantize: Quantization | None) -> float:
    """Count what quantized linear layers take less; bitsandbytes leaves the output layer out."""
    if quantize is None:
        return 0
    layers = (
        module
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear)
        and not module.weight.requires_grad
        and not name.endswith("lm_head")
    )
    return sum(one.weight.nbytes - STORED[quantize] * one.weight.numel() for one in layers)


def _training(method: Method, model: Any, setting: Setting) -> Meter:
    """Take two passes, of which the second finds the gradients of the first, and the hooks."""
    model.train()
    if setting.checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    hooks = [method.hooks(model, AHEAD)] if method.hooks else []

    def step() -> None:
        for hook in hooks:
            hook.before_forward(FIRST)
        for _ in range(PASSES):
            logits = _logits(model, setting.rows, setting.tokens)
            losses = [logits, *([method.auxiliary_loss(model)] if method.auxiliary_loss else [])]
            # The loss keeps its gradient in the precision of the logits.
            torch.autograd.backward(losses, [torch.empty_like(loss) for loss in losses])
        for hook in hooks:
            # One that looks at a value stops there: what it keeps is made by then.
            with suppress(RuntimeError):
                hook.after_backward(FIRST)
                hook.after_step(FIRST)

    return _metered(model, step)


@torch.no_grad()
def _evaluation(
    model: Any, block: AbstractContextManager[None], rows: int, tokens: int, **options: Any
) -> Meter:
    def evaluate() -> None:
        with block:
            _logits(model, rows, tokens, **options)

    return _metered(model.eval(), evaluate)


def _metered(model: nn.Module, work: Callable[[], Any]) -> Meter:
    meter = Meter(_held(model))
    with meter:
        work()
    return meter


def _held(model: nn.Module) -> list[Tensor]:
    return [*model.parameters(), *model.buffers()]


def _logits(model: Any, rows: int, tokens: int, **options: Any) -> Tensor:
    ids = torch.zeros(rows, tokens, dtype=torch.long, device="meta")
    # With a mask of four axes transformers looks at no value of it.
    mask = torch.ones(rows, 1, tokens, tokens, dtype=torch.bool, device="meta")
    given = {"input_ids": ids, "position_ids": ids, "attention_mask": mask, "use_cache": False}
    logits: Tensor = model(**given | options).logits
    return logits


def _cut(config: Any, layers: int) -> Any:
    """Describe the same model with fewer layers, and attention that needs no numbers."""
    cut = deepcopy(config.get_text_config())
    cut.num_hidden_layers = layers
    if getattr(cut, "layer_types", None):
        cut.layer_types = cut.layer_types[:layers]
    cut._attn_implementation = "shapes"
    return cut


class _Attention(torch.autograd.Function):
    """Keeps for the backward pass what memory-efficient kernels keep."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        output = torch.empty_like(query)
        normaliser = query.new_empty(query.shape[:-1], dtype=torch.float32)
        ctx.save_for_backward(query, key, value, output, normaliser)
        return output

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:
        return tuple(torch.empty_like(one) for one in ctx.saved_tensors[:3])


def attend(
    module: Any, query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any
) -> tuple[Tensor, None]:
    """Stand for transformers' `sdpa` where there is padding, which repeats grouped heads."""
    groups = module.num_key_value_groups
    output = _Attention.apply(  # type: ignore[no-untyped-call]
        query, repeat_kv(key, groups), repeat_kv(value, groups)
    )
    return output.transpose(1, 2).contiguous(), None


AttentionInterface.register("shapes", attend)
