"""The model card of a run's adapter: metadata for a model hub, and text for people."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from textwrap import dedent, indent
from typing import Any

from huggingface_hub import EvalResult, ModelCardData

from results.analysis.metrics import metric
from results.record import POOLED, Run, Score
from results.reports import prose
from results.reports.markdown_table import markdown_table
from results.statistics import wilson

INTERVAL = (
    "The interval is Wilson's at 95 %. It is about the rows alone: other seeds move a score too."
)
LICENCE = (
    "No licence is granted here. What may be done with the adapter depends on the licences of the "
    "backbone and of the data."
)


@dataclass(frozen=True)
class About:
    """What a card says beside the stored run.

    Attributes:
        title: The method's, as people write it.
        paper: Where the method is defined, an address or words; empty where that is not known.
        summary: The method in a line.
        repository: The backbone's on the hub; None for a folder.
        revision: The commit of the repository; None for a folder.
        licences: Of the data sets, by title.
        training: What the training came to, such as the steps that were taken.
        imports: The modules that PEFT needs imported to know the method.
        file: The name of the method's file where it is the user's own.
    """

    title: str
    paper: str
    summary: str
    repository: str | None
    revision: str | None
    licences: Mapping[str, str]
    training: Mapping[str, Any]
    imports: tuple[str, ...]
    file: str = ""


def markdown(run: Run, about: About, place: str) -> str:
    """Write the card of a run's adapter, which lies in `place`: a folder or a hub repository."""
    sections = {
        "Scores": _scores(run),
        "How to load": _loading(run, about, place),
        "Method": _facts(run.spec["method"]["fields"]),
        "Training": _facts({**run.spec["train"], "seed": run.seed, **about.training}),
        "Data": f"{_data(run, about.licences)}\n\n{LICENCE}",
        "Run": _facts(_run(run)),
    }
    parts = [f"---\n{_metadata(run, about)}\n---", f"# {_title(run, about)}", _head(run, about)]
    parts += [f"## {title}\n\n{text}" for title, text in sections.items() if text]
    return "\n\n".join(parts) + "\n"


def _title(run: Run, about: About) -> str:
    return f"{about.title} on {run.backbone}, {run.group}"


def _metadata(run: Run, about: About) -> str:
    data = ModelCardData(
        base_model=about.repository,
        library_name="peft",
        pipeline_tag="text-generation",
        tags=["peft-proving-ground", run.method.partition("[")[0]],
        model_name=_title(run, about),
        eval_results=[_result(run, score) for score in _shown(run)],
    )
    return data.to_yaml().strip()


def _shown(run: Run) -> list[Score]:
    return [score for score in run.scores if score.headline]


def _result(run: Run, score: Score) -> EvalResult:
    """Give a score as an entry of the hub's `model-index`."""
    known, data = metric(score.metric), run.spec["tests"].get(score.benchmark, {})
    arguments: dict[str, Any] = {"n": score.n, "protocol": run.protocol}
    if score.extractor:
        arguments["extractor"] = score.extractor
    if known.share:
        arguments["wilson_95"] = [
            known.points(end) for end in wilson.interval(score.value, score.n)
        ]
    return EvalResult(
        task_type="text-generation",
        dataset_type=score.benchmark,
        dataset_name=data.get("title", _benchmark(score)),
        dataset_revision=f"sha256:{data['sha256']}" if data else None,
        metric_type=score.metric.replace(" ", "_"),
        metric_name=known.title,
        metric_value=known.points(score.value),
        metric_args=arguments,
    )


def _head(run: Run, about: About) -> str:
    backbone = run.backbone
    if about.repository:
        backbone = f"[{backbone}](https://huggingface.co/{backbone}/tree/{about.revision})"
    trained = run.spec["train_data"]["title"]
    adapter = f"An adapter of {_method(about)} for {backbone}, trained on {trained}."
    care = f"Read with care: {'; '.join(run.marks)}." if run.marks else ""
    return "\n\n".join(filter(None, [adapter, about.summary, care]))


def _method(about: About) -> str:
    """Name the method with its paper, as a link where that is an address."""
    if about.paper.startswith("http"):
        return f"[{about.title}]({about.paper})"
    return f"{about.title} ({about.paper})" if about.paper else about.title


def _scores(run: Run) -> str:
    if not (shown := _shown(run)):
        return ""
    header = ["benchmark", "metric", "score", "95 % interval", "of", "no answer found"]
    table = markdown_table(header, map(_score, shown), align="llrrrr")
    flags = [f"- {flag}" for flag in run.flags]
    return "\n\n".join([table, INTERVAL, *(["\n".join(flags)] if flags else [])])


def _score(score: Score) -> list[str]:
    known, between = metric(score.metric), "-"
    if known.share:
        low, high = (known.points(end) for end in wilson.interval(score.value, score.n))
        between = f"{low:.2f} to {high:.2f}"
    value = prose.value(known, score.value)
    return [_benchmark(score), score.metric, value, between, str(score.n), str(score.unparsed)]


def _benchmark(score: Score) -> str:
    return "all benchmarks together" if score.benchmark == POOLED else score.benchmark


def _loading(run: Run, about: About, place: str) -> str:
    name = f'"{about.repository}"' if about.repository else f'"FOLDER"  # of {run.backbone}'
    revision = f', revision="{about.revision}"' if about.revision else ""
    imports = "".join(f"import {module}\n" for module in about.imports)
    beside = f", and {about.file} in the current folder" if about.file else ""
    needed = f"With peft-proving-ground installed{beside}:\n\n" if about.imports else ""
    code = f"""\
        from peft import PeftModel
        from transformers import AutoModelForCausalLM, AutoTokenizer

        backbone = {name}
        tokenizer = AutoTokenizer.from_pretrained(backbone{revision})
        model = AutoModelForCausalLM.from_pretrained(backbone{revision})
        model = PeftModel.from_pretrained(model, "{place}")"""
    return f"{needed}```python\n{imports}{dedent(code)}\n```"


def _data(run: Run, licences: Mapping[str, str]) -> str:
    uses = [("training", run.spec["train_data"])]
    uses += [(name, data) for name, data in run.spec["tests"].items()]
    rows = [
        [use, data["title"], str(data["rows"]), data["sha256"][:16], licences[data["title"]]]
        for use, data in uses
    ]
    return markdown_table(["used for", "set", "rows", "sha256", "licence"], rows, align="llrll")


def _run(run: Run) -> dict[str, Any]:
    stack = (f"{name} {value}" for name, value in run.environment.items() if isinstance(value, str))
    return {
        "run": run.run_id,
        "method": run.method,
        "protocol": run.protocol,
        "started": f"{run.started:%Y-%m-%d}",
        "trainable parameters": f"{run.trainable_parameters:,} of {run.total_parameters:,}",
        "environment": ", ".join(stack),
    }


def _facts(values: Mapping[str, Any]) -> str:
    return indent("\n".join(_lines(values)), "    ")


def _lines(values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        if value not in (None, {}):  # what a method does not use
            yield f"{name} = {value}"
