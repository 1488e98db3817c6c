"""The lock of a folder in which torch compiles extensions, as DeepSpeed has it do.

Torch's own lock is a file that is removed when all is compiled. A process that is killed before
leaves it, and whoever comes later waits without end.
"""

import fcntl
import time
from contextlib import suppress
from pathlib import Path

from torch.utils import cpp_extension
from torch.utils.file_baton import FileBaton

SECONDS = 0.1
"""Between two looks at a lock that another program holds."""


class Baton(FileBaton):
    """Torch's lock, behind one that ends with its process.

    Who waits does not go on without the extension, as with torch's: it compiles what is missing.
    """

    def try_acquire(self) -> bool:
        """Wait until nobody compiles here; True, since it is this process's turn then."""
        self._turn = Path(f"{self.lock_file_path}.turn").open("w")  # noqa: SIM115
        fcntl.flock(self._turn, fcntl.LOCK_EX)
        # The file is there although no run compiles: left behind, or of another program.
        while not super().try_acquire():
            time.sleep(SECONDS)
            if not _is_open(Path(self.lock_file_path)):
                Path(self.lock_file_path).unlink(missing_ok=True)
        return True

    def release(self) -> None:
        """Let the next one compile."""
        super().release()
        self._turn.close()


def install() -> None:
    """Have torch use this lock in this process."""
    cpp_extension.FileBaton = Baton  # type: ignore[attr-defined]


def _is_open(path: Path) -> bool:
    """Whether a process has a file open; those of other users are not seen."""
    for opened in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):  # closed meanwhile
            if opened.samefile(path):
                return True
    return False
