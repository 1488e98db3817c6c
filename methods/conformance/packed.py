"""A linear layer that stores its weights in 4 bits, and models that are made of such layers.

It stands in for the layers of bitsandbytes where that is not installed: like theirs, its `weight`
is a column of bytes that says nothing of rows and columns, and only its forward pass knows the
weights. So an adapter that reads, changes or folds weights fails on it.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from transformers import PreTrainedModel

from methods.conformance.probes import Build

LARGEST = 7
"""Codes are whole numbers from -7 to 7 times the scale of their row."""


class PackedLinear(nn.Linear):
    """A linear layer over weights in 4 bits, two to a byte."""

    scale: Tensor

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__(layer.in_features, layer.out_features, layer.bias is not None, "meta")
        codes, scale = _quantized(layer.weight.detach())
        pairs = (codes + 8).to(torch.uint8).view(-1, 2)
        self.weight = nn.Parameter((pairs[:, :1] << 4) | pairs[:, 1:], requires_grad=False)
        self.bias = layer.bias
        self.register_buffer("scale", scale, persistent=False)

    def forward(self, input: Tensor) -> Tensor:
        """Multiply by the weights that the codes stand for."""
        codes = torch.cat([self.weight >> 4, self.weight & 15], dim=1).to(torch.int8) - 8
        weights = codes.view(self.out_features, self.in_features) * self.scale
        return linear(input, weights, self.bias)


def packed(build: Build) -> PreTrainedModel:
    """Build a model whose linear layers, its head aside, are packed."""
    model: Any = build()
    for name, layer in _layers(model):
        model.set_submodule(name, PackedLinear(layer))
    bare: PreTrainedModel = model
    return bare


def rounded(build: Build) -> PreTrainedModel:
    """Build the same model with the weights that the codes stand for."""
    model = build()
    for _, layer in _layers(model):
        codes, scale = _quantized(layer.weight.detach())
        layer.weight.data = codes * scale
    return model


def _layers(model: PreTrainedModel) -> list[tuple[str, nn.Linear]]:
    head = model.get_output_embeddings()
    return [
        (name, layer)
        for name, layer in model.named_modules()
        if isinstance(layer, nn.Linear) and layer is not head
    ]


def _quantized(weights: Tensor) -> tuple[Tensor, Tensor]:
    """Round weights (out, in) to codes of the same shape, and a scale (out, 1) for each row."""
    scale = weights.abs().amax(dim=1, keepdim=True) / LARGEST
    return (weights / scale).round().to(torch.int8), scale
