"""Runs: all of them, one down to its answers, and what runs now."""
