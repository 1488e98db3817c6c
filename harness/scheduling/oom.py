"""What the kernel tells of processes that it ended for want of memory."""

import re
from pathlib import Path

PROCESSES, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")


def oom_kills(processes: Path = PROCESSES, groups: Path = GROUPS) -> int:
    """Count them: those of our control group (version 2), or else of the machine.

    Args:
        processes: Where Linux tells of processes.
        groups: Where it tells of control groups.

    Returns:
        The number since the start of either; 0 where the system does not say.
    """
    group = re.search(r"^0::/(.*)$", _text(processes / "self/cgroup"), re.MULTILINE)
    told = _text(groups / group[1] / "memory.events") if group else ""
    found = re.search(r"^oom_kill (\d+)$", told or _text(processes / "vmstat"), re.MULTILINE)
    return int(found[1]) if found else 0


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""
