"""A grid in a TOML file: the options of `harness run` as keys, with their lines for messages."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.errors import UserError
from results.errors import stands_in

SET = "set"
"""The table whose fields are those of `--set`, such as `train.lr`."""


@dataclass(frozen=True)
class Origin:
    """Where the words of a request stand: in a file, or else on the command line.

    Attributes:
        file: The file as the user named it.
        text: What it holds.
        keys: Those that the request has from it, a field of `set` as `set.train.lr`.
        faults: What is wrong with the file itself.
    """

    file: str = ""
    text: str = ""
    keys: frozenset[str] = frozenset()
    faults: tuple[str, ...] = ()

    def told(self, key: str, word: str = "") -> str:
        r"""Begin a message on a word of a key's value; with nothing where it was typed.

        >>> lines = 'tasks = "math"\nmethods = [\n  "lora",\n  "lorra",\n]'
        >>> Origin("grid.toml", lines, frozenset({"methods"})).told("methods", "lorra")
        'grid.toml, line 4, methods: '
        """
        if key not in self.keys:
            return ""
        (first, *_), texts = self._lines[key], self._texts
        line = next((n for n in self._lines[key] if word and word in texts[n]), first)
        return f"{self.file}, line {line + 1}, {key}: "

    @property
    def _texts(self) -> list[str]:
        # Not splitlines: texts may hold other characters that it takes for the end of a line.
        return self.text.split("\n")

    @cached_property
    def _lines(self) -> dict[str, range]:
        """Find the lines of each key: after its last one the file can be read with the key."""
        found: dict[str, range] = {}
        texts, begin = self._texts, 0
        for end in range(1, len(texts) + 1):
            try:
                known = tomllib.loads("\n".join(texts[:end]))
            except tomllib.TOMLDecodeError:
                continue
            found |= {key: range(begin, end) for key in flat(known) if key not in found}
            begin = end
        return found


COMMAND_LINE = Origin()
"""Needs no telling."""


def load(path: Path) -> tuple[dict[str, Any], str]:
    """Read a file: the values by key, and its text.

    Raises:
        UserError: There is no such file, something else is in its place, or it is no TOML.
    """
    try:
        if found := stands_in(path):
            raise UserError(f"{path}: {found}, not a file.")
        text = path.read_text("utf-8")
        return flat(tomllib.loads(text)), text
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise UserError(f"{path}: cannot be read: {why}.") from error
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: {error}.") from error


def flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Write the fields of `set` as keys of their own.

    >>> flat({"seeds": 5, "set": {"train": {"lr": 0.1}, "train.epochs": 1}})
    {'seeds': 5, 'set.train.lr': 0.1, 'set.train.epochs': 1}
    """
    found = {}
    for key, value in values.items():
        if key != SET or not isinstance(value, dict):
            found[key] = value
            continue
        for section, fields in value.items():
            inner = fields.items() if isinstance(fields, dict) else [("", fields)]
            found |= {f"{SET}.{section}.{name}".rstrip("."): one for name, one in inner}
    return found


def assignments(values: Mapping[str, Any]) -> list[str]:
    """Write the fields of `set` as `--set` takes them.

    >>> assignments({"seeds": 5, "set.train.lr": 5e-4, "set.train.schedule": "linear"})
    ['train.lr=0.0005', 'train.schedule="linear"']
    """
    prefix = f"{SET}."
    return [
        f"{key.removeprefix(prefix)}={json.dumps(value, default=str)}"
        for key, value in values.items()
        if key.startswith(prefix)
    ]


def written(key: str, value: Any) -> str | bool:
    """Write a value as its option takes it: a list by commas, one seed of a list as `7,`.

    >>> written("methods", ["base", "lora[r=8,train.lr=1e-3]"]), written("seeds", [7])
    ('base,lora[r=8,train.lr=1e-3]', '7,')
    """
    if isinstance(value, list):
        return "".join(f"{one}," for one in value).removesuffix("," * (key != "seeds"))
    return value if isinstance(value, bool) else str(value)
