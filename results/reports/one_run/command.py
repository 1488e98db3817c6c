"""The command that asked for a run: whole to be pasted, or as much of it as fits."""

import shlex
from collections.abc import Sequence
from textwrap import wrap

INDENT = " " * 4


def whole(words: Sequence[str], width: int) -> str:
    r"""Write a command as indented lines for a shell, broken before options only.

    >>> print(whole(["harness", "run", "--methods", "lora,my method.py", "--limit", "2"], 48))
        harness run --methods 'lora,my method.py' \
            --limit 2
    """
    lines: list[str] = []
    for part in _parts(words):
        if lines and len(lines[-1]) + len(part) + len("  \\") <= width:
            lines[-1] += f" {part}"
        else:
            lines.append(f"{INDENT * 2 if lines else INDENT}{part}")
    return " \\\n".join(lines)


def brief(words: Sequence[str], width: int, most: int) -> list[str]:
    """Write a command in at most so many lines; what is left out is whole options.

    >>> brief(["harness", "run", "--limit", "2", "--slots", "1", "--data", "my data"], 44, 1)
    ['harness run --limit 2 ... and 2 more options']
    """
    parts = [" ".join(part.split()) for part in _parts(words)]
    for left in range(len(parts)):
        lines = wrap(
            " ".join([*parts[: len(parts) - left], *_more(left)]), width, break_on_hyphens=False
        )
        if len(lines) <= most:
            return lines
    return _more(len(parts))


def _more(left: int) -> list[str]:
    return [f"... and {left} more option{'s' if left > 1 else ''}"] if left else []


def _parts(words: Sequence[str]) -> list[str]:
    """Give what stands before the options, and each option with its value, quoted for a shell."""
    starts = [0, *(place for place, word in enumerate(words) if place and word.startswith("--"))]
    ends = [*starts[1:], len(words)]
    return [shlex.join(words[start:end]) for start, end in zip(starts, ends, strict=True)]
