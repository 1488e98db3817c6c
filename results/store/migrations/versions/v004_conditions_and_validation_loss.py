"""Keep how a run was made where that was not the default, its backbone's place, its loss."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column

from results.conditions import of_spec

revision = "004"
down_revision = "003"


def upgrade() -> None:
    """Add the columns; what was not the default is worked out from the spec.

    Place and validation loss stay unknown for the runs that are there already.
    """
    op.add_column("runs", Column("conditions", sa.JSON, nullable=False, server_default="{}"))
    op.add_column("runs", Column("backbone_place", sa.Text, nullable=False, server_default=""))
    op.add_column("runs", Column("validation_loss", sa.Double, nullable=True))
    runs = sa.table("runs", *(sa.column(n, sa.JSON) for n in ("attempt", "spec", "conditions")))
    connection = op.get_bind()
    for attempt, spec in connection.execute(sa.select(runs.c.attempt, runs.c.spec)).all():
        if found := of_spec(spec):
            this = sa.update(runs).where(runs.c.attempt == attempt)
            connection.execute(this.values(conditions=found))
