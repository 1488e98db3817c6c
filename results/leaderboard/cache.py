"""Values that were made before, as long as what they were made of is unchanged."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sized
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Generic, TypeVar

Value = TypeVar("Value", bound=Sized)


@dataclass
class _Entry:
    """A value, the stamp of what it was made of, and the lock of who looks at both."""

    lock: Lock = field(default_factory=Lock)
    stamp: Any = None
    """None as long as there is no value."""
    value: Any = ()


class Cache(Generic[Value]):
    """Keeps values up to a length together; those that were not asked for longest go first.

    Threads may share it: one of them makes a value, and others that want the same wait for it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, stamp: Callable[[], Any], make: Callable[[], Value]) -> Value:
        """Give the value of `key`; make it again if it was made under another stamp.

        The stamp is taken before a value is made, so that a change meanwhile shows at the next
        request.
        """
        entry = self._entry(key)
        with entry.lock:
            try:
                now = stamp()
                if entry.stamp != now:
                    entry.value, entry.stamp = make(), now
                    self._limit(key)
            except Exception:
                # Wrong addresses are without number, so what has no value has no place either.
                with self._lock:
                    self._entries.pop(key, None)
                raise
            value: Value = entry.value
            return value

    def _entry(self, key: Hashable) -> _Entry:
        with self._lock:
            entry = self._entries.setdefault(key, _Entry())
            self._entries.move_to_end(key)
            return entry

    def _limit(self, newest: Hashable) -> None:
        """Let go of what is too much, but never of the value that was just made."""
        with self._lock:
            total = sum(len(entry.value) for entry in self._entries.values())
            for key in list(self._entries):
                if total <= self._most:
                    return
                if key != newest:
                    total -= len(self._entries.pop(key).value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Give another process an empty one: it could not see what this one keeps."""
        return Cache, (self._most,)
