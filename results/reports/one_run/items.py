"""Items of runs as pages to read, as JSON lines and as CSV."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from textwrap import indent
from typing import Any

from pydantic_core import to_json

from results.analysis.items import Item, Pair
from results.reports import spreadsheet
from results.texts import in_json, shortened, visible

MOST = 10_000
"""Characters of a text on a page; the other forms hold all of it."""

PAGE = 20
"""Items on a page, unless another number is asked for."""


def pages(found: Sequence[Item | Pair], first: int = 0, size: int = PAGE) -> str:
    """Write `size` items from the place `first` on, one after the other, and how many there are."""
    shown = found[first : first + size]
    if not shown:
        return "No more items." if found else "There are no such items."
    sections = [_pair(one) if isinstance(one, Pair) else _item(one) for one in shown]
    last = first + len(shown)
    more = f" `--page {last // size + 1}` shows the next." if last < len(found) else ""
    return "\n\n".join([*sections, f"Items {first + 1} to {last} of {len(found)}.{more}"])


def json_lines(found: Sequence[Item | Pair]) -> str:
    """Write one JSON object a line, with every field."""
    return "\n".join(json(asdict(one)) for one in found)


def json(value: Any, indent: int | None = None) -> str:
    """Write strict JSON; as in run folders, a number that is not finite is a text such as "NaN".

    >>> json({"loss": float("nan"), "of": 2})
    '{"loss":"NaN","of":2}'
    """
    return in_json(to_json(value, indent=indent, inf_nan_mode="strings").decode())


def comma_separated(found: Sequence[Item | Pair]) -> str:
    """Write one line per item; a cell that a spreadsheet would run as a formula gets a `'`."""
    rows = [
        {**_cells(one.first), **_cells(one.second, "against ")}
        if isinstance(one, Pair)
        else _cells(one)
        for one in found
    ]
    return spreadsheet.comma_separated(rows)


def _cells(item: Item, prefix: str = "") -> dict[str, Any]:
    same = {} if prefix else {"benchmark": item.benchmark, "id": item.id, "gold": item.gold}
    texts = {"prompt": item.prompt, "reference": item.reference, "answer": item.answer}
    facts = {"verdict": item.verdict, "cut": not item.ended, "long": item.long}
    facts |= {"in_training": item.in_training}
    found = {f"{name} found": text for name, text in item.extracted.items()}
    correct = {f"{name} correct": right for name, right in item.correct.items()}
    own = {**texts, **facts, **found, **correct}
    return same | {prefix + name: value for name, value in own.items()}


def _item(item: Item) -> str:
    return "\n".join([_heading(item), *_task(item), *_answer(item, "answer")])


def _pair(pair: Pair) -> str:
    first, second = pair.first, pair.second
    heading = f"{_heading(first)}; against: {_said(second)}"
    other = _text("prompt against", second.prompt) if second.prompt != first.prompt else ()
    return "\n".join(
        [heading, *_task(first), *_answer(first, "answer"), *other, *_answer(second, "against")]
    )


def _heading(item: Item) -> str:
    # Ids count from 0, and messages about data files rows from 1, as editors count lines.
    return f"## {item.benchmark} {item.id} (row {item.id + 1}): {_said(item)}"


def _said(item: Item) -> str:
    facts = {
        item.verdict or "not judged": True,
        "nothing found": item.found == "",
        "cut at the limit": not item.ended,
        "prompt longer than the limit": item.long,
        "in the training set": item.in_training,
    }
    return ", ".join(fact for fact, holds in facts.items() if holds)


def _task(item: Item) -> Iterator[str]:
    yield from _text("prompt", item.prompt)
    if item.gold:
        yield f"gold: {visible(shortened(item.gold, MOST))}"
    yield from _text("reference", item.reference)


def _answer(item: Item, name: str) -> Iterator[str]:
    yield from _text(name, item.judged) or [f"{name}: empty"]
    yield from _text("after the end of the answer, not judged", item.answer[len(item.judged) :])
    for extractor, found in item.extracted.items():
        said = f"{shortened(found, MOST)!r}, {'right' if item.correct[extractor] else 'wrong'}"
        decides = " (decides)" if extractor == item.extractor else ""
        yield f"{extractor}{decides} found {said if found else 'nothing'}"
    if item.likelihoods:
        yield f"log-likelihoods: {_numbers(item.likelihoods)}"


def _numbers(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items())


def _text(name: str, text: str) -> list[str]:
    return [f"{name}:", indent(visible(shortened(text, MOST)), "    ")] if text else []
