"""What users wrote on runs: tags and notes, by the id of the run."""

import dataclasses
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from results.record import Note, Run
from results.store import schema


@dataclass(frozen=True)
class Remarks:
    """The tags of a run in their order, and its notes, the oldest first."""

    tags: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    def with_those(self, tags: Collection[str], notes: Collection[Note]) -> "Remarks":
        """Add tags and notes that are written elsewhere."""
        in_order = sorted({*self.notes, *notes}, key=lambda note: note.written)
        return Remarks(tuple(sorted({*self.tags, *tags})), tuple(in_order))


def read(connection: Connection, run_ids: Collection[str]) -> dict[str, Remarks]:
    """Read what is written on runs."""
    tags, notes = schema.tags.c, schema.notes.c
    found: dict[str, Remarks] = defaultdict(Remarks)
    asked = sa.select(tags.run_id, tags.tag).where(tags.run_id.in_(run_ids)).order_by(tags.tag)
    for run_id, tag in connection.execute(asked):
        found[run_id] = Remarks((*found[run_id].tags, tag))
    written = sa.select(notes.run_id, notes.written, notes.text).where(notes.run_id.in_(run_ids))
    for run_id, *note in connection.execute(written.order_by(notes.written)):
        known = found[run_id]
        found[run_id] = Remarks(known.tags, (*known.notes, Note(*note)))
    return found


def joined(stored: Run, given: Run) -> Run:
    """Add to a run what users said of it to the store."""
    told = Remarks(stored.tags, stored.notes).with_those(given.tags, given.notes)
    return dataclasses.replace(given, **vars(told), forgotten=given.forgotten or stored.forgotten)


def keep(connection: Connection, run: Run) -> bool:
    """Add the tags and notes of a run that are not there yet; say whether there were any."""
    known = read(connection, [run.run_id])[run.run_id]
    tags: list[dict[str, object]] = [{"tag": tag} for tag in run.tags if tag not in known.tags]
    notes = [vars(note) for note in run.notes if note not in known.notes]
    _insert(connection, schema.tags, run.run_id, tags)
    _insert(connection, schema.notes, run.run_id, notes)
    return bool(tags or notes)


def replace(connection: Connection, run_id: str, said: Remarks) -> None:
    """Give a run these tags and notes, and no others."""
    for table in (schema.tags, schema.notes):
        connection.execute(sa.delete(table).where(table.c.run_id == run_id))
    _insert(connection, schema.tags, run_id, [{"tag": tag} for tag in said.tags])
    _insert(connection, schema.notes, run_id, [vars(note) for note in said.notes])


def _insert(
    connection: Connection, table: sa.Table, run_id: str, rows: list[dict[str, object]]
) -> None:
    if rows:
        connection.execute(sa.insert(table), [row | {"run_id": run_id} for row in rows])
