"""Adapters of an attention module: on its queries and keys around RoPE, or on its output."""

import inspect
import sys
from functools import partial
from typing import Any, ClassVar

import torch
from peft.tuners.tuners_utils import BaseTuner
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.tuners.adapter import Adapter, NativeLayer, NativeTuner, place
from methods.tuners.copies import CopyLayer


class AttentionLayer(NativeLayer):
    """An attention module and its adapters. A method's own layer says what they do to it."""

    def __init__(self, base_layer: nn.Module, decoder_layer: nn.Module) -> None:
        super().__init__(base_layer)
        self.hooks: list[Any] = []
        self.watch(decoder_layer)

    def watch(self, decoder_layer: nn.Module) -> None:
        """Register the forward hooks that the layer needs, in `self.hooks`."""

    def update_layer(self, name: str, adapter: Adapter) -> None:
        """Add an adapter and train it."""
        attention: Any = self.base_layer
        self.adapter_modules[name] = place(adapter, attention.q_proj.weight.device)
        self.set_adapter(self.active_adapters)

    def active(self) -> list[Any]:
        """List the adapters that take part in the forward pass."""
        names = [] if self.disable_adapters else self.active_adapters
        return [self.adapter_modules[name] for name in names if name in self.adapter_modules]


class QueryKeyLayer(AttentionLayer):
    """Multiplies queries and keys by factors that the adapters compute from the hidden states.

    An adapter's `forward` maps hidden states (batch, tokens, d) to the factors of the queries and
    of the keys, each (batch, tokens, heads, d_head). They reach queries and keys by forward hooks
    on the last module before RoPE: the QK-norms where the attention has them, else the projections.

    Where `adapter.after_rope` is set, they multiply the rotated queries and keys. Since the
    attention rotates inside its own forward, the hook rotates, multiplies by the factor less 1,
    rotates back and adds: a factor of 1 then changes nothing, in any precision.

    All of it is in the precision of the factors, and the result is rounded once to that of the
    states. The numbers of bfloat16 are 0.008 apart near 1, where the factors start: a factor within
    0.002 of 1 leaves a state in bfloat16 as it was. So where `adapter.modulate_in` is "float32" and
    the base has fewer bits, the hook rotates too before it rounds, and hands the attention a
    rotation by nothing. A rotated state lies between two numbers of bfloat16, so that a small
    factor decides for some of them which one it becomes.
    """

    def __init__(self, base_layer: nn.Module, decoder_layer: nn.Module) -> None:
        super().__init__(base_layer, decoder_layer)
        self._factors: list[tuple[Any, dict[str, Tensor]]] = []
        self._rotation: tuple[Tensor, Tensor] | None = None
        self._rotates = False

    def watch(self, decoder_layer: nn.Module) -> None:
        """Hook the last modules before RoPE."""
        attention: Any = self.base_layer
        normed = hasattr(attention, "q_norm")
        query = attention.q_norm if normed else attention.q_proj
        key = attention.k_norm if normed else attention.k_proj
        self.hooks = [
            query.register_forward_hook(partial(self._modulate, "query")),
            key.register_forward_hook(partial(self._modulate, "key")),
        ]

    def forward(self, hidden_states: Tensor, *args: Any, **kwargs: Any) -> Any:
        """Attend as the base layer does, over modulated queries and keys."""
        active = self.active()
        cos, sin = self._rotation = kwargs.get("position_embeddings") or args[0]
        for adapter in active:
            query, key = adapter(hidden_states.to(adapter.dtype))
            self._factors.append((adapter, {"query": query, "key": key}))
        in_float32 = any(adapter.modulate_in == "float32" for adapter in active)
        if in_float32 and hidden_states.dtype.itemsize < torch.float32.itemsize:
            self._rotates = True
            still = torch.ones_like(cos), torch.zeros_like(sin)
            if args:
                args = (still, *args[1:])
            else:
                kwargs["position_embeddings"] = still
        try:
            return self.base_layer(hidden_states, *args, **kwargs)
        finally:
            self._factors, self._rotation, self._rotates = [], None, False

    def _modulate(
        self, kind: str, module: nn.Module, inputs: tuple[Tensor, ...], states: Tensor
    ) -> Tensor:
        """Scale `states`: (batch, tokens, heads d_head), or with heads apart from d_head."""
        changed = states.float() if self._rotates else states
        laid_out = [
            (adapter.after_rope, *_laid_out_as(inputs[0], states, factors[kind]))
            for adapter, factors in self._factors
        ]
        for after_rope, factor, _ in laid_out:
            changed = changed if after_rope else changed * factor
        if self._rotates:
            changed = self._rotate(changed, laid_out[0][2])
        for after_rope, factor, heads_first in laid_out:
            if after_rope and self._rotates:
                changed = changed * factor
            elif after_rope:
                changed = self._modulate_rotated(changed, factor, heads_first)
        return changed.to(states.dtype)

    def _turn(self, states: Tensor, heads_first: bool) -> tuple[Tensor, Tensor]:
        """Return cosines and sines that fit to states with heads apart from d_head."""
        assert self._rotation is not None
        cos, sin = (part.unsqueeze(1 if heads_first else 2) for part in self._rotation)
        return cos.to(states.dtype), sin.to(states.dtype)

    def _rotate(self, states: Tensor, heads_first: bool) -> Tensor:
        cos, sin = self._turn(states, heads_first)
        apart = _heads_apart(states, cos)
        return (apart * cos + _half_turn(apart) * sin).view_as(states)

    def _modulate_rotated(self, states: Tensor, factor: Tensor, heads_first: bool) -> Tensor:
        states = states.to(torch.promote_types(states.dtype, factor.dtype))
        cos, sin = self._turn(states, heads_first)
        apart = _heads_apart(states, cos)
        rotated = (apart * cos + _half_turn(apart) * sin) * (factor - 1).view_as(apart)
        # Scaled rotations (YaRN) have cos^2 + sin^2 other than 1.
        back = (rotated * cos - _half_turn(rotated) * sin) / (cos**2 + sin**2)
        return states + back.view_as(states)


