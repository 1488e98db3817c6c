"""Measures of generated text that need no extracted answer, and signs of degenerate output."""
