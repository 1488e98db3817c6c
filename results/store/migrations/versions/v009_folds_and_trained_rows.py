"""Keep how many folds were planned and how many rows a run trained on, for tests over folds."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "009"
down_revision = "008"


def upgrade() -> None:
    """Add the columns, empty: `harness reindex` fills them for the runs that are there already."""
    op.add_column("runs", Column("folds", sa.Integer, nullable=True))
    op.add_column("runs", Column("trained_rows", sa.Integer, nullable=True))
