"""One run on one screen: what it is, where it is, how it went, its scores and flags."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from results.analysis.averages import averages, finite
from results.analysis.metrics import metric
from results.analysis.runs.versions import versions
from results.record import POOLED, Run, Score
from results.reports import prose
from results.reports.markdown_table import markdown_table
from results.reports.one_run.command import brief
from results.texts import shortened, visible

LINES = 30
WIDTH = 100
MOST_FACT = 2
MOST_CONDITIONS = 4
MOST_REASON = 8
LEAST_FLAGS = 2
"""However many benchmarks there are; the reader must see that there are flags."""

NAMES = 10
"""Columns of the names of facts."""


def screen(
    run: Run,
    log: str = "",
    training: Mapping[str, Any] | None = None,
    told: Mapping[str, str] | None = None,
) -> str:
    """Write a run in at most `LINES` lines of `WIDTH` columns.

    Args:
        run: The run; of a failed one the reason comes first.
        log: What the worker printed; its end fills the screen of a failed run.
        training: What the training came to, such as the rows that were held out.
        told: What else its folder tells, by name.
    """
    lines = [_title(run), *_reason(run), *_facts(run, training or {}, told or {})]
    end = ["", _end(run)]
    flags = [f"- {flag}" for flag in run.flags]
    room = LINES - len(lines) - len(end)
    if run.scores:
        least = 2 + min(len(flags), LEAST_FLAGS) if flags else 0
        scores = ["", *_scores(run, room - least - 1)]
        lines += scores
        room -= len(scores)
    if flags:
        lines += ["", "Flags:", *_capped(flags, room - 2)]
    elif log:
        lines += ["", "End of the log:", *log.splitlines()[2 - room :]]
    return "\n".join(_clipped(visible(line, keep="")) for line in [*lines, *end])


def _end(run: Run) -> str:
    answers = f"; answers: harness items {run.run_id}" if run.status != "diverged" else ""
    return f"The rest: harness show {run.run_id} --all{answers}"


def _title(run: Run) -> str:
    fold = "" if run.fold is None else f", fold {run.fold}"
    return f"{run.method} on {run.backbone}, {run.group}, seed {run.seed}{fold}"


def _reason(run: Run) -> list[str]:
    reason = shortened(run.reason, (MOST_REASON - 2) * WIDTH)
    lines = [part for line in reason.splitlines() for part in wrap(line, WIDTH) or [""]]
    return _capped([f"{run.status}: {lines[0]}", *lines[1:]], MOST_REASON) if lines else []


def _facts(run: Run, training: Mapping[str, Any], told: Mapping[str, str]) -> Iterator[str]:
    facts = {
        "run": [run.run_id],
        "status": _short(f"{run.status}, {run.started:%Y-%m-%d %H:%M:%S %Z}, {_time(run.seconds)}"),
        "forgotten": _short(run.forgotten),
        "folder": _short(run.folder),
        "command": brief(run.provenance.get("command", ()), WIDTH - NAMES, MOST_FACT),
        "protocol": _short(prose.how(run.protocol, run.conditions), MOST_CONDITIONS),
        "data": _short("; ".join(run.marks)),
        "loss": _short(_loss(run, training)),
        "size": _short(_size(run)),
        "begun": _short(str(run.environment.get("begun", ""))),
        "tags": _short(", ".join(run.tags)),
        "notes": _capped([part for note in run.notes for part in _short(note.text)], MOST_FACT),
        **{name: _short(text) for name, text in told.items()},
    }
    for name, parts in facts.items():
        for part, label in zip(parts, [name, *[""] * len(parts)], strict=False):
            yield f"{label:{NAMES}}{part}"


def _short(text: str, most: int = MOST_FACT) -> list[str]:
    return _capped(wrap(text, WIDTH - NAMES, break_on_hyphens=False), most)


def _time(seconds: Mapping[str, float]) -> str:
    phases = {name: spent for name, spent in seconds.items() if name != "wall"}
    longest = sorted(phases, key=phases.__getitem__, reverse=True)[:3]
    said = ", ".join(f"{name} {phases[name]:.1f}" for name in longest)
    return f"{seconds.get('wall', 0.0):.1f} s" + (f" ({said})" if said else "")


def _loss(run: Run, training: Mapping[str, Any]) -> str:
    if run.validation_loss is None:
        return ""
    which, trained = "the validation rows", ""
    if "validated_rows" in training:  # folders of before do not say
        which = f"{training['validated_rows']} validation rows"
        trained = f"; trained on {training['trained_rows']} rows"
    return f"{run.validation_loss:.4f} nats per token of {which}, the lowest reached{trained}"


def _stack(run: Run) -> str:
    """Name the environment and the harness; `--all` has the whole record."""
    if not run.environment:
        return ""
    torch = run.environment.get("torch", "")
    told = (run.environment_id[: prose.DIGITS], f"torch {torch}" if torch else "")
    return ", ".join([f"environment {' with '.join(filter(None, told))}", *versions([run])])


def _size(run: Run) -> str:
    device = str(run.environment.get("device", ""))
    if not run.total_parameters:
        return ", ".join(filter(None, [device, _stack(run)]))
    share = 100 * run.trainable_parameters / run.total_parameters
    trained = f"{run.trainable_parameters:,} of {run.total_parameters:,} parameters trained"
    memory = f"peak memory {run.peak_memory_bytes / 2**20:,.0f} MiB"
    return ", ".join(filter(None, [f"{trained} ({share:.3g} %)", memory, device, _stack(run)]))


def _scores(run: Run, most: int) -> list[str]:
    """Write the headline scores, a line per benchmark and average, a column per metric.

    In `most` lines, or in the fewest that name a benchmark and all averages.
    """
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
    below = [[kind, *(one.get(kind, "") for one in found.values()), "", ""] for kind in kinds]
    header = ["benchmark", *by_metric, "rows", "unparsed"]
    lines = markdown_table(header, rows + below, align="l" + "r" * (len(header) - 1)).splitlines()
    head, benchmarks, last = lines[:2], lines[2 : 2 + len(rows)], lines[2 + len(rows) :]
    return [*head, *_capped(benchmarks, max(1, most - len(head) - len(last))), *last]


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
