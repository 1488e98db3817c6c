"""Rounds of chaos, kept in a file, so that the next call goes on and figures add up."""

import json
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.gpu.process import ROOT


@dataclass
class Round:
    """What was done in a round, and what was lost.

    Attributes:
        counts: How often something was done or found, by what it is.
        lost: A line for each thing that is not as it should be.
    """

    counts: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Part:
    """A sort of chaos.

    Attributes:
        unit: The count that adds up.
        target: To how much it adds up.
        play: Plays a round by what is drawn, in a folder; it ends what it started.
        missing: Why it cannot be played here; empty if it can.
    """

    unit: str
    target: int
    play: Callable[[Random, Path], Round]
    missing: str = ""


class Kept:
    """The rounds so far, in the file `rounds.jsonl` of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._path = folder, folder / "rounds.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        self.rounds = [json.loads(line) for line in lines]

    def of(self, part: str) -> list[dict[str, Any]]:
        """List the rounds of a part."""
        return [one for one in self.rounds if one["part"] == part]

    def counts(self, part: str) -> Counter[str]:
        """Add up what the rounds of a part have done."""
        found = Counter[str]()
        for one in self.rounds:
            if one["part"] == part:
                found.update(one["counts"])
        return found

    @property
    def lost(self) -> list[str]:
        """All that was lost."""
        return [
            f"{one['part']}, {one['seed']}: {line}" for one in self.rounds for line in one["lost"]
        ]

    def play(self, name: str, part: Part) -> None:
        """Play the next round of a part; its folder stays only where something was lost."""
        seed = f"{name}-{len(self.of(name)) + 1}"
        place = self.folder / seed
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        began = time.monotonic()
        played = part.play(Random(seed), place)
        about = {"part": name, "seed": seed, "date": date.today().isoformat(), "commit": commit()}
        found = {"counts": dict(played.counts), "lost": played.lost}
        self.rounds.append({**about, "seconds": round(time.monotonic() - began), **found})
        with self._path.open("a") as file:
            file.write(json.dumps(self.rounds[-1]) + "\n")
        if not played.lost:
            shutil.rmtree(place, ignore_errors=True)


def go_on(
    kept: Kept,
    parts: Mapping[str, Part],
    seconds: float,
    now: Callable[[], float] = time.monotonic,
    say: Callable[[str], None] = print,
) -> None:
    """Play rounds, part by part, until each has reached its target or the time is over."""
    end = now() + seconds
    for name, part in parts.items():
        while not part.missing and kept.counts(name)[part.unit] < part.target and now() < end:
            kept.play(name, part)
            last = kept.rounds[-1]
            done = kept.counts(name)[part.unit]
            say(f"{last['seed']}, {last['seconds']} s: {done} of {part.target} {part.unit}")
            for line in last["lost"]:
                say(f"LOST: {line}")


def commit() -> str:
    """Name the commit that is tried."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def table(kept: Kept, parts: Mapping[str, Part]) -> Sequence[str]:
    """Write the figures as lines of Markdown."""
    lines = ["| what | done | of | minutes | lost |", "| :--- | ---: | ---: | ---: | ---: |"]
    for name, part in parts.items():
        rounds, counts = kept.of(name), kept.counts(name)
        minutes = sum(one["seconds"] for one in rounds) / 60
        lost = sum(map(len, (one["lost"] for one in rounds)))
        done = part.missing or counts[part.unit]
        lines.append(f"| `{name}`: {part.unit} | {done} | {part.target} | {minutes:.0f} | {lost} |")
        lines += [
            f"| - {what} | {n} | | | |" for what, n in sorted(counts.items()) if what != part.unit
        ]
    return lines
