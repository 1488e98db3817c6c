"""Every method in `methods/` passes every check on every architecture."""

from functools import partial

import pytest

from harness import plugins
from methods.conformance.checks import CHECKS, Check
from methods.conformance.models import BUILDERS, build


@pytest.mark.parametrize("model", BUILDERS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", plugins.names("methods"))
def test_conforms(name: str, check: Check, model: str) -> None:
    check(plugins.method(name), partial(build, model))  # asserts
