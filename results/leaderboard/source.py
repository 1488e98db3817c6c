"""Where pages take runs and items from: the store's door and run folders, only to read them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from results.analysis.items import Item
from results.analysis.runs import backbones as naming
from results.analysis.runs.selection import narrowed, select
from results.analysis.testing.evidence import Segments, Texts
from results.analysis.testing.tests import DEFAULT, Testing
from results.leaderboard.public import Public
from results.leaderboard.view import View
from results.record import Kind, Run
from results.runfolder.folder import RunFolder
from results.store import Reader

Marked = Callable[[Sequence[Run]], list[Run]]
"""Marks runs whose answers were read by an earlier version of their extractor."""
Items = Callable[[RunFolder, str], list[Item]]
"""Reads the items of a benchmark; raises if the run kept no answers to it."""
Title = Callable[[Literal["groups", "tasks", "methods"], str], str | None]
"""Gives what papers call a group, a benchmark or a method; None where that is not known."""


@dataclass(frozen=True)
class Source:
    """A store, what reads items, and what may be shown of both. It is opened for each page."""

    place: str
    items: Items
    marked: Marked
    public: Public
    title: Title = lambda kind, name: None
    texts: Texts | None = None
    """What reads the texts of runs, for tests over texts in comparisons of two."""

    def open(self) -> "Opened":
        """Open the store.

        Raises:
            ResultsError: There is none, or it is of another schema.
        """
        return Opened(self, Reader(self.place))


@dataclass(frozen=True)
class Opened:
    """A store that was there when the page was asked for; all that it gives may be shown."""

    source: Source
    store: Reader

    @cached_property
    def kinds(self) -> list[Kind]:
        """The kinds of all runs, that of the newest run first."""
        return list(map(self.source.public.kind, self.store.kinds()))

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The groups of all runs, that of the newest run first."""
        return tuple(dict.fromkeys(kind.group for kind in self.kinds))

    def backbones(self, group: str) -> tuple[str, ...]:
        """Name the backbones of a group as tables do, that of its newest run first."""
        names = naming.names(self.kinds)
        own = (kind for kind in self.kinds if kind.group == group)
        return tuple(dict.fromkeys(names[kind.backbone_identity] for kind in own))

    @property
    def firsts(self) -> dict[str, tuple[str, ...]]:
        """Name the backbone that each group opens with: that of its newest run."""
        return {group: self.backbones(group)[:1] for group in self.groups}

    def completed(self, view: View) -> View:
        """Fill in the group and the backbone of the newest run; a store without runs has none."""
        group = view.group or next(iter(self.groups), "")
        return replace(view, group=group, backbones=view.backbones or self.backbones(group)[:1])

    def runs(self, view: View) -> list[Run]:
        """List the runs of a view's group and backbones, newest first.

        Raises:
            ResultsError: There is no such group or backbone; it names the nearest.
        """
        names = [view.group], (), view.backbones
        found = self.store.runs(**narrowed(self.kinds, *names))
        return select(self._shown(found), self.kinds, *names)

    def history(self) -> list[Run]:
        """List every attempt, newest first."""
        return self._shown(self.store.runs())

    def _shown(self, runs: Sequence[Run]) -> list[Run]:
        return list(map(self.source.public.listed, self.source.marked(runs)))

    @property
    def testing(self) -> Testing:
        """The default tests, with the verdicts of the store."""
        return replace(DEFAULT, verdicts=self.store.verdicts)

    def folders(self, run_ids: Collection[str]) -> dict[str, RunFolder]:
        """Find the folders of runs, by their ids; one that is gone is left out."""
        found = self.store.folders(run_ids)
        there = {run: Path(folder) for run, folder in found.items() if folder}
        return {run: RunFolder(path) for run, path in there.items() if path.is_dir()}

    @property
    def testing_texts(self) -> Testing:
        """The default tests of a comparison of two, which are of texts too."""
        if (texts := self.source.texts) is None:
            return self.testing

        def segments(run: Run, benchmark: str, metric: str) -> Segments | None:
            """Read those of the stored run: one that may be shown has no folder."""
            return texts.segments(self.store.run(run.run_id), benchmark, metric)

        return replace(self.testing, texts=replace(texts, segments=segments))

    def run(self, run_id: str) -> tuple[Run, RunFolder]:
        """Find the newest attempt at a run, and its folder, which may be gone.

        Raises:
            ResultsError: There is no such run.
        """
        (stored,) = self.source.marked([self.store.run(run_id)])
        return stored, RunFolder(Path(stored.folder))
