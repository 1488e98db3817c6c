"""The layouts that data files come in, each turned into rows of instruction, input, output, answer.

A row's fields tell its layout, so that files are read as their authors publish them.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tasks import prompts

Fields = Mapping[str, Any]

SILENCE = "__SILENCE__"
"""XPersona's first utterance where the second speaker begins."""

CALCULATION = re.compile(r"<<[^<>]*>>")
WRAPPED = re.compile(
    r"### Instruction:\n(.*?)(?:\n\n### Input:\n(.*?))?\n\n### Response:", re.DOTALL
)


def expand(item: Fields) -> list[Fields]:
    """Turn one entry of a JSON file into its rows; an unknown layout is passed on as it is.

    Raises:
        ValueError: A field that the layout takes apart holds another type than it should.
    """
    for fields, layout in LAYOUTS.items():
        if set(fields.split()) <= item.keys():
            return list(layout(item))
    return [item]


def gsm8k(item: Fields) -> Iterable[Fields]:
    r"""Read a row of GSM8K as its authors publish it: a solution that ends in `#### 72`.

    >>> gsm8k({"question": "2 + 3?", "answer": "It is 2 + 3 = <<2+3=5>>5.\n#### 5"})
    [{'instruction': '2 + 3?', 'output': 'It is 2 + 3 = 5.\nThe answer is: 5', 'answer': '5'}]
    """
    steps, _, answer = CALCULATION.sub("", _text(item, "answer")).partition("#### ")
    output = f"{steps}The answer is: {answer}" if answer else steps
    return [{"instruction": item["question"], "output": output, "answer": answer.replace(",", "")}]


def metamath(item: Fields) -> Iterable[Fields]:
    """Read a row of MetaMathQA."""
    return [{"instruction": item["query"], "output": item["response"]}]


def mawps(item: Fields) -> Iterable[Fields]:
    """Read a row of MAWPS as LLM-Adapters ships its splits: an equation, no worked answer."""
    answer = str(item["ans"])
    if not _is_finite(answer):
        raise ValueError(f"the answer is {answer!r}, expected a finite number")
    return [
        {
            "instruction": item["original_text"],
            "output": f"The answer is {answer}",
            "answer": answer,
        }
    ]


def prompt_and_response(item: Fields) -> Iterable[Fields]:
    """Read a row whose prompt has the Alpaca template around it."""
    found = WRAPPED.search(_text(item, "prompt"))
    instruction, context = found.groups() if found else (item["prompt"], None)
    return [{"instruction": instruction, "input": context, "output": item["response"]}]


def dolly(item: Fields) -> Iterable[Fields]:
    """Read a row of databricks-dolly-15k."""
    output = item["response"]
    return [{"instruction": item["instruction"], "input": item["context"], "output": output}]


def icliniq(item: Fields) -> Iterable[Fields]:
    """Read a question to a doctor: its title, the patient's description, the advice."""
    described = " ".join(_text(item, "question_text").split())
    return [{"instruction": item["question"], "input": described, "output": item["answer"]}]


def xpersona(item: Fields) -> Iterable[Fields]:
    """Read a dialogue of XPersona: pairs of an utterance and its reply."""
    persona, turns = item["persona"], item["dialogue"]
    if not (_are_texts(persona) and isinstance(turns, list)):
        raise ValueError("expected a persona and a dialogue, lists of texts and of pairs")
    if not all(_are_texts(turn) and len(turn) == 2 for turn in turns):  # noqa: PLR2004 - a pair
        raise ValueError("expected pairs of an utterance and its reply")
    return _turns(persona, turns)


LAYOUTS: Mapping[str, Callable[[Fields], Iterable[Fields]]] = {
    "instruction context response": dolly,
    "instruction": lambda item: [item],
    "question question_text answer": icliniq,
    "query response": metamath,
    "original_text ans": mawps,
    "prompt response": prompt_and_response,
    "persona dialogue": xpersona,
    "question answer": gsm8k,
}
"""Each layout by its fields; a row has the first layout whose fields it has in full."""


def is_parlai(text: str) -> bool:
    """Whether a file is in the layout of ParlAI's ConvAI2."""
    return text.startswith(("1 your persona:", "1 partner's persona:"))


def parlai(text: str) -> Iterator[list[Fields]]:
    """Read dialogues of numbered lines: the persona, then utterance, tab, reply.

    Raises:
        ValueError: A line is neither; names it.
    """
    persona: list[str] = []
    turns: list[list[str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        place, _, said = line.removesuffix("\r").partition(" ")
        utterance, _, reply = said.partition("\t")
        if place == "1":
            yield list(_turns(persona, turns))
            persona, turns = [], []
        if said.startswith("your persona: "):
            persona.append(said.removeprefix("your persona: "))
        elif place.isdigit() and reply.partition("\t")[0].strip():
            turns.append([utterance, reply.partition("\t")[0]])
        else:
            raise ValueError(f"line {number}: expected `NUMBER your persona: ...` or a reply")
    yield list(_turns(persona, turns))


def _text(item: Fields, name: str) -> str:
    value = item[name]
    if not isinstance(value, str):
        raise ValueError(f"field {name!r} holds {type(value).__name__}, expected text")
    return value


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _are_texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _turns(persona: Iterable[str], dialogue: Iterable[Any]) -> Iterator[Fields]:
    """Make a row of each reply, with all that was said before it."""
    history: list[str] = []
    facts = list(persona)
    for utterance, reply in dialogue:
        history += [] if utterance == SILENCE else [utterance]
        yield {"instruction": prompts.dialogue(facts, history), "output": reply}
        history.append(reply)
