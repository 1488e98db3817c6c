"""`harness methods` and `harness tasks`: what there is."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness import plugins
from harness.commands.report import Report, table
from harness.errors import UserError, unknown

if TYPE_CHECKING:
    from harness.spec.spec import MethodSpec
    from tasks.contract import Benchmark

NARROW = ("group", "benchmark", "title", "rows", "metrics")
"""What `harness tasks` shows of a benchmark in 100 characters."""


def methods(name: str | None, backbone: str | None, *, wide: bool = False) -> Report:
    """List all methods, or show one; with their trainable parameters on a backbone."""
    names = plugins.names("methods")
    if name is not None and name not in names:
        raise UserError(unknown("method", name, names))
    rows: list[dict[str, Any]] = [
        {"method": one, "what": plugins.docstring("methods", one).splitlines()[0]}
        for one in ([name] if name else names)
    ]
    if backbone:
        rows = _counted([row["method"] for row in rows], backbone)
    text = table(rows, wide=wide)
    if name:
        text += f"\n\n{plugins.docstring('methods', name)}\n\nFields: {', '.join(_fields(name))}"
    return Report(text, rows)


def tasks(name: str | None, *, wide: bool = False) -> Report:
    """List all benchmarks by group, or show one."""
    names, groups = plugins.names("tasks"), plugins.names("groups")
    if name is not None and name not in {*names, *groups}:
        raise UserError(unknown("task", name, [*groups, *names]))
    rows = [
        {
            "group": group,
            "benchmark": one,
            "title": plugins.benchmark(one).title,
            "rows": plugins.benchmark(one).file.rows,
            "metrics": ", ".join(_metrics(plugins.benchmark(one))),
            "extractors": ", ".join(plugins.benchmark(one).extractors) or None,
            "licence": plugins.benchmark(one).file.licence,
        }
        for group in groups
        for one in plugins.group(group).benchmarks
        if name in (None, one, group)
    ]
    shown = rows if wide else [{name: row[name] for name in NARROW} for row in rows]
    text = table(shown, wide=wide)
    return Report(text + (f"\n\n{plugins.docstring('tasks', name)}" if name in names else ""), rows)


def _metrics(benchmark: "Benchmark") -> tuple[str, ...]:
    more = ("option likelihood",) if benchmark.options else ()
    return (*benchmark.metrics, *more)


def _counted(names: Sequence[str], backbone: str) -> list[dict[str, Any]]:
    """Count methods on the shapes of a backbone, and their variants that are named after papers."""
    from harness.planning.methods import complete  # noqa: PLC0415
    from harness.planning.parameters import shapes  # noqa: PLC0415 (start-up time)
    from harness.planning.parse import parse_method  # noqa: PLC0415

    found = shapes(backbone)
    rows, counted = [], {}
    for text in [text for name in names for text in _with_papers(name)]:
        spec = complete(parse_method(text))
        same = json.dumps([spec.name, spec.fields], sort_keys=True)
        if same not in counted:
            counted[same] = [_count(spec, name, config) for name, config in found.items()]
        rows += [{"method": spec.label, **row} for row in counted[same]]
    return rows


def _with_papers(name: str) -> list[str]:
    papers = [variant for variant in plugins.method(name).variants if variant.endswith("-paper")]
    return [name, *(f"{name}:{paper}" for paper in papers)]


def _count(spec: "MethodSpec", backbone: str, config: Any) -> dict[str, Any]:
    from harness.planning.parameters import count_on  # noqa: PLC0415 (start-up time)

    try:
        found = asdict(count_on(spec, backbone, config))
    except UserError as error:
        found = {"trainable": None, "total": None, "percent": None, "adjustments": [str(error)]}
    notes = "; ".join(found.pop("adjustments"))
    return {"backbone": backbone, **found, "notes": notes}


def _fields(name: str) -> list[str]:
    from harness.planning.methods import complete  # noqa: PLC0415 (start-up time)
    from harness.planning.parse import MethodRequest  # noqa: PLC0415

    fields = complete(MethodRequest(name)).fields
    return [f"{key}={value}" for key, value in fields.items()]
