"""Every method in `methods/` passes every check, on every architecture."""

from collections.abc import Iterator
from typing import Any

import pytest

from harness import plugins
from methods.conformance import checks
from methods.conformance.checks import Check, checks_of
from methods.conformance.kept import KEPT_CHECKS
from methods.conformance.models import ARCHITECTURES, BUILDS

EVERY_CHECK = [
    f"{architecture.__name__}-{('gqa', 'mha')[number % 2]}"
    for number, architecture in enumerate(ARCHITECTURES)
]
"""Grouped-query attention on three architectures, multi-head attention on the other three."""

SHAPES = (checks.starts_as_the_base, checks.cached_equals_uncached, checks.counts_by_the_formula)
"""What the number of key heads could break, on the other kind of attention of each."""


ONCE = "qwen2-mha"
"""Where the checks of what is kept run in `make test`; it has biases. Elsewhere: `make parts`."""

HERE = {"llama-gqa", "qwen2-mha", "gemma3-mha"}
"""Where all other checks run in `make test`; the other models, built like these: `make parts`.

Mistral is a Llama, and Gemma 3 norms queries and keys as Qwen 3 does, and layers as Gemma 2 does.
"""


def is_later(check: Check, model: str) -> bool:
    """Whether a check is left to `make parts`."""
    return model != ONCE if check in KEPT_CHECKS else model not in HERE


def cases() -> Iterator[Any]:
    """Pair methods and models with checks."""
    for name in plugins.names("methods"):
        for model in BUILDS:
            for check in checks_of(plugins.method(name)):
                if model in EVERY_CHECK or check in SHAPES:
                    case = f"{name}-{check.__name__}-{model}"
                    marks = [pytest.mark.parts] if is_later(check, model) else []
                    yield pytest.param(name, check, model, id=case, marks=marks)


@pytest.mark.parametrize(("name", "check", "model"), list(cases()))
def test_conforms(name: str, check: Check, model: str) -> None:
    check(plugins.method(name), BUILDS[model])  # asserts
