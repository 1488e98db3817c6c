"""One run on one screen: what it is, where it is, how it went, its scores and flags."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from results.analysis.averages import averages, finite
from results.analysis.metrics import metric
from results.record import POOLED, Run, Score
from results.reports import prose
from results.reports.markdown_table import markdown_table

LINES = 40
WIDTH = 100
MOST_FACT = 4
MOST_REASON = 8
MOST_ROWS = 16
NAMES = 10
"""Columns of the names of facts."""


def screen(run: Run, log: str = "") -> str:
    """Write a run in at most `LINES` lines of `WIDTH` columns.

    Args:
        run: The run; of a failed one the reason comes first.
        log: What the worker printed; its end fills the screen of a failed run.
    """
    lines = [_title(run), *_reason(run), "", *_facts(run)]
    if run.scores:
        lines += ["", *_capped(_scores(run), MOST_ROWS)]
    end = ["", f"The rest: harness show {run.run_id} --all; answers: harness items {run.run_id}"]
    room = max(2, LINES - len(lines) - len(end) - 2)
    if run.flags:
        lines += ["", "Flags:", *_capped([f"- {flag}" for flag in run.flags], room)]
    elif log:
        lines += ["", "End of the log:", *log.splitlines()[-room:]]
    return "\n".join(map(_clipped, [*lines[: LINES - len(end)], *end]))


def _title(run: Run) -> str:
    fold = "" if run.fold is None else f", fold {run.fold}"
    return f"{run.method} on {run.backbone}, {run.group}, seed {run.seed}{fold}"


def _reason(run: Run) -> list[str]:
    lines = [part for line in run.reason.splitlines() for part in wrap(line, WIDTH) or [""]]
    return _capped(["failed: " + lines[0], *lines[1:]], MOST_REASON) if lines else []


def _facts(run: Run) -> Iterator[str]:
    command = run.provenance.get("command", ())
    facts = {
        "run": run.run_id,
        "status": f"{run.status}, {run.started:%Y-%m-%d %H:%M:%S %Z}, {_time(run.seconds)}",
        "folder": run.folder,
        "command": shlex.join(command),
        "protocol": run.protocol,
        "data": "; ".join(run.marks),
        "size": _size(run),
        "device": str(run.environment.get("device", "")),
    }
    for name, value in facts.items():
        parts = _capped(wrap(value, WIDTH - NAMES, break_on_hyphens=False), MOST_FACT)
        for part, label in zip(parts, [name, *[""] * len(parts)], strict=False):
            yield f"{label:{NAMES}}{part}"


def _time(seconds: Mapping[str, float]) -> str:
    phases = {name: spent for name, spent in seconds.items() if name != "wall"}
    longest = sorted(phases, key=phases.__getitem__, reverse=True)[:3]
    said = ", ".join(f"{name} {phases[name]:.1f}" for name in longest)
    return f"{seconds.get('wall', 0.0):.1f} s" + (f" ({said})" if said else "")


def _size(run: Run) -> str:
    if not run.total_parameters:
        return ""
    share = 100 * run.trainable_parameters / run.total_parameters
    return (
        f"{run.trainable_parameters:,} of {run.total_parameters:,} parameters trained "
        f"({share:.3g} %), peak memory {run.peak_memory_bytes / 2**20:,.0f} MiB"
    )


def _scores(run: Run) -> list[str]:
    """Write the headline scores, a line per benchmark and average, a column per metric."""
    by_metric = {name: run.headline(name) for name in run.metrics}
    names = list(dict.fromkeys(one.benchmark for one in run.scores if one.headline))
    sizes = {one.benchmark: one for one in reversed(run.scores) if one.headline}
    rows = [
        [
            name,
            *(_value(metric, by_metric[metric].get(name)) for metric in by_metric),
            *_rows(sizes[name]),
        ]
        for name in names
        if name != POOLED
    ]
    found = {name: _averages(name, scores) for name, scores in by_metric.items()}
    kinds = list(dict.fromkeys(kind for one in found.values() for kind in one))
    rows += [[kind, *(one.get(kind, "") for one in found.values()), "", ""] for kind in kinds]
    header = ["benchmark", *by_metric, "rows", "unparsed"]
    return markdown_table(header, rows, align="l" + "r" * (len(header) - 1)).splitlines()


def _value(name: str, score: Score | None) -> str:
    return "-" if score is None else prose.value(metric(name), score.value)


def _rows(score: Score) -> list[str]:
    return [str(score.n), str(score.unparsed) if score.extractor else ""]


def _averages(name: str, scores: Mapping[str, Score]) -> dict[str, str]:
    """Average a metric over several benchmarks; nothing if a score is not finite."""
    if len(scores) < 2 or finite(scores).keys() != scores.keys():  # noqa: PLR2004
        return {}
    found = averages(metric(name), scores)
    return {kind: prose.value(metric(name), value) for kind, value in found.items()}


def _capped(lines: Sequence[str], most: int) -> list[str]:
    left = len(lines) - most
    return [*lines] if left <= 0 else [*lines[: most - 1], f"... and {left + 1} more"]


def _clipped(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"
