"""The tables of the store, as the newest migration leaves them.

A column is named like the field of `results.record` that it holds.
"""

from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy import Column
from sqlalchemy.engine import Dialect


class UtcTime(sa.TypeDecorator[datetime]):
    """An aware time, kept as UTC, since SQLite keeps no zone."""

    impl = sa.DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn an aware time into naive UTC."""
        return value and value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn naive UTC into an aware time."""
        return value and value.replace(tzinfo=UTC)


metadata = sa.MetaData()

VIEWS = frozenset({"v_runs", "v_scores"})
"""For queries of users; the migrations make them."""

SHOWN = ("started", "attempt", "status", "wall_seconds", "method", "backbone", "group", "seed")
"""Columns that groups of runs are made of: with them in an index, no row is read."""

runs = sa.Table(
    "runs",
    metadata,
    Column("attempt", sa.Integer, primary_key=True),
    Column("run_id", sa.String(16), nullable=False),
    Column("status", sa.String(8), nullable=False),
    Column("started", UtcTime, nullable=False),
    Column("group", sa.Text, nullable=False),
    Column("method", sa.Text, nullable=False),
    Column("backbone", sa.Text, nullable=False),
    Column("seed", sa.BigInteger, nullable=False),
    Column("fold", sa.Integer, nullable=True),
    Column("setting", sa.Text, nullable=False),
    Column("recipe", sa.Text, nullable=False),
    Column("series", sa.Text, nullable=False),
    Column("protocol", sa.Text, nullable=False),
    Column("environment_id", sa.Text, nullable=False),
    Column("trainable_parameters", sa.BigInteger, nullable=False),
    Column("total_parameters", sa.BigInteger, nullable=False),
    Column("adapter_bytes", sa.BigInteger, nullable=False),
    Column("peak_memory_bytes", sa.BigInteger, nullable=False),
    Column("train_tokens_per_second", sa.Double, nullable=False),
    Column("folder", sa.Text, nullable=False),
    Column("backbone_place", sa.Text, nullable=False),
    Column("validation_loss", sa.Double, nullable=True),
    Column("folds", sa.Integer, nullable=True),
    Column("trained_rows", sa.Integer, nullable=True),
    Column("kind", sa.String(16), nullable=False),
    Column("forgotten", sa.Text, nullable=False, server_default=""),
    Column("wall_seconds", sa.Double, nullable=True),
    Column("spec_facts", sa.BigInteger, nullable=False),
    Column("environment_facts", sa.BigInteger, nullable=False),
    sa.UniqueConstraint("run_id", "started", name="one_row_per_attempt"),
    sa.Index("runs_by_kind", "kind", "started"),
    sa.Index("runs_by_status", "status", "started", "attempt", "run_id"),
    sa.Index("runs_by_start", "started", "attempt", "run_id"),
    sa.Index("runs_by_spec", "spec_facts", *SHOWN),
    sa.Index("runs_by_environment", "environment_facts", *SHOWN),
)
"""What runs are selected by; `spec_facts` and `environment_facts` are keys of `facts`."""

documents = sa.Table(
    "documents",
    metadata,
    Column("attempt", sa.Integer, sa.ForeignKey("runs.attempt"), primary_key=True),
    Column("reason", sa.Text, nullable=False),
    Column("seconds", sa.JSON, nullable=False),
    Column("marks", sa.JSON, nullable=False),
    Column("flags", sa.JSON, nullable=False),
    Column("spec", sa.JSON, nullable=False),
    Column("environment", sa.JSON, nullable=False),
    Column("provenance", sa.JSON, nullable=False),
    Column("conditions", sa.JSON, nullable=False),
    Column("peak_memory", sa.JSON, nullable=False),
    Column("nondeterministic_kernels", sa.JSON, nullable=False),
)
"""What is long of a run: read with it, but never searched."""

