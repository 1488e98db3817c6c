"""Keep when a run of each kind was last written, and index the runs of a status by their start."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "010"
down_revision = "009"


def upgrade() -> None:
    """Add the column, in which 0 stands for all that was written before, and change the index."""
    op.add_column("kinds", Column("changed", sa.BigInteger, nullable=False, server_default="0"))
    op.drop_index("runs_by_status", "runs")
    op.create_index("runs_by_status", "runs", ["status", "started", "attempt", "run_id"])
