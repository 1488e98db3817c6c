"""Keep what a command at work last saw of its run folders."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "014"
down_revision = "013"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "last_seen",
        Column("host", sa.Text, primary_key=True),
        Column("folder", sa.Text, primary_key=True),
        Column("time", sa.DateTime, nullable=False),
        Column("ended", sa.Boolean, nullable=False),
        Column("page", sa.JSON, nullable=False),
    )