fields = sa.Table(
    "fields",
    metadata,
    Column("field", sa.BigInteger, primary_key=True, autoincrement=False),
    Column("name", sa.Text, nullable=False),
    Column("value", sa.Text, nullable=False),
    Column("number", sa.Double, nullable=True),
    sa.Index("fields_by_name", "name"),
)
"""Fields of specs and environments with a value; `field` is the hash of both."""

facts = sa.Table(
    "facts",
    metadata,
    Column("key", sa.BigInteger, primary_key=True, autoincrement=False),
    Column("field", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Index("facts_by_field", "field", "key"),
    sqlite_with_rowid=False,
)
"""Which fields a spec or an environment has; `key` is the hash of the set."""

kinds = sa.Table(
    "kinds",
    metadata,
    Column("kind", sa.String(16), primary_key=True),
    Column("group", sa.Text, nullable=False),
    Column("method", sa.Text, nullable=False),
    Column("backbone", sa.Text, nullable=False),
    Column("backbone_place", sa.Text, nullable=False),
    Column("backbone_identity", sa.JSON, nullable=False),
    Column("benchmarks", sa.JSON, nullable=False),
    Column("changed", sa.BigInteger, nullable=False),
)
"""What names select runs by; `kind` is the hash of the rest but `changed`: when a run of the kind
was last written, in microseconds since 1970, and always later than any change before."""

scores = sa.Table(
    "scores",
    metadata,
    Column("attempt", sa.Integer, sa.ForeignKey("runs.attempt"), primary_key=True),
    Column("position", sa.Integer, primary_key=True),
    Column("benchmark", sa.Text, nullable=False),
    Column("metric", sa.Text, nullable=False),
    Column("extractor", sa.Text, nullable=False),
    Column("headline", sa.Boolean, nullable=False),
    Column("value", sa.Double, nullable=False),
    Column("n", sa.Integer, nullable=False),
    Column("unparsed", sa.Integer, nullable=False),
    Column("signature", sa.Text, nullable=False),
    Column("extractor_version", sa.Integer, nullable=False),
    sa.Index("scores_by_metric", "metric", "benchmark", "headline", "attempt", "value"),
)

averages = sa.Table(
    "averages",
    metadata,
    Column("metric", sa.Text, primary_key=True),
    Column("attempt", sa.Integer, sa.ForeignKey("runs.attempt"), primary_key=True),
    Column("micro", sa.Double, nullable=False),
    Column("macro", sa.Double, nullable=False),
    sqlite_with_rowid=False,
)
"""Of the headline scores of a metric over the benchmarks of an attempt."""

tags = sa.Table(
    "tags",
    metadata,
    Column("run_id", sa.String(16), primary_key=True),
    Column("tag", sa.Text, primary_key=True),
    sa.Index("tags_by_tag", "tag", "run_id"),
)

notes = sa.Table(
    "notes",
    metadata,
    Column("run_id", sa.String(16), primary_key=True),
    Column("written", UtcTime, primary_key=True),
    Column("text", sa.Text, nullable=False),
)
"""What users wrote on a run, whichever attempt; its folder keeps it too."""

last_seen = sa.Table(
    "last_seen",
    metadata,
    Column("host", sa.Text, primary_key=True),
    Column("folder", sa.Text, primary_key=True),
    Column("time", UtcTime, nullable=False),
    Column("ended", sa.Boolean, nullable=False),
    Column("page", sa.JSON, nullable=False),
)
"""What commands at work last saw of their run folders."""

verdicts = sa.Table(
    "verdicts",
    metadata,
    Column("attempt", sa.Integer, sa.ForeignKey("runs.attempt"), primary_key=True),
    Column("benchmark", sa.Text, primary_key=True),
    Column("rows", sa.String(16), nullable=False),
    Column("n", sa.Integer, nullable=False),
    Column("right", sa.LargeBinary, nullable=False),
)

clusters = sa.Table(
    "clusters",
    metadata,
    Column("rows", sa.String(16), primary_key=True),
    Column("clusters", sa.JSON, nullable=False),
)
"""Of the rows of which some share a prompt; stored once, not with each run."""
