"""Where pages take runs and items from: the store's door and run folders, only to read them."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from results.analysis.items import Item
from results.analysis.runs import backbones as naming
from results.analysis.runs.eras import pooled
from results.analysis.runs.selection import narrowed, select
from results.analysis.table import Table
from results.analysis.testing.evidence import Segments, Texts
from results.analysis.testing.tests import DEFAULT, Testing
from results.audit.papers import Paper
from results.leaderboard.cache import Cache
from results.leaderboard.public import Public
from results.leaderboard.view import View
from results.record import Kind, Run, Status
from results.reports.bibtex import Reference
from results.runfolder import locks
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.record_of import attempt_of
from results.runfolder.state import How, state_of
from results.store import Reader

Marked = Callable[[Sequence[Run]], list[Run]]
"""Marks runs whose answers were read by an earlier version of their extractor."""
Items = Callable[[RunFolder, str], list[Item]]
"""Reads the items of a benchmark; raises if the run kept no answers to it."""
Title = Callable[[Literal["groups", "tasks", "methods"], str], str | None]
"""Gives what papers call a group, a benchmark or a method; None where that is not known."""
References = Callable[[Sequence[Table], Sequence[Run]], Sequence[Reference]]
"""Gives the papers of what tables show."""
PaperOf = Callable[[str], Paper | None]
"""Gives what a paper prints, by its name; None without one."""


MOST_RUNS = 15_000
"""Runs that are kept, together; one takes about 15 KiB with its part of the tables."""

MOST_BYTES = 32 * 2**20
"""Of the pages that are kept, together."""


@dataclass(frozen=True)
class Kinds:
    """What may be chosen: the kinds of all runs of a store, that of the newest run first."""

    newest_first: Sequence[Kind]

    @cached_property
    def names(self) -> dict[tuple[str, str], str]:
        """Name the backbone of each identity as tables do."""
        return naming.names(self.newest_first)

    @cached_property
    def backbones(self) -> dict[str, tuple[str, ...]]:
        """Name the backbones of each group; groups and backbones of newer runs come first."""
        found: dict[str, dict[str, None]] = {}
        for kind in self.newest_first:
            found.setdefault(kind.group, {})[self.names[kind.backbone_identity]] = None
        return {group: tuple(own) for group, own in found.items()}

    def __len__(self) -> int:
        """Count them."""
        return len(self.newest_first)


def sharing(runs: Iterable[Run]) -> list[Run]:
    """Let the runs of a series share what is equal in their specs, which is most of their size."""
    firsts: dict[str, Mapping[str, Any]] = {}

    def shared(run: Run) -> Run:
        first = firsts.setdefault(run.series, run.spec)
        parts = ((name, part, first.get(name)) for name, part in run.spec.items())
        return replace(run, spec={name: one if one == part else part for name, part, one in parts})

    return list(map(shared, runs))


@dataclass(frozen=True)
class Kept:
    """What was made before of a store, as long as nothing of it changes."""

    kinds: Cache[Kinds] = field(default_factory=lambda: Cache(1))
    runs: Cache[tuple[Run, ...]] = field(default_factory=lambda: Cache(MOST_RUNS))
    """By group and backbones."""
    tables: Cache[Any] = field(default_factory=lambda: Cache(MOST_RUNS))
    """By group, backbones and policy of recipes; their length is that of their runs."""
    pages: Cache[bytes] = field(default_factory=lambda: Cache(MOST_BYTES))
    """By address, as they are sent."""


@dataclass(frozen=True)
class Source:
    """A store, what reads items, and what may be shown of both. It is opened for each page."""

    place: str
    items: Items
    marked: Marked
    public: Public
    title: Title = lambda kind, name: None
    references: References = lambda tables, runs: ()
    paper: PaperOf = lambda name: None
    texts: Texts | None = None
    """What reads the texts of runs, for tests over texts in comparisons of two."""
    runs: Path | None = None
    """The folder of the run folders, where runs are seen while they go on; None for none."""
    pool_eras: bool = False
    """Whether tables and tests pool runs of different environments, which say so."""
    kept: Kept = field(default_factory=Kept, compare=False)

    def open(self) -> "Opened":
        """Open the store.

        Raises:
            ResultsError: There is none, or it is of another schema.
        """
        return Opened(self, Reader(self.place))


@dataclass(frozen=True)
class Begun:
    """An attempt that its run folder knows and the store does not."""

    run: Run
    """Where it has not ended, as if it had failed."""
    folder: RunFolder
    how: How


@dataclass(frozen=True)
class Opened:
    """A store that was there when the page was asked for; all that it gives may be shown."""

    source: Source
    store: Reader

    @cached_property
    def _kinds(self) -> Kinds:
        public, store = self.source.public, self.store
        kept = self.source.kept.kinds
        return kept.get("", store.changed, lambda: Kinds(tuple(map(public.kind, store.kinds()))))

    @property
    def kinds(self) -> Sequence[Kind]:
        """The kinds of all runs, that of the newest run first."""
        return self._kinds.newest_first

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of all runs, that of the newest run first."""
        return tuple(self._kinds.backbones)

    def backbones(self, group: str) -> tuple[str, ...]:
        """Name the backbones of a group as tables do, that of its newest run first."""
        return self._kinds.backbones.get(group, ())

    @property
    def firsts(self) -> dict[str, tuple[str, ...]]:
        """Name the backbone that each group opens with: that of its newest run."""
        return {group: own[:1] for group, own in self._kinds.backbones.items()}

    def completed(self, view: View) -> View:
        """Fill in the group and the backbone of the newest run; a store without runs has none."""
        group = view.group or next(iter(self.groups), "")
        return replace(view, group=group, backbones=view.backbones or self.backbones(group)[:1])

    def runs(self, view: View) -> tuple[Run, ...]:
        """List the runs of a view's group and backbones, newest first.

        Raises:
            ResultsError: There is no such group or backbone; it names the nearest.
        """
        kept, key = self.source.kept.runs, (view.group, view.backbones)
        return kept.get(key, lambda: self.stamp(view), lambda: self._runs(view))

    def _runs(self, view: View) -> tuple[Run, ...]:
        names = [view.group], (), view.backbones
        stored = self.store.runs(**narrowed(self.kinds, *names))
        # A backbone may be new since the kinds were read; then the next page has it.
        known = [run for run in stored if run.backbone_identity in self._kinds.names]
        shown = self._shown(known)
        of_tables = pooled(shown) if self.source.pool_eras else shown
        return tuple(select(sharing(of_tables), self.kinds, *names))

    def stamp(self, view: View) -> Any:
        """Tell what changes whenever `runs` would give others.

        Raises:
            ResultsError: There is no such group or backbone; it names the nearest.
        """
        filters = narrowed(self.kinds, [view.group], (), view.backbones)
        return self.store.changed(**filters), self._kinds.names

    def history(self) -> list[Run]:
        """List every attempt, newest first."""
        return self._shown(self.store.runs())

    def attempts(self, first: int, most: int, status: Status | None) -> list[Run]:
        """List up to `most` attempts after the newest `first`, of those that ended as `status`."""
        return self._shown(self.store.page(first, most, status))

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

    def begun(self, run_id: str) -> Begun | None:
        """Find an attempt that is not stored, by the whole id of its run; None if there is none."""
        root = self.source.runs
        if root is None or not re.fullmatch("[0-9a-f]{16}", run_id):
            return None
        folder = RunFolder(root / run_id)
        state = state_of(str(folder.path), locks.held(root))
        if state.how == "empty":
            return None
        with suppress(RunFolderError):  # what the store has can be shown all the same
            run = attempt_of(folder, state)
            return None if self.store.has(run) else Begun(run, folder, state.how)
        return None
