"""The layouts that data files come in, each turned into rows of instruction, input, output, answer.

A row's fields tell its layout, so that files are read as their authors publish them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tasks.data.dialogue import prompt

Fields = Mapping[str, Any]

SILENCE = "__SILENCE__"
"""XPersona's first utterance where the second speaker begins."""

CALCULATION = re.compile(r"<<[^<>]*>>")
WRAPPED = re.compile(r"### Instruction:\n(.*?)\n\n### Response:", re.DOTALL)


def expand(item: Fields) -> list[Fields]:
    """Turn one entry of a JSON file into its rows; an unknown layout is passed on as it is."""
    for fields, layout in LAYOUTS.items():
        if set(fields.split()) <= item.keys():
            return list(layout(item))
    return [item]


def gsm8k(item: Fields) -> Iterable[Fields]:
    r"""Read a row of GSM8K as its authors publish it: a solution that ends in `#### 72`.

    >>> gsm8k({"question": "2 + 3?", "answer": "It is 2 + 3 = <<2+3=5>>5.\n#### 5"})
    [{'instruction': '2 + 3?', 'output': 'It is 2 + 3 = 5.\nThe answer is: 5', 'answer': '5'}]
    """
    steps, _, answer = CALCULATION.sub("", str(item["answer"])).partition("#### ")
    output = f"{steps}The answer is: {answer}" if answer else steps
    return [{"instruction": item["question"], "output": output, "answer": answer.replace(",", "")}]


def metamath(item: Fields) -> Iterable[Fields]:
    """Read a row of MetaMathQA."""
    return [{"instruction": item["query"], "output": item["response"]}]


def mawps(item: Fields) -> Iterable[Fields]:
    """Read a row of MAWPS as LLM-Adapters ships its splits: an equation, no worked answer."""
    answer = str(item["ans"])
    return [
        {
            "instruction": item["original_text"],
            "output": f"The answer is {answer}",
            "answer": answer,
        }
    ]


def prompt_and_response(item: Fields) -> Iterable[Fields]:
    """Read a row whose prompt has the Alpaca template around it."""
    found = WRAPPED.search(str(item["prompt"]))
    instruction = found.group(1) if found else item["prompt"]
    return [{"instruction": instruction, "output": item["response"]}]


def dolly(item: Fields) -> Iterable[Fields]:
    """Read a row of databricks-dolly-15k."""
    output = item["response"]
    return [{"instruction": item["instruction"], "input": item["context"], "output": output}]


def icliniq(item: Fields) -> Iterable[Fields]:
    """Read a question to a doctor: its title, the patient's description, the advice."""
    described = " ".join(str(item["question_text"]).split())
    return [{"instruction": item["question"], "input": described, "output": item["answer"]}]


def xpersona(item: Fields) -> Iterable[Fields]:
    """Read a dialogue of XPersona: pairs of an utterance and its reply."""
    return _turns(item["persona"], item["dialogue"])


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
"""By the fields that tell a layout; the first whose fields are all there is the one."""


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
        place, _, said = line.partition(" ")
        if place == "1" and turns:
            yield list(_turns(persona, turns))
            persona, turns = [], []
        if said.startswith("your persona: "):
            persona.append(said.removeprefix("your persona: "))
        elif "\t" in said and place.isdigit():
            turns.append(said.split("\t")[:2])
        else:
            raise ValueError(f"line {number}: expected `NUMBER your persona: ...` or a reply")
    yield list(_turns(persona, turns))


def _turns(persona: Iterable[str], dialogue: Iterable[Any]) -> Iterator[Fields]:
    """Make a row of each reply, with all that was said before it."""
    history: list[str] = []
    facts = list(persona)
    for utterance, reply in dialogue:
        history += [] if utterance == SILENCE else [utterance]
        yield {"instruction": prompt(facts, history), "output": reply}
        history.append(reply)
