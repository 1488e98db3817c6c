"""The command `harness`, under a name that no other file has.

A `harness.py` of the user's on Python's path hides our package; this module still starts, and says
so.
"""

import runpy
import signal
import sys
from pathlib import Path


def main() -> None:
    """Run the command line, unless Python finds another `harness` than the one beside this file."""
    # Ctrl-C in the imports of the command line would leave their traceback.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    packages = runpy.run_path(str(Path(__file__).with_name("harness") / "packages.py"))
    if found := packages["stranger"]():
        print(f"error: {found}", file=sys.stderr)
        sys.exit(2)
    from harness.cli import main as command  # noqa: PLC0415 (it may be another's)

    command()
