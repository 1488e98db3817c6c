"""Stands in for Ray without a cluster: an actor is an object here, and its calls are threads."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any

Ref = Future[Any]


class RayInThreads:
    """What the executor calls of the module `ray`.

    Args:
        died: What the calls of an actor raise once it was killed.

    Attributes:
        errors: Of the next call of a method, by its name, in the place of its result.
        before: Called with the name of a method, in its thread, before that begins.
        killed: The actors that were.
    """

    def __init__(self, died: Exception) -> None:
        self.died = died
        self.errors: dict[str, Exception] = {}
        self.before: Callable[[str], object] = lambda _: None
        self.killed: list[Actor] = []

    def remote(self, kind: Any) -> Any:
        made = SimpleNamespace(remote=lambda *arguments: Actor(self, kind(*arguments)))
        return SimpleNamespace(options=lambda **_: made)

    def get(self, ref: Ref) -> Any:
        return ref.result()

    def wait(self, refs: Sequence[Ref], timeout: float) -> tuple[list[Ref], list[Ref]]:
        found = wait_for(refs, timeout)
        return [*found.done], [*found.not_done]

    def kill(self, actor: "Actor") -> None:
        self.killed.append(actor)
        actor.die()


class Actor:
    """Calls the methods of a host in threads."""

    def __init__(self, cluster: RayInThreads, host: Any) -> None:
        self._cluster, self._host = cluster, host
        self._threads = ThreadPoolExecutor(4)
        self._refs: list[Ref] = []

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(remote=partial(self._call, name))

    def _call(self, name: str, *arguments: Any) -> Ref:
        ref = Ref()
        self._refs.append(ref)
        if error := self._cluster.errors.pop(name, None):
            ref.set_exception(error)
        else:
            self._threads.submit(self._work, ref, name, arguments)
        return ref

    def _work(self, ref: Ref, name: str, arguments: Sequence[Any]) -> None:
        self._cluster.before(name)
        found = getattr(self._host, name)(*arguments)
        with suppress(InvalidStateError):  # it was killed
            ref.set_result(found)

    def die(self) -> None:
        for ref in self._refs:
            with suppress(InvalidStateError):
                ref.set_exception(self._cluster.died)
        self._host.worker.kill()
        self._threads.shutdown()
        self._host.worker.end()