def _heads_apart(states: Tensor, cos: Tensor) -> Tensor:
    """View states with the heads apart from d_head, which the last side of `cos` is."""
    return states if states.ndim == cos.ndim else states.unflatten(-1, (-1, cos.shape[-1]))


def _half_turn(states: Tensor) -> Tensor:
    first, second = states.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def _laid_out_as(inputs: Tensor, states: Tensor, factors: Tensor) -> tuple[Tensor, bool]:
    """Reshape factors (batch, tokens, heads, d_head) to the layout of `states`.

    Also returns whether the heads come before the tokens.
    """
    if states.ndim < factors.ndim:
        return factors.flatten(2), False
    tokens, heads = factors.shape[1:3]
    # Qwen3 normalises before it moves the heads in front of the tokens, Gemma 3 after. With as
    # many tokens as heads only the strides of the norm's input tell.
    heads_first = (
        states.shape[1] == heads if tokens != heads else inputs.stride(1) < inputs.stride(2)
    )
    return (factors.transpose(1, 2) if heads_first else factors), heads_first


class AttentionTuner(NativeTuner):
    """Puts the method's layer around every targeted attention module of the language model.

    Where the configuration has `train_norms`, the norm weights of every decoder layer are trained
    beside it, as copies, so that the adapter can be saved, disabled and taken off.
    """

    tuner_layer_cls = (AttentionLayer, CopyLayer)  # type: ignore[assignment]
    layer: ClassVar[type[AttentionLayer]]
    adapter: ClassVar[type[Adapter]]

    def _prepare_model(self, peft_config: Any, model: nn.Module) -> None:
        rotary = [key for key, module in model.named_modules() if is_rotary(_bare(module))]
        if not rotary:
            raise ValueError(
                f"{type(model).__name__} has no rotary attention (RoPE) with q_proj and k_proj, "
                f"and {type(self).__name__} adapts nothing else. Take a backbone such as Llama, "
                "Qwen or Gemma."
            )
        if not any(BaseTuner._check_target_module_exists(peft_config, key) for key in rotary):
            raise ValueError(
                f"target_modules {peft_config.target_modules} names no attention module; here "
                f"they are called such as {rotary[0]}."
            )

    @staticmethod
    def _check_target_module_exists(peft_config: Any, key: str) -> Any:
        """Match the names of attention modules, and those of norms if they are trained."""
        if peft_config.train_norms and is_layer_norm(key):
            return True
        return BaseTuner._check_target_module_exists(peft_config, key)

    def _create_and_replace(  # noqa: PLR0913, PLR0917 (the signature is PEFT's)
        self,
        peft_config: Any,
        adapter_name: str,
        target: nn.Module,
        target_name: str,
        parent: nn.Module,
        current_key: str,
        parameter_name: str | None = None,
    ) -> None:
        if is_layer_norm(current_key):
            CopyLayer.put(adapter_name, target, target_name, parent, memo={})
            return
        attention: Any = _bare(target)
        if not is_rotary(attention):
            return  # the attention of a vision tower
        try:
            adapter = self.adapter(attention, peft_config)
        except ValueError as error:
            raise ValueError(f"{current_key}: {error}") from error
        if not isinstance(target, AttentionLayer):
            target = self.layer(attention, parent)
            setattr(parent, target_name, target)
        target.update_layer(adapter_name, adapter)

    def _replace_module(
        self, parent: nn.Module, child_name: str, new_module: nn.Module, child: Any
    ) -> None:
        for hook in getattr(child, "hooks", ()):
            hook.remove()
        setattr(parent, child_name, new_module)


