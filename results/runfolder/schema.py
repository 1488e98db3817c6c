"""`python -m results.runfolder.schema` prints the tables of the README beside this."""

from collections.abc import Iterator, Mapping
from typing import Any

from results.runfolder.attempts import Attempt
from results.runfolder.remarks import Note, Remarks
from results.runfolder.values import (
    ClusterJob,
    Divergence,
    Environment,
    Event,
    Failure,
    FileValue,
    Generation,
    Head,
    OptionLikelihoods,
    PartialAnswer,
    PartialLikelihood,
    ReferenceLikelihood,
    Result,
    TrainRecord,
    Verdict,
)
from results.runfolder.wishes import Forgotten

Schema = Mapping[str, Any]

FILES: Mapping[str, tuple[type[FileValue], ...]] = {
    "run.json": (Head,),
    "cluster.json": (ClusterJob,),
    "attempts/NUMBER.json": (Attempt,),
    "environment.json": (Environment,),
    "events.jsonl": (Event,),
    "training.json": (TrainRecord,),
    "generations/NAME.partial.jsonl": (PartialAnswer,),
    "generations/NAME.jsonl.gz": (Generation,),
    "likelihoods/NAME.partial.jsonl": (PartialLikelihood,),
    "likelihoods/NAME.jsonl": (OptionLikelihoods, ReferenceLikelihood),
    "verdicts/NAME.jsonl": (Verdict,),
    "result.json": (Result,),
    "divergence.json": (Divergence,),
    "failure.json": (Failure,),
    "forgotten.json": (Forgotten,),
    "remarks.json": (Remarks, Note),
}
"""What each file holds, in the order in which they are written; a `jsonl` file, in each line."""


def markdown() -> str:
    """Describe every key of every file of a run folder, in Markdown."""
    sections = [_section(name, kind) for name, kinds in FILES.items() for kind in kinds]
    return "\n\n".join(sections)


def _section(name: str, kind: type[FileValue]) -> str:
    schema = kind.model_json_schema()
    parts = [f"### `{name}`: {kind.__name__}", schema["description"], _table(schema)]
    for title, nested in schema.get("$defs", {}).items():
        parts += [f"#### {title}", nested["description"], _table(nested)]
    return "\n\n".join(parts)


def _table(schema: Schema) -> str:
    return "\n".join(["| key | type | meaning |", "| :--- | :--- | :--- |", *_rows(schema)])


def _rows(schema: Schema) -> Iterator[str]:
    for key, field in schema["properties"].items():
        meaning = " ".join(field["description"].split())
        yield f"| `{key}` | {_type(field)} | {meaning} |"


def _type(field: Schema) -> str:
    """Name the type of a field as JSON Schema does, on one line.

    >>> _type({"type": "object", "additionalProperties": {"type": "number"}})
    'object of number'
    >>> _type({"anyOf": [{"type": "integer"}, {"type": "null"}]})
    'integer or null'
    """
    if "anyOf" in field:
        return " or ".join(map(_type, field["anyOf"]))
    if "$ref" in field:
        return str(field["$ref"].rpartition("/")[2])
    inner = field.get("items") or field.get("additionalProperties")
    return f"{field['type']} of {_type(inner)}" if isinstance(inner, dict) else str(field["type"])


if __name__ == "__main__":
    print(markdown())
