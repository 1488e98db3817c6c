"""What must hold for every executor, with a worker whose runs cost nothing.

An executor of your own is held to it with pytest:

    from harness.scheduling.executors.conformance.checks import CHECKS, Check

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_mine_conforms(check: Check) -> None:
        check(MyExecutor)  # called as MyExecutor(slots, command)
"""
