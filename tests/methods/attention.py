"""Attention with rotary embedding, computed by hand in float64, one head after the other."""

import math
from typing import Any

import torch
from torch import Tensor

HEAD_SIZE, WINDOW = 16, 8  # of the models of `methods.conformance.models`
PAIRS = HEAD_SIZE // 2


def rotate(states: Tensor, theta: float) -> Tensor:
    """Turn pair i of the token at position p, (batch, p, heads, d_head), by p theta^(-2i/d)."""
    # Transformers takes the angle, its sine and its cosine in float32.
    frequency = 1 / theta ** (torch.arange(0, HEAD_SIZE, 2).float() / HEAD_SIZE)
    angle = (torch.arange(states.shape[1]).float()[:, None] * frequency)[:, None]
    cos, sin = angle.cos().double(), angle.sin().double()
    real, imaginary = states[..., :PAIRS], states[..., PAIRS:]
    return torch.cat([real * cos - imaginary * sin, imaginary * cos + real * sin], dim=-1)


def attend(query: Tensor, key: Tensor, value: Tensor, window: int | None) -> Tensor:
    """Attend to the last `window` tokens, or to all up to the own one.

    Args:
        query: (batch, tokens, heads, d_head).
        key: (batch, tokens, key heads, d_head), each of which serves as many query heads.
        value: As the key.
        window: None for no limit.

    Returns:
        The outputs of the heads side by side, (batch, tokens, heads x d_head).
    """
    position = torch.arange(query.shape[1])
    distance = position[:, None] - position
    hidden = (distance < 0) | (distance >= (window or math.inf))
    outputs = []
    for head in range(query.shape[2]):
        shared = head * key.shape[2] // query.shape[2]
        scores = query[:, :, head] @ key[:, :, shared].mT / math.sqrt(HEAD_SIZE)
        weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
        outputs.append(weights @ value[:, :, shared])
    return torch.cat(outputs, dim=-1)


def theta_and_window(model: Any, attention: Any) -> tuple[float, int | None]:
    """Look up the base of the rotary angles and the window of one layer's attention."""
    ropes = model.config.rope_parameters
    kind = getattr(attention, "layer_type", "full_attention")
    slides = kind == "sliding_attention" or model.config.model_type == "mistral"
    return ropes.get(kind, ropes)["rope_theta"], WINDOW if slides else None
