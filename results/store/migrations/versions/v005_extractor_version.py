"""Keep the version of the extractor with each score."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "005"
down_revision = "004"


def upgrade() -> None:
    """Add the column; every extractor so far was in its first version."""
    op.add_column(
        "scores", Column("extractor_version", sa.Integer, nullable=False, server_default="1")
    )
