"""Mean and standard deviation of a few seeds."""

from results.statistics.sample import sample


def test_the_standard_deviation_divides_by_n_minus_one() -> None:
    # By hand: mean 4, squares 4 + 0 + 4 = 8, 8 / 2 = 4, root 2.
    assert sample({1: 2.0, 2: 4.0, 3: 6.0}).sd == 2.0


def test_no_seed_has_no_mean() -> None:
    assert sample({}).mean is None
