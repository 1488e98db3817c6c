"""Prompts, loss mask, length limits, decoding and answer extraction."""
