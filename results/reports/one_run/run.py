"""One run in full, for a reader who wants to know how a number came about."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import indent
from typing import Any

from results.analysis.metrics import metric
from results.analysis.runs.versions import changed
from results.record import PeakMemory, Run, Score
from results.reports import prose
from results.reports.markdown_table import markdown_table
from results.reports.one_run.command import whole
from results.texts import shortened

COMMAND = "command"
MOST = 10_000
"""Characters of a value."""

WIDTH = 100
"""Columns of the command."""

MEMORY = ("allocated", "reserved")


def markdown(
    run: Run,
    training: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    told: Mapping[str, str] | None = None,
    attempts: Sequence[str] = (),
) -> str:
    """Write one run, all that is stored of it.

    Args:
        run: The run.
        training: What its training came to.
        files: The user's own files that it ran, each with where its copy is.
        told: What else its folder tells, by name.
        attempts: How each start of it ended, a line each.
    """
    sections = {
        f"Run {run.run_id}": _facts({**_identity(run), **(told or {})}),
        "Scores": _scores(run.scores),
        "Flags": indent("\n".join(run.flags), "    "),
        "Signatures": _facts(_signatures(run.scores)),
        "Training": _facts(training or {}),
        "Attempts": indent("\n".join(attempts), "    "),
        "Time": _time(run.seconds),
        "Size": _facts(_size(run)),
        "GPU memory": _memory(run.peak_memory),
        "Nondeterministic kernels": indent("\n".join(run.nondeterministic_kernels), "    "),
        "Spec": _facts(run.spec),
        "Environment": _facts(run.environment),
        "Provenance": _facts(
            {name: one for name, one in run.provenance.items() if name != COMMAND}
        ),
        "Command": whole(run.provenance.get(COMMAND, ()), WIDTH),
        "Own files": indent(
            "\n".join(f"{path}, copy: {copy}" for path, copy in (files or {}).items()), "    "
        ),
    }
    return "\n\n".join(f"## {title}\n\n{text}" for title, text in sections.items() if text)


def _identity(run: Run) -> dict[str, Any]:
    return {
        "status": run.status,
        **({"reason": run.reason} if run.reason else {}),
        **({"forgotten": run.forgotten} if run.forgotten else {}),
        "started": f"{run.started:%Y-%m-%d %H:%M:%S %Z}",
        "method": run.method,
        "backbone": run.backbone,
        "group": run.group,
        "seed": run.seed,
        **({} if run.fold is None else {"fold": run.fold}),
        "protocol": prose.how(run.protocol, run.conditions),
        "marks": "; ".join([*run.marks, *changed(run)]) or "none",
        **({"tags": " ".join(run.tags)} if run.tags else {}),
        **{f"note of {note.written:%Y-%m-%d %H:%M}": note.text for note in run.notes},
        **({} if run.validation_loss is None else {"validation loss": run.validation_loss}),
        "setting": run.setting,
        "recipe": run.recipe,
        "series": run.series,
        "environment": run.environment_id,
        "folder": run.folder,
    }


def _size(run: Run) -> dict[str, Any]:
    share = run.trainable_parameters / run.total_parameters if run.total_parameters else 0
    return {
        "trainable parameters": f"{run.trainable_parameters:,} of {run.total_parameters:,}"
        f" ({100 * share:.3g} %)",
        "adapter": f"{run.adapter_bytes:,} bytes",
        "peak memory": f"{run.peak_memory_bytes:,} bytes",
        "training": f"{run.train_tokens_per_second:,.0f} tokens per second",
    }


def _scores(scores: Sequence[Score]) -> str:
    header = ["benchmark", "metric", "extractor", "headline", "value", "of", "unparsed"]
    return markdown_table(header, map(_score, scores), align="llllrrr") if scores else ""


def _score(score: Score) -> list[str]:
    names = [score.benchmark, score.metric, score.read_by, "yes" if score.headline else ""]
    value = prose.value(metric(score.metric), score.value)
    return [*names, value, str(score.n), str(score.unparsed)]


def _signatures(scores: Iterable[Score]) -> dict[str, str]:
    return {f"{one.benchmark} {one.metric}": one.signature for one in scores if one.signature}


def _time(seconds: Mapping[str, float]) -> str:
    wall = seconds.get("wall", 0.0)
    rows = [
        [phase, f"{spent:.2f}", f"{100 * spent / wall:.1f}" if wall else "-"]
        for phase, spent in seconds.items()
    ]
    return markdown_table(["phase", "seconds", "% of wall"], rows, align="lrr") if rows else ""


def _memory(peaks: PeakMemory) -> str:
    rows = [
        [phase, *(f"{peak[kind] / 2**20:,.0f}" for kind in MEMORY)] for phase, peak in peaks.items()
    ]
    header = ["phase", *(f"{kind}, MiB" for kind in MEMORY)]
    return markdown_table(header, rows, align="lrr") if rows else ""


def _facts(values: Mapping[str, Any]) -> str:
    """Write nested values as one indented `path.to.name = value` line each."""
    lines = (f"{name} = {shortened(str(value), MOST)}" for name, value in _flat(values))
    return indent("\n".join(lines), "    ")


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
