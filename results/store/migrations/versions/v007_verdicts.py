"""Keep which rows of each benchmark a run answered right, and which rows share a prompt."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "007"
down_revision = "006"


def upgrade() -> None:
    """Make both tables, empty: `harness reindex` fills them for the runs that are there already."""
    op.create_table(
        "verdicts",
        Column("attempt", sa.Integer, sa.ForeignKey("runs.attempt"), primary_key=True),
        Column("benchmark", sa.Text, primary_key=True),
        Column("rows", sa.String(16), nullable=False),
        Column("n", sa.Integer, nullable=False),
        Column("right", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "clusters",
        Column("rows", sa.String(16), primary_key=True),
        Column("clusters", sa.JSON, nullable=False),
    )
