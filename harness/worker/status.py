"""Exit statuses of a worker."""

FAILED = 1
ELSEWHERE = 75
"""Another process works in the run folder."""
