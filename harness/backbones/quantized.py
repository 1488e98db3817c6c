"""Backbones whose linear layers are stored in 4 or 8 bits, by bitsandbytes."""

from typing import Any

import torch
from transformers import BitsAndBytesConfig


def quantization(how: str, precision: torch.dtype) -> BitsAndBytesConfig:
    """Configure bitsandbytes: 4 bits as QLoRA does, 8 bits by its own defaults."""
    if how == "int8":
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=precision,
    )


def keep_as_loaded(model: Any) -> None:
    """Keep 4-bit weights on a CPU as they were loaded.

    On a CPU with bfloat16 instructions, bitsandbytes would repack them when it first evaluates.
    From then on their scales are rounded to bfloat16, in training too, and layers that are not a
    multiple of 32 rows by 64 columns fail.
    """
    for layer in model.modules():
        if hasattr(layer, "support_avx512bf16_for_cpu"):
            layer.support_avx512bf16_for_cpu = False
