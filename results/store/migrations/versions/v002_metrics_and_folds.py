"""Let scores be of any metric, and runs be folds and carry flags."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "002"
down_revision = "001"


def upgrade() -> None:
    """Turn counts of correct answers into accuracies; every run so far had no fold, no flags."""
    # A column that must not be null needs a default, for the rows that are there already.
    op.add_column("runs", Column("fold", sa.Integer, nullable=True))
    op.add_column("runs", Column("flags", sa.JSON, nullable=False, server_default="[]"))
    for column in (
        Column("metric", sa.Text, nullable=False, server_default="accuracy"),
        Column("value", sa.Double, nullable=False, server_default="0"),
        Column("unparsed", sa.Integer, nullable=False, server_default="0"),
        Column("signature", sa.Text, nullable=False, server_default=""),
    ):
        op.add_column("scores", column)
    op.execute("UPDATE scores SET value = CAST(correct AS DOUBLE PRECISION) / n")
    op.drop_column("scores", "correct")