def _bare(module: nn.Module) -> nn.Module:
    return module.base_layer if isinstance(module, AttentionLayer) else module


def is_rotary(module: nn.Module) -> bool:
    """Whether `module` is an attention that rotates its queries and keys."""
    projects = hasattr(module, "q_proj") and hasattr(module, "k_proj")
    return projects and "position_embeddings" in inspect.signature(module.forward).parameters


def attention_shape(attention: Any) -> tuple[int, int, int, int]:
    """Return hidden size, query heads, key heads and head size of an attention module.

    Raises:
        ValueError: RoPE does not turn all dimensions of a head in pairs (i, i + d_head / 2).
    """
    _require_half_split_pairs(attention)
    d_head = attention.head_dim
    if d_head % 2:
        raise ValueError(f"the head size is {d_head}; RoPE pairs dimensions, so it must be even.")
    heads = attention.q_proj.out_features // d_head
    return attention.q_proj.in_features, heads, attention.k_proj.out_features // d_head, d_head


def _require_half_split_pairs(attention: Any) -> None:
    """Refuse what turns neighbours (Cohere, GLM) or a part of the head (StableLM, GLM)."""
    half_turn = getattr(sys.modules[type(attention).__module__], "rotate_half", None)
    four = torch.arange(4.0, device="cpu")
    halves = half_turn is not None and half_turn(four).tolist() == [-2.0, -3.0, 0.0, 1.0]
    rope = attention.config.rope_parameters
    kinds = [one for one in rope.values() if isinstance(one, dict)] or [rope]
    whole = all((one.get("partial_rotary_factor") or 1.0) == 1.0 for one in kinds)
    if not halves or not whole:
        raise ValueError(
            f"the RoPE of {type(attention).__name__} does not turn all of a head in pairs (i, i + "
            "d_head / 2), as that of Llama, Mistral, Qwen and Gemma does."
        )


def is_layer_norm(key: str) -> bool:
    """Whether a module's name is that of a norm of a decoder layer: two, or four in Gemma."""
    return key.rpartition(".")[2].endswith("layernorm") and ".layers." in f".{key}"


def layer_norm_parameters(model: PreTrainedModel) -> int:
    """Count the norm weights that `train_norms` trains."""
    modules = dict(model.named_modules())
    return sum(
        p.numel() for key in modules if is_layer_norm(key) for p in modules[key].parameters()
    )
