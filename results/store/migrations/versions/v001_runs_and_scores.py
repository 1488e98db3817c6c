"""Make the tables of runs and of their scores."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

revision = "001"
down_revision = None


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "runs",
        Column("attempt", sa.Integer, primary_key=True),
        Column("run_id", sa.String(16), nullable=False),
        Column("status", sa.String(8), nullable=False),
        Column("reason", sa.Text, nullable=False),
        Column("started", sa.DateTime, nullable=False),
        Column("seconds", sa.JSON, nullable=False),
        Column("group", sa.Text, nullable=False),
        Column("method", sa.Text, nullable=False),
        Column("backbone", sa.Text, nullable=False),
        Column("seed", sa.BigInteger, nullable=False),
        Column("marks", sa.JSON, nullable=False),
        Column("setting", sa.Text, nullable=False),
        Column("series", sa.Text, nullable=False),
        Column("protocol", sa.Text, nullable=False),
        Column("spec", sa.JSON, nullable=False),
        Column("environment", sa.JSON, nullable=False),
        Column("environment_id", sa.Text, nullable=False),
        Column("trainable_parameters", sa.BigInteger, nullable=False),
        Column("total_parameters", sa.BigInteger, nullable=False),
        Column("adapter_bytes", sa.BigInteger, nullable=False),
        Column("peak_memory_bytes", sa.BigInteger, nullable=False),
        Column("train_tokens_per_second", sa.Double, nullable=False),
        Column("folder", sa.Text, nullable=False),
        sa.UniqueConstraint("run_id", "started", name="one_row_per_attempt"),
    )
    op.create_table(
        "scores",
        Column("attempt", sa.Integer, sa.ForeignKey("runs.attempt"), primary_key=True),
        Column("position", sa.Integer, primary_key=True),
        Column("benchmark", sa.Text, nullable=False),
        Column("extractor", sa.Text, nullable=False),
        Column("headline", sa.Boolean, nullable=False),
        Column("correct", sa.Integer, nullable=False),
        Column("n", sa.Integer, nullable=False),
    )
