"""What a plan has to know of methods and backbones: kept on disk, since working it out takes torch.

An entry is kept under all that it follows from: what is asked, the code of methods and of the
planner, the backbone's configuration, and the versions of the packages. What code of the user's or
of another distribution says is not kept: it may read anything.
"""

import platform
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import methods
from harness import plugins
from harness.imports import many
from harness.planning.parse import MethodRequest
from harness.spec.planned import Located
from harness.spec.protocol import Protocol
from harness.spec.spec import MethodSpec
from harness.spec.value import Value, canonical
from results.kept import Shelf, kept

PACKAGES = ("torch", "transformers", "peft", "accelerate", "tokenizers", "pydantic")
"""Those whose code decides what a request resolves to."""

HARNESS = Path(plugins.__file__).parents[1]

FACTS = Shelf(
    "plans",
    (Path(methods.__path__[0]), *(HARNESS / room for room in ("planning", "plugins", "spec"))),
)


class MethodFacts(Value):
    """A method with all its fields, and what a plan asks of it; as `methods.contract` has it.

    Attributes:
        spec: All that can change a number.
        title: As tables print it.
        variants: Their names.
    """

    spec: MethodSpec
    title: str
    variants: tuple[str, ...]
    trains: bool
    zero_safe: bool
    mergeable: bool
    quantized: tuple[str, ...]


class Facts:
    """Gives facts as they were kept, or works them out.

    Args:
        before: Called once before torch is imported to work something out, which takes seconds.
    """

    def __init__(self, before: Callable[[], None] = lambda: None) -> None:
        self._before = cache(before)

    def method(self, request: MethodRequest) -> MethodFacts:
        """Complete a method.

        Raises:
            UserError: There is no such variant or field, or a field holds what it cannot.
        """
        key = [request.name, request.variant, dict(request.overrides)]
        return MethodFacts(**self._of(request.name, "method", key, request))

    def adjustments(self, method: MethodSpec, place: Located) -> tuple[str, ...]:
        """Put a method on a backbone in shapes, and say what PEFT adjusted.

        Raises:
            UserError: It cannot be put on this backbone with these fields.
        """
        key = [method.name, method.fields, method.source, _configuration(place)]
        return tuple(self._of(method.name, "count", key, method, place)["adjustments"])

    def takes_chat(self, place: Located, protocol: Protocol) -> None:
        """Check that the chat template of a tokenizer takes the messages of a protocol.

        Raises:
            UserError: It does not, or there is none.
        """
        key = [place.backbone.revision, canonical(protocol)]
        self._kept("takes_chat", key, place, protocol)

    def _of(self, method: str, what: str, key: list[Any], *arguments: Any) -> Any:
        if plugins.is_guest("methods", method):
            return self._work_out(what, *arguments)
        return self._kept(what, key, *arguments)

    def _kept(self, what: str, key: list[Any], *arguments: Any) -> Any:
        return kept([what, key, _versions()], lambda: self._work_out(what, *arguments), FACTS)

    def _work_out(self, what: str, *arguments: Any) -> Any:
        self._before()
        with many():
            from harness.planning import worked_out  # noqa: PLC0415 (start-up time)
        return getattr(worked_out, what)(*arguments)


def _configuration(place: Located) -> str:
    """Give the text of a folder's configuration; that of a repository follows from its commit."""
    file = Path(place.place, "config.json")
    if file.is_file():
        return file.read_text("utf-8", errors="surrogateescape")
    return f"{place.place}@{place.backbone.revision}"


@cache
def _versions() -> list[str]:
    return [platform.python_version(), *map(version, PACKAGES)]
