"""`python -m harness` is the command line."""

import signal

# Ctrl-C in the imports of the command line would leave their traceback.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from harness.cli import main

main()
