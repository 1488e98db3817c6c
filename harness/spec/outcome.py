"""How a run can end, and the exit statuses by which a worker says so."""

from typing import Literal

Status = Literal["finished", "diverged", "failed", "elsewhere", "cancelled"]
"""`diverged`: the training came to a loss that is not finite. `elsewhere`: another process works in
the run folder. `cancelled`: the user ended it."""

FAILED = 1
UNWRITTEN = 74
"""EX_IOERR of sysexits.h: it failed, and could not write why into its folder."""
ELSEWHERE = 75
"""EX_TEMPFAIL of sysexits.h: another attempt may succeed."""
INTERRUPTED = 143
"""What a shell says of a process that SIGTERM ended: it was asked to stop, and can be continued."""
