"""What is true of PostgreSQL only: writers ask for a lock, as SQLite's do by how they begin."""

import sqlalchemy as sa
from sqlalchemy import URL, Engine, event
from sqlalchemy.pool import NullPool

BACKEND = "postgresql"

LOCK = int.from_bytes(b"harness")
"""Names the lock of writers, which other programs in the same database must not mean too."""


def engine_to_write(url: URL) -> Engine:
    """Begin every transaction with the lock of writers, which it gives back at its end.

    Without it, two processes that find no tables would both make them.
    """
    made = sa.create_engine(url, poolclass=NullPool)
    lock = f"SELECT pg_advisory_xact_lock({LOCK})"
    event.listen(made, "begin", lambda connection: connection.exec_driver_sql(lock))
    return made
