"""Where a completion states its answer: the frame of all `strict` extractors.

A completion is read as a careful reader does. A problem that the model made up after its answer is
cut off. Of a text that corrects itself ("Wait, ..."), the last part that names an answer counts.
In it, an answer is *stated* behind "the answer is", "answer:", "the correct option is", "####",
in a LaTeX box, or before "is the correct answer". The last statement that names an answer counts,
up to the end of the sentence or line. A statement that names several or what is no answer, as
"5 or 6" and "12:30" among numbers, ends the search. Without any statement the text must end in a
conclusion; each kind of answer says what that is.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from tasks.answers.cues import (
    AFTERWORD,
    BARE,
    BEHIND,
    CONCLUDING,
    CORRECTION,
    CUE,
    HEDGE,
    NOT,
    RESULT,
    RUNAWAY,
    SENTENCE_END,
    SUBORDINATE,
    UNCLOSED,
    UNFINISHED,
    UNKNOWN,
)
from tasks.answers.plain import plain

Named = Callable[[str], list[str]]
"""The answers that a text names, in order; empty texts for what names several or is no answer."""

Choice = Callable[[Sequence[str]], str]
"""Which of several answers counts."""

AT_THE_END = 4
"""Sentences at the end of a text among which its conclusion must be."""
LONGEST = 20_000
"""Characters. Of a longer completion only the end is read."""


def only(found: Sequence[str]) -> str:
    """Give the one answer that is found, however often; an empty text if there are several."""
    return found[0] if len(set(found)) == 1 else ""


def stated(
    completion: str,
    named: Named,
    elsewhere: Named | None = None,
    choose: Choice = only,
) -> str:
    """Find the stated answer; empty if there is none.

    Args:
        completion: What the model wrote.
        named: Reads a statement, of which the first answer counts.
        elsewhere: Reads a text without statement; `named` by default.
        choose: Chooses among the answers that the clause of a conclusion names.

    >>> stated("The answer is red. Now the answer is blue or so. Green", str.split)
    'blue'
    >>> stated("red red", str.split), stated("red blue", str.split)
    ('red', '')
    >>> stated("red so blue", str.split)
    'blue'
    """
    said = plain(_own(completion)[-LONGEST:]).rpartition("</think>")[2]
    if UNCLOSED.search(said):
        return ""
    for part in reversed(CORRECTION.split(said)):
        if found := _stated(part, named, elsewhere or named, choose):
            return found[0]
        if UNKNOWN.search(part):
            return ""
    return ""


def sentences(text: str) -> list[str]:
    """Split a text into sentences and lines, without the empty ones."""
    return [sentence for sentence in SENTENCE_END.split(text) if sentence.strip()]


def named_by(item: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Write the expression of an `item`, the group `one`, with what denies it or lists others.

    >>> match = named_by("[xy]").search("x or y")
    >>> match and (match["one"], match["others"])
    ('x', ' or y')
    """
    denied = rf"(?:\b(?:{NOT}|than)|n't)\b(?:(?!\bbut\b)[^,.;:\n]){{0,40}}?"
    wrong = r"['\")]{0,2}\s(?:is|are|was|were|looks)\s(?:not\b|incorrect|wrong|too\b|impossible)"
    listed = r"\s{0,3}(?:,\s{0,3}(?:or|and)\s|/|&|\b(?:or|and)\b)\s{0,3}"
    others = rf"(?:(?:,\s{{0,3}}(?:{item})){{0,6}}{listed}(?:{item}))*"
    return re.compile(
        rf"(?P<denied>{denied})?(?P<one>{item})(?P<others>{others})(?P<wrong>{wrong})?", flags
    )


def named(pattern: re.Pattern[str], text: str, read: Callable[[str], str]) -> list[str]:
    """Read what `pattern` finds, without what is denied; a list of several is no answer."""
    return [
        "" if match["others"] else read(match["one"])
        for match in pattern.finditer(text)
        if not (match["denied"] or match["wrong"])
    ]


def _own(completion: str) -> str:
    """Drop a problem that the model made up after its answer."""
    text = completion.lstrip()
    found = RUNAWAY.search(text, 1)
    return text[: found.start()] if found else text


def _stated(text: str, named: Named, elsewhere: Named, choose: Choice) -> list[str]:
    """Read a text without corrections; a list of one, or none where nothing is said."""
    rest = text
    for (statement, behind), (earlier, between) in pairwise([*_statements(text), ("", "")]):
        if found := named(statement):
            # "The answer is 8. The answer is 9." states both.
            both = between.strip().lower() == "the" and found[:1] != named(earlier)[:1] != []
            return [""] if both else found[:1]
        if UNKNOWN.search(statement):
            return [""]
        rest = behind if rest is text else rest
    return _ended(rest, elsewhere, choose)


def _ended(text: str, named: Named, choose: Choice) -> list[str]:
    """Give the only answer that a text names, or that in which its conclusion ends."""
    spoken = sentences(_worded(text))
    naming = [(n, one, found) for n, one in enumerate(spoken) if (found := named(one))]
    every = {answer for _, _, found in naming for answer in found}
    if len(every) <= 1:
        return list(every)
    alone = [
        found[0]
        for _, one, found in (naming[0], naming[-1])
        if BARE.fullmatch(one) and found[:1] == found
    ]
    if alone:
        return [only(alone)]
    place, last, found = naming[-1]
    if place < len(spoken) - AT_THE_END or UNFINISHED.search(text):
        return [""]
    reached = {one[-1] for _, sentence, one in naming[:-1] if _reaches(sentence)}
    return [_concluded(last, found, reached, named, choose)]


def _concluded(
    sentence: str, found: Sequence[str], reached: set[str], named: Named, choose: Choice
) -> str:
    """Read the last sentence that names an answer; empty if it is no conclusion.

    Args:
        sentence: The sentence.
        found: What it names.
        reached: What the sentences before it came to.
        named: Reads a clause of it.
        choose: Chooses among the answers of a clause.
    """
    if not found[-1] or (HEDGE.search(sentence) and not only(found)):
        return ""
    if RESULT.search(sentence):
        clauses = (_main(clause, named) for clause in reversed(RESULT.split(sentence)))
        return choose(next(filter(None, clauses), found))
    main = _main(sentence, named)
    return only(main) if CONCLUDING.search(sentence) or main[-1] in reached else ""


def _main(clause: str, named: Named) -> list[str]:
    return named(SUBORDINATE.split(clause)[0]) or named(clause)


def _reaches(sentence: str) -> bool:
    return bool(RESULT.search(sentence) or CONCLUDING.search(sentence))


def _worded(text: str) -> str:
    """Drop what follows an answer."""
    found = AFTERWORD.search(text)
    return text[: found.start()] if found and text[: found.start()].strip() else text


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """List the statements of a text, the last one first, each with what stands behind it."""
    cues = [(match.start(), match.end(), True) for match in CUE.finditer(text)]
    cues += [(match.start(), match.end(), False) for match in BEHIND.finditer(text)]
    ends = [len(text)]
    for start, end, before in sorted(cues, reverse=True):
        if before:
            parts = SENTENCE_END.split(text[end : ends[-1]], maxsplit=1)
            yield parts[0], parts[1] if len(parts) > 1 else ""
        else:
            said = SENTENCE_END.split(text[max(0, start - 200) : start])[-1]
            yield said, text[end : ends[-1]]
        ends.append(start)
