"""What commands at work last saw of their run folders, for machines that do not see these."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from results.store import schema


@dataclass(frozen=True)
class LastSeen:
    """What a command saw of the folder of its run folders; of each folder of a host, the newest."""

    host: str
    folder: str
    time: datetime
    """By the clock of the host."""
    ended: bool
    """Whether the command has ended with that."""
    page: Mapping[str, Any]
    """What `harness status --json` prints there."""


def put(connection: Connection, seen: LastSeen) -> None:
    """Keep what was seen, in the place of what was seen there before."""
    table = schema.last_seen
    this = (table.c.host == seen.host, table.c.folder == seen.folder)
    connection.execute(sa.delete(table).where(*this))
    connection.execute(sa.insert(table).values(vars(seen)))


def read(connection: Connection) -> list[LastSeen]:
    """List what was seen, the newest first."""
    newest_first = sa.select(schema.last_seen).order_by(schema.last_seen.c.time.desc())
    return [LastSeen(**row) for row in connection.execute(newest_first).mappings()]
