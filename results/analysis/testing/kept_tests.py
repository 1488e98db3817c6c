"""Tests over items take seconds, so that a family of them is made once and then looked up."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from results.analysis.testing.evidence import Evidence
from results.statistics.test import Test, Undefined

Outcome = Test | Undefined

Keep = Callable[[Any, Callable[[], Any]], Any]
"""Gives the value that was computed before under a key, or computes it: `results.kept`."""


def at_once(key: Any, compute: Callable[[], Any]) -> Any:
    """Keep nothing."""
    return compute()


def kept(keep: Keep, key: Any, make: Callable[[], Iterable[Outcome]]) -> list[Outcome]:
    """Make tests, or give those that were made under `key` before."""
    return [_outcome(plain) for plain in keep(key, lambda: list(map(asdict, make())))]


def seen(evidence: Evidence) -> Any:
    """Tell all that tests look at, items too: it changes when scores or verdicts do."""
    judged = evidence.judged()
    told = asdict(judged) if isinstance(judged, Undefined) else judged.digest
    return [evidence.average, sorted(evidence.by_seed.items()), told]


def _outcome(plain: dict[str, Any]) -> Outcome:
    if "reason" in plain:
        return Undefined(**plain)
    interval = plain["interval"]
    ends = {"interval": interval and tuple(interval), "n": tuple(plain["n"])}
    return Test(**(plain | ends))
