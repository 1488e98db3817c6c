"""Keep why the user forgets a run: it stays stored, and enters no table."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "011"
down_revision = "010"


def upgrade() -> None:
    """Add the column, empty: no run was forgotten before."""
    op.add_column("runs", Column("forgotten", sa.Text, nullable=False, server_default=""))
