"""`harness leaderboard`: what it says before it serves."""

import pytest

from harness.commands.leaderboard import greeting, listen
from results.errors import ResultsError


def test_a_page_that_others_can_reach_says_that_it_has_no_login() -> None:
    address, warning = greeting("0.0.0.0", 8712)
    assert address == "http://0.0.0.0:8712"
    assert "no login" in warning
    assert "proxy_pass http://127.0.0.1:8712;" in warning


def test_a_page_for_this_machine_alone_says_nothing_of_it() -> None:
    assert greeting("127.0.0.1", 8000) == ("http://127.0.0.1:8000", "")


def test_an_address_of_the_newer_protocol_is_written_as_browsers_take_it() -> None:
    assert greeting("::1", 8000) == ("http://[::1]:8000", "")


def test_a_port_that_is_taken_is_named_with_what_to_do() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(ResultsError, match=rf"port {port}: address already in use") as raised:
            listen("127.0.0.1", port)
    assert "--port" in str(raised.value)
