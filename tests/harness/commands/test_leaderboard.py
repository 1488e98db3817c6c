"""`harness leaderboard`: what it says before it serves."""

from harness.commands.leaderboard import greeting


def test_a_page_that_others_can_reach_says_that_it_has_no_login() -> None:
    address, warning = greeting("0.0.0.0", 8712)
    assert address == "http://0.0.0.0:8712"
    assert "no login" in warning
    assert "proxy_pass http://127.0.0.1:8712;" in warning


def test_a_page_for_this_machine_alone_says_nothing_of_it() -> None:
    assert greeting("127.0.0.1", 8000) == ("http://127.0.0.1:8000", "")
