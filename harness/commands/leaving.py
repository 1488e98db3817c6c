"""Leaving a command in two stages: a first signal lets the runs at work stop, a second ends all.

A thread hears the signals. An exception, as Ctrl-C raises it by default, could come anywhere: while
a result is stored, or in an import that turns it into another one.
"""

import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn, Self

if TYPE_CHECKING:  # this has to be there before anything that takes time
    from harness.scheduling.executors.contract import Executor

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LEFT = "Interrupted. What is done is kept; the same command goes on."
DETACHED = "Left the runs to the cluster, where they go on; the same command follows them."

ERRORS = 2
STREAMS = (0, 1, ERRORS)


class Leaving:
    """Listens while it is entered, which only the main thread can do.

    A signal that is ignored, as `nohup` has it, stays ignored.

    Attributes:
        executor: What is at work; None before there is one.
        status: The exit status that the first signal asks for; None before it.
    """

    def __init__(self) -> None:
        self.executor: Executor | None = None
        self.status: int | None = None
        self._detached = False
        self._once = threading.Lock()
        self._terminals = [stream for stream in STREAMS if os.isatty(stream)]

    def __enter__(self) -> Self:
        self._ear, self._mouth = socket.socketpair()
        self._mouth.setblocking(False)
        heeded = [one for one in SIGNALS if signal.getsignal(one) != signal.SIG_IGN]
        # Python writes the number to the socket at once, whatever the main thread is at.
        self._before = {one: signal.signal(one, lambda *_: None) for one in heeded}
        self._former = signal.set_wakeup_fd(self._mouth.fileno())
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(self._former)
        for one, handler in self._before.items():
            signal.signal(one, handler)
        self._mouth.close()  # which ends the thread

    def _listen(self) -> None:
        with self._ear:
            while number := self._ear.recv(1):
                if number[0] in self._before:
                    self._hear(number[0])

    def _hear(self, number: int) -> None:
        """Let the runs stop, the first time and where there are any; else leave."""
        if number == signal.SIGHUP:
            self._let_go_of_terminals()
        asked = 0
        if self.status is None:
            self.status = 128 + number
            self._detached = self.executor is not None and self.executor.detach()
            asked = 0 if self._detached or not self.executor else self.executor.interrupt()
        if not asked:
            self.leave()
        runs = "1 run" if asked == 1 else f"{asked} runs"
        with suppress(OSError):
            print(f"Finishing the step of {runs}; again to leave now.", file=sys.stderr)

    def leave(self) -> NoReturn:
        """End every process, after a signal; no file needs to be put in order, since all are whole.

        The command calls it too when its runs have stopped; whoever comes second waits here.
        """
        with self._once:
            try:
                if self.executor and not self._detached:
                    self.executor.close()
            finally:
                # In the place of the last line of a live table, which hides the cursor.
                start = "\r\x1b[2K\x1b[?25h" if ERRORS in self._terminals else ""
                with suppress(OSError):
                    os.write(ERRORS, f"{start}{DETACHED if self._detached else LEFT}\n".encode())
                assert self.status
                os._exit(self.status)

    def _let_go_of_terminals(self) -> None:
        """Write nothing more to a terminal that was closed: it would be an error."""
        null = os.open(os.devnull, os.O_RDWR)
        for stream in self._terminals:
            os.dup2(null, stream)
        self._terminals = []
