"""The conformance checks themselves."""

import ast
import inspect

from methods.conformance import checks


def test_every_assertion_of_a_check_says_why_it_fails() -> None:
    source = ast.parse(inspect.getsource(checks))
    silent = [n.lineno for n in ast.walk(source) if isinstance(n, ast.Assert) and n.msg is None]
    assert not silent
