"""Who is best in one column, who is second, and whether the best is so beyond chance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from results.statistics import Sample, Undefined, Welch, welch

Standing = Literal["best", "second", ""]


@dataclass(frozen=True)
class Cell:
    """One method in one column: its sample, its standing, its test against the best other method.

    The cell is complete when it has a number for every seed that the other methods have.
    """

    column: str
    sample: Sample
    complete: bool
    standing: Standing
    test: Welch | Undefined

    @property
    def starred(self) -> bool:
        """Tell whether this is the best, and better than every other method beyond chance."""
        test = self.test
        best = self.standing == "best"
        return best and isinstance(test, Welch) and test.significant and test.difference > 0


def points(mean: float) -> float:
    """Give an accuracy in percent as it is printed, so that what prints equal ranks equal.

    >>> points(0.83254)
    83.25
    """
    return round(100 * mean, 2)


def cells(column: str, samples: Mapping[str, Sample], seeds: frozenset[int]) -> dict[str, Cell]:
    """Judge the methods of one column; `seeds` are those that any of them has in any column."""
    standings = standing({name: one.mean for name, one in samples.items() if one.mean is not None})
    return {
        name: Cell(
            column,
            one,
            complete=seeds == one.by_seed.keys(),
            standing=standings.get(name, ""),
            test=_test(one, _best_other(name, samples), seeds),
        )
        for name, one in samples.items()
    }


def standing(means: Mapping[str, float]) -> dict[str, Standing]:
    """Name the best and the second; equals share a place, and two best leave no second.

    A method alone is not the best of anything.

    >>> standing({"dypam": 0.83, "lora": 0.80, "vera": 0.80, "full": 0.7})
    {'dypam': 'best', 'lora': 'second', 'vera': 'second', 'full': ''}
    >>> standing({"dypam": 0.83, "lora": 0.83, "vera": 0.80})
    {'dypam': 'best', 'lora': 'best', 'vera': ''}
    >>> standing({"dypam": 0.83})
    {'dypam': ''}
    """
    shown = sorted((points(mean) for mean in means.values()), reverse=True)
    places: dict[float, Standing] = {}
    if len(shown) > 1:
        places = {shown[1]: "second", shown[0]: "best"}
    return {name: places.get(points(mean), "") for name, mean in means.items()}


def _test(own: Sample, other: Sample | None, seeds: frozenset[int]) -> Welch | Undefined:
    if other is None:
        return Undefined("no other method")
    if not seeds == own.by_seed.keys() == other.by_seed.keys():
        return Undefined("seeds are missing")
    return welch(own.by_seed.values(), other.by_seed.values())


def _best_other(name: str, samples: Mapping[str, Sample]) -> Sample | None:
    others = [one for other, one in samples.items() if other != name and one.by_seed]
    return max(others, key=lambda one: one.mean or 0.0, default=None)
