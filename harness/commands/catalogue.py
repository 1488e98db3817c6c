"""`harness methods` and `harness tasks`: lists of methods and benchmarks."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from harness import plugins
from harness.commands.report import Report, table
from harness.errors import UserError, unknown
from harness.planning.faults import Faults

if TYPE_CHECKING:
    from harness.planning.footprint.skeleton import Skeleton
    from harness.spec.spec import MethodSpec
    from tasks.contract import Benchmark

NARROW = ("group", "benchmark", "title", "rows", "metrics")
"""What `harness tasks` shows of a benchmark in 100 characters."""

COUNTED = ("method", "backbone", "trainable", "percent", "notes")
"""What `harness methods --backbone` shows of a count in 100 characters."""


def methods(
    name: str | None, backbone: str | None, *, wide: bool = False, full: bool = False
) -> Report:
    """List all methods, or show one; with their trainable parameters on a backbone.

    One method may be the path of its file. With `full`, which imports PEFT, each also has its
    paper, docstring, fields and variants.
    """
    if name and name.endswith(plugins.FILE):
        name = plugins.add("methods", Path(name))
    names = plugins.names("methods")
    if name is not None and name not in names:
        raise UserError(unknown("method", name, names))
    if name:
        rows, notes = [_described(name)], []
    else:
        faults = Faults()
        rows = faults.each(_described, names)
        notes = [*faults.found, *plugins.taken("methods"), *_silent(rows)]
    wrong = plugins.faults("methods") if (backbone or full) and not name else {}
    sound = [row for row in rows if row["method"] not in wrong]
    notes = list(dict.fromkeys([*notes, *wrong.values()]))
    facts = [{**row, **_facts(row["method"])} for row in sound if full]
    if backbone:
        from harness.planning.footprint.parameters import counting  # noqa: PLC0415 (start-up time)

        with counting():
            rows = _counted([row["method"] for row in sound], backbone)
    shown = rows if wide or not backbone else _only(COUNTED, rows)
    text = table(shown, wide=wide)
    if name:
        fields = ", ".join(f"{key}={value}" for key, value in _fields(name).items())
        text += f"\n\n{plugins.docstring('methods', name)}\n\n{fill(f'Fields: {fields}', 100)}"
    return Report(text, rows if backbone or not full else facts, notes=notes)


def _only(keys: Sequence[str], rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: row[key] for key in keys} for row in rows]


def _described(name: str) -> dict[str, Any]:
    """Describe a method by the first line of its file, without importing it."""
    first, *_ = [*plugins.docstring("methods", name).splitlines(), ""]
    return {"method": name, "what": first}


def _silent(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Name the guests that say nothing of themselves."""
    silent = [row["method"] for row in rows if not row["what"]]
    return [f"{plugins.called('methods', name)} has no docstring." for name in silent]


def tasks(named: str | None, *, wide: bool = False) -> Report:
    """List all benchmarks by group, or only those named; a named benchmark is shown in full."""
    from harness.planning.parse import task_names  # noqa: PLC0415 (start-up time)

    wanted = [] if named is None else task_names(named)
    faults = plugins.faults("groups") | plugins.faults("tasks")
    if wrong := [name for name in wanted if name in faults]:
        raise UserError("\n".join(faults[name] for name in wrong))
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
        for group in plugins.groups()
        for one in plugins.group(group).benchmarks
        if not wanted or {one, group} & {*wanted}
    ]
    shown = rows if wide else _only(NARROW, rows)
    described = [
        plugins.docstring("tasks", name) for name in wanted if name in plugins.names("tasks")
    ]
    text = "\n\n".join([table(shown, wide=wide), *described])
    value = [{**row, **_source(str(row["benchmark"]))} for row in rows]
    return Report(text, value, notes=[] if wanted else plugins.notes("tasks", "groups"))


def _metrics(benchmark: "Benchmark") -> tuple[str, ...]:
    more = ("option likelihood",) if benchmark.options else ()
    return (*benchmark.metrics, *more)


def _counted(names: Sequence[str], backbone: str) -> list[dict[str, Any]]:
    """Count methods on the shapes of a backbone, and their variants that are named after papers."""
    from harness.planning.footprint.parameters import shapes  # noqa: PLC0415 (start-up time)
    from harness.planning.footprint.skeleton import skeleton  # noqa: PLC0415
    from harness.planning.methods import complete  # noqa: PLC0415
    from harness.planning.parse import parse_method  # noqa: PLC0415

    found = {name: skeleton(config) for name, config in shapes(backbone).items()}
    rows, counted = [], {}
    for text in [text for name in names for text in _with_papers(name)]:
        spec = complete(parse_method(text))
        same = json.dumps([spec.name, spec.fields], sort_keys=True)
        if same not in counted:
            counted[same] = [_count(spec, name, one) for name, one in found.items()]
        rows += [{"method": spec.label, **row} for row in counted[same]]
    return rows


def _with_papers(name: str) -> list[str]:
    papers = [variant for variant in plugins.method(name).variants if variant.endswith("-paper")]
    return [name, *(f"{name}:{paper}" for paper in papers)]


def _count(spec: "MethodSpec", backbone: str, skeleton: "Skeleton") -> dict[str, Any]:
    from harness.planning.footprint.parameters import count_by_kind  # noqa: PLC0415 (start-up time)

    try:
        found = asdict(count_by_kind(spec, backbone, skeleton))
    except UserError as error:
        found = {"trainable": None, "total": None, "percent": None, "adjustments": [str(error)]}
    notes = "; ".join(found.pop("adjustments"))
    return {"backbone": backbone, **found, "notes": notes}


def _fields(name: str, variant: str | None = None) -> dict[str, Any]:
    from harness.planning.methods import complete  # noqa: PLC0415 (start-up time)
    from harness.planning.parse import MethodRequest  # noqa: PLC0415

    return dict(complete(MethodRequest(name, variant=variant)).fields)


def _facts(name: str) -> dict[str, Any]:
    """Say all that is known of a method, for JSON; of a variant the fields that it changes."""
    method, fields = plugins.method(name), _fields(name)
    variants = {
        variant: {key: one for key, one in _fields(name, variant).items() if one != fields[key]}
        for variant in method.variants
    }
    return {
        "title": method.title,
        "paper": method.paper,
        "docstring": plugins.docstring("methods", name),
        "fields": fields,
        "variants": variants,
        "trains": method.trains,
        "mergeable": method.mergeable,
    }


def _source(name: str) -> dict[str, Any]:
    """Say where the rows of a benchmark are from, for JSON."""
    files = [asdict(file) | {"address": file.address} for file in plugins.benchmark(name).files]
    return {"docstring": plugins.docstring("tasks", name), "files": files}
