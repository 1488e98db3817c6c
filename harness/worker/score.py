"""Judging generations: every extractor of a benchmark on every completion."""

from collections.abc import Sequence
from typing import Any

from tasks.base import Benchmark, Row


def verdicts(
    benchmark: Benchmark, rows: Sequence[Row], completions: Sequence[str]
) -> list[dict[str, Any]]:
    """Say per row what each extractor found and whether it is right."""
    found = []
    for row, completion in zip(rows, completions, strict=True):
        extracted = {name: take(completion) for name, take in benchmark.extractors.items()}
        correct = {n: benchmark.judge(one, row.answer) for n, one in extracted.items()}
        found.append({"id": row.id, "extracted": extracted, "correct": correct})
    return found


def scores(name: str, found: Sequence[dict[str, Any]], headline: str) -> list[dict[str, Any]]:
    """Count the right answers of a benchmark under each extractor."""
    return [
        {
            "benchmark": name,
            "extractor": extractor,
            "headline": extractor == headline,
            "correct": sum(verdict["correct"][extractor] for verdict in found),
            "n": len(found),
        }
        for extractor in found[0]["correct"]
    ]
