"""Keep the training recipe of a run apart from its setting, and where the run comes from."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "003"
down_revision = "002"


def upgrade() -> None:
    """Add both columns, empty for the runs that are there already."""
    op.add_column("runs", Column("recipe", sa.Text, nullable=False, server_default=""))
    op.add_column("runs", Column("provenance", sa.JSON, nullable=False, server_default="{}"))
