"""Tests over seeds against values worked out from their definitions.

Sums are exact fractions; tails of t are the regularised incomplete beta function of mpmath, and
power is an integral over the chi-square density. Nothing here is taken from the project or scipy.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

import mpmath as mp

Numbers = Sequence[Fraction]


def mean(values: Numbers) -> Fraction:
    return sum(values, Fraction()) / len(values)


def variance(values: Numbers) -> Fraction:
    middle = mean(values)
    return sum(((one - middle) ** 2 for one in values), Fraction()) / (len(values) - 1)


def real(value: Fraction) -> mp.mpf:
    return mp.mpf(value.numerator) / value.denominator


def upper_tail(t: mp.mpf, df: mp.mpf) -> mp.mpf:
    """P(T > t) of Student's distribution: half of I_x(df / 2, 1 / 2) at x = df / (df + t^2)."""
    half = mp.betainc(df / 2, mp.mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2
    return half if t >= 0 else 1 - half


def critical(tail: float, df: mp.mpf) -> mp.mpf:
    """The t whose upper tail is `tail`, by bisection."""
    low, high = mp.mpf(0), mp.mpf(2) ** 12
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if upper_tail(middle, df) > tail else (low, middle)
    return low


def welch(a: Numbers, b: Numbers) -> tuple[mp.mpf, mp.mpf, mp.mpf]:
    """Difference, standard error and degrees of freedom (Welch 1947, equation 28)."""
    u, v = variance(a) / len(a), variance(b) / len(b)
    df = (u + v) ** 2 / (u**2 / (len(a) - 1) + v**2 / (len(b) - 1))
    return real(mean(a) - mean(b)), mp.sqrt(real(u + v)), real(df)


def paired(a: Numbers, b: Numbers) -> tuple[mp.mpf, mp.mpf, mp.mpf]:
    differences = [x - y for x, y in zip(a, b, strict=True)]
    error = mp.sqrt(real(variance(differences) / len(a)))
    return real(mean(differences)), error, mp.mpf(len(a) - 1)


def folds(differences: Numbers, test_to_train: Fraction) -> tuple[mp.mpf, mp.mpf, mp.mpf]:
    """Nadeau and Bengio (2003), section 3: the corrected resampled t-test."""
    k = len(differences)
    factor = Fraction(1, k) + test_to_train
    return real(mean(differences)), mp.sqrt(real(variance(differences) * factor)), mp.mpf(k - 1)


def permutation(a: Numbers, b: Numbers) -> tuple[Fraction, Fraction]:
    """Two-sided and one-sided p over all ways to call len(a) of the values "a"."""
    pooled, size = [*a, *b], len(a)
    found = mean(a) - mean(b)
    total = sum(pooled, Fraction())
    two_sided = one_sided = 0
    for chosen in combinations(range(len(pooled)), size):
        first = sum((pooled[i] for i in chosen), Fraction())
        difference = first / size - (total - first) / len(b)
        two_sided += abs(difference) >= abs(found)
        one_sided += difference >= found
    relabelings = comb(len(pooled), size)
    return Fraction(two_sided, relabelings), Fraction(one_sided, relabelings)


def power(noncentrality: mp.mpf, df: int, alpha: float = 0.05) -> mp.mpf:
    """P(|T| > c) for T = (Z + noncentrality) / sqrt(V / df), V chi-square: integrated over V."""
    c = critical(alpha / 2, mp.mpf(df))
    half = mp.mpf(df) / 2

    def density(v: mp.mpf) -> mp.mpf:
        return v ** (half - 1) * mp.exp(-v / 2) / (2**half * mp.gamma(half))

    def beyond(v: mp.mpf) -> mp.mpf:
        edge = c * mp.sqrt(v / df)
        return mp.ncdf(noncentrality - edge) + mp.ncdf(-noncentrality - edge)

    return mp.quad(lambda v: density(v) * beyond(v), [0, df, 3 * df, 10 * df, 60 * df])


def detectable(n: int, alpha: float = 0.05) -> mp.mpf:
    """The difference in SD that n and n find with a power of 80 %, by bisection."""
    low, high = mp.mpf(0), mp.mpf(64)
    for _ in range(40):
        middle = (low + high) / 2
        found = power(middle / mp.sqrt(mp.mpf(2) / n), 2 * n - 2, alpha)
        low, high = (middle, high) if found < 0.8 else (low, middle)
    return low


def hedges_correction(df: int) -> mp.mpf:
    """Hedges (1981), equation 6e."""
    return mp.gamma(mp.mpf(df) / 2) / (mp.sqrt(mp.mpf(df) / 2) * mp.gamma(mp.mpf(df - 1) / 2))


def equivalence(difference: mp.mpf, error: mp.mpf, df: mp.mpf, margin: float) -> mp.mpf:
    """Schuirmann (1987): the larger p of "below the margin" and "above minus the margin"."""
    below = upper_tail((margin - difference) / error, df)
    above = upper_tail((difference + margin) / error, df)
    return max(below, above)
