"""The options of a row, read from its line `Answer format: ...`: ARC's differ in number."""

import re
from collections.abc import Mapping

from tasks.contract import Row

FORMAT = re.compile(r"Answer format: (\S+)\Z")


def offered(row: Row) -> tuple[str, ...]:
    r"""List the options of a row, in their order; none if it has no such line.

    >>> offered(Row(0, "Is 1 odd?\n\nAnswer format: true/false", "", "true"))
    ('true', 'false')
    """
    found = FORMAT.search(row.instruction)
    return tuple(found.group(1).split("/")) if found else ()


def completions(row: Row) -> Mapping[str, str]:
    r"""Write the completion that stands for each option as the training sets do.

    >>> completions(Row(0, "Is 1 odd?\n\nAnswer format: true/false", "", "true"))["false"]
    'the correct answer is false'
    """
    return {option: f"the correct answer is {option}" for option in offered(row)}


def must_be_offered(row: Row) -> str:
    r"""Require one of the options of the row.

    >>> must_be_offered(Row(0, "Is 1 odd?\n\nAnswer format: true/false", "", "yes"))
    'one of true, false'
    >>> must_be_offered(Row(0, "Is 1 odd?", "", "true"))
    'an option, but the instruction does not end in `Answer format: ...`'
    """
    options = offered(row)
    if not options:
        return "an option, but the instruction does not end in `Answer format: ...`"
    return "" if row.answer in options else f"one of {', '.join(options)}"
