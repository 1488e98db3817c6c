"""What `harness run` says last."""

from harness.commands.run import summed_up
from harness.scheduling.summary import Summary


def test_a_reason_of_before_is_said_in_a_line_however_long_or_empty_it_is() -> None:
    before = {"a" * 16: "no memory\n" * 500_000, "b" * 16: ""}
    _, *lines = summed_up(Summary(failed_before=before), "harness.db").splitlines()
    assert [line.partition(" ")[0] for line in lines] == list(before)
    assert max(map(len, lines)) < 1000
