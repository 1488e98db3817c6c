"""Keep the memory of each phase, and the kernels that are not deterministic."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "006"
down_revision = "005"


def upgrade() -> None:
    """Add the columns; of the runs that are there already nothing is known."""
    op.add_column("runs", Column("peak_memory", sa.JSON, nullable=False, server_default="{}"))
    op.add_column(
        "runs", Column("nondeterministic_kernels", sa.JSON, nullable=False, server_default="[]")
    )
