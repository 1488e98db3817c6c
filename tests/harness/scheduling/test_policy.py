"""Which failed runs are run again: the rules of the documentation, over all pasts."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from harness.scheduling.policy import Policy
from results.runfolder.values import FailureKind

kinds = st.sampled_from(get_args(FailureKind))
pasts = st.lists(kinds, max_size=8)
policies = st.builds(Policy, st.integers(0, 4), st.booleans(), st.booleans())
lost = st.sampled_from(["vanished", "stalled"])


@given(policies, st.sampled_from(["exception", "refused", "disk"]), pasts, st.booleans())
def test_what_would_come_again_at_once_is_never_repeated(
    policy: Policy, kind: FailureKind, past: list[FailureKind], halvable: bool
) -> None:
    assert policy.decide(kind, past, halvable=halvable) == "no"


@given(policies, pasts)
def test_out_of_memory_is_run_again_only_with_fewer_rows(
    policy: Policy, past: list[FailureKind]
) -> None:
    half = policy.decide("memory", past, halvable=True)
    assert half == "again with half the micro-batch"
    assert policy.decide("memory", past, halvable=False) == "no"


@given(policies, lost, pasts, st.booleans())
def test_a_lost_worker_is_replaced_as_often_as_was_asked_for(
    policy: Policy, kind: FailureKind, past: list[FailureKind], halvable: bool
) -> None:
    before = past.count("vanished") + past.count("stalled")
    again = policy.decide(kind, past, halvable=halvable) == "again"
    assert again == (before < policy.retries)


@given(policies, kinds, st.integers(1, 6))
def test_every_run_ends(policy: Policy, kind: FailureKind, rows: int) -> None:
    """A failure that always comes again ends; halvings end when a row is left."""
    past: list[FailureKind] = []
    while (decision := policy.decide(kind, past, halvable=rows > 1)) != "no":
        past.append(kind)
        rows -= decision == "again with half the micro-batch"
        assert len(past) <= 6 + 4
