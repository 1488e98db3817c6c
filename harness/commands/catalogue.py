"""`harness methods` and `harness tasks`: lists of methods and benchmarks."""

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


def methods(name: str | None, backbone: str | None, *, full: bool = False) -> Report:
    """List all methods, or show one; with their trainable parameters on a backbone.

    With `full`, which imports PEFT, each also has its paper, docstring, fields and variants.
    """
    names = plugins.names("methods")
    if name is not None and name not in names:
        raise UserError(unknown("method", name, names))
    rows: list[dict[str, Any]] = [
        {"method": one, "what": plugins.docstring("methods", one).splitlines()[0]}
        for one in ([name] if name else names)
    ]
    facts = [{**row, **_facts(row["method"])} for row in rows if full]
    if backbone:
        from harness.planning.parameters import counting  # noqa: PLC0415 (start-up time)

        with counting():
            rows = _counted([row["method"] for row in rows], backbone)
    text = table(rows)
    if name:
        fields = ", ".join(f"{key}={value}" for key, value in _fields(name).items())
        text += f"\n\n{plugins.docstring('methods', name)}\n\nFields: {fields}"
    return Report(text, rows if backbone or not full else facts)


def tasks(name: str | None) -> Report:
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
    text = table(rows)
    text += f"\n\n{plugins.docstring('tasks', name)}" if name in names else ""
    return Report(text, [{**row, **_source(str(row["benchmark"]))} for row in rows])


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
