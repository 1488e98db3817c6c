"""What may be shown: the one place that decides it.

A run knows folders, the name of its host and, in paths and commands, the name of its user. A page
shows none of them unless whoever serves it asks for it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from results.record import Kind, Run

_PATH = re.compile(
    r"(?<![\w./<-])(?!(?<=:)//(?!/))(?:~[\w.-]*|[A-Za-z]:)?(?:[\\/]{1,4}[\w.@+#%=-]+)+(?<!/)[\\/]?"
)
"""An absolute path. What follows a word, "<" or "://" is part of an address or of a tag; a file
has three slashes there."""

_HOMES = ("home", "users")
"""Folders of users: what is directly below is the name of one."""

_HOST = "host"
"""The key of the environment's `machine` that names the host."""

GONE = "…"


@dataclass(frozen=True)
class Public:
    """Removes what is private, or nothing if `everything` may be shown."""

    everything: bool = False

    def text(self, text: str, host: str = "") -> str:
        """Shorten absolute paths to their last part, and leave out the name of the host.

        >>> Public().text("no file /home/ann/data/gsm8k.json on node7", host="node7")
        'no file …/gsm8k.json on …'
        >>> Public().text("see https://huggingface.co/org/model or and/or")
        'see https://huggingface.co/org/model or and/or'
        >>> Public().text("node7:/home/ann, file:///home/ann/lora.py")
        'node7:…, file:…/lora.py'
        """
        if self.everything:
            return text
        shown = _PATH.sub(_last_part, text)
        return re.sub(rf"\b{re.escape(host)}\b", GONE, shown) if host else shown

    def value(self, value: Any, host: str = "") -> Any:
        """Do the same to every text of a nested value, its keys included."""
        if isinstance(value, str):
            return self.text(value, host)
        if isinstance(value, Mapping):
            return {self.text(k, host): self.value(one, host) for k, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(one, host) for one in value]
        return value

    def store(self, place: str) -> str:
        """Name a store in a command; empty where that would show a folder or a password.

        >>> Public().store("runs.db"), Public().store("/home/ann/runs.db")
        ('runs.db', '')
        >>> Public(everything=True).store("postgresql://ann:secret@host/runs")
        ''
        """
        return place if "://" not in place and self.text(place) == place else ""

    def unread(self, place: str, why: str) -> str:
        """Say why a store cannot be read; a server of databases tells its host and user."""
        shown = self.everything or "://" not in place
        return self.text(why) if shown else "Its database says why: see `harness history`."

    def kind(self, kind: Kind) -> Kind:
        """Leave out where the backbone lies; two of one name are told apart by their revision."""
        return kind if self.everything else replace(kind, backbone_place="")

    def listed(self, run: Run) -> Run:
        """Leave out what a list of runs or a table would show."""
        if self.everything:
            return run
        host = host_of(run)
        return replace(
            run,
            folder="",
            backbone_place="",
            reason=self.text(run.reason, host),
            flags=tuple(self.text(flag, host) for flag in run.flags),
            marks=tuple(self.text(mark, host) for mark in run.marks),
        )

    def whole(self, run: Run) -> Run:
        """Leave out what is private from all that a run knows."""
        if self.everything:
            return run
        host = host_of(run)
        return replace(
            self.listed(run),
            spec=self.value(run.spec, host),
            provenance=self.value(run.provenance, host),
            environment=self.value(_without_host(run.environment), host),
        )


def host_of(run: Run) -> str:
    """Name the host that a run ran on; empty if that is not known."""
    return str(run.environment.get("machine", {}).get(_HOST, ""))


def _without_host(environment: Mapping[str, Any]) -> dict[str, Any]:
    machine = environment.get("machine", {})
    rest = {name: value for name, value in machine.items() if name != _HOST}
    return {**environment, "machine": rest} if machine else dict(environment)


def _last_part(path: re.Match[str]) -> str:
    *above, last = filter(None, re.split(r"[\\/]", path[0]))
    return GONE if above and above[-1].lower() in _HOMES else f"{GONE}/{last}"
