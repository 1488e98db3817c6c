"""Which rows are trained on, validated on and tested on: hold-out and cross-validation.

A training set of its own loses some rows, drawn at random, to validation: `hold_out`.

Sets that are trained together are split into folds: `split_fold`. HyCAM states a split of 7:2:1
into training, validation and test, and five-fold cross-validation. If every row is tested exactly
once, one of five folds tests a fifth, not a tenth. So each fold tests its own fifth, and the other
four fifths are divided 7:2 into training and validation.

In a fold, rows whose texts differ in case and white space only are a group. A group lies in one
part, even if its rows are in several sets. The split depends on the texts of each set and on the
seed, not on the order of rows or sets.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

Item = TypeVar("Item")

TRAIN_TO_VALIDATION = (7, 2)
TEST = 2  # The part after train and validation.

Groups = dict[str, Counter[str]]
"""How many rows each set has of a text, by text, in the order of dealing."""


@dataclass(frozen=True)
class Parts:
    """The places of one set's rows in each part of a fold, from 0 and rising."""

    train: tuple[int, ...]
    validation: tuple[int, ...]
    test: tuple[int, ...]


def hold_out(rows: Sequence[Item], count: int, seed: int) -> tuple[list[Item], list[Item]]:
    """Hold out `count` rows, drawn at random; return the other rows and those held out.

    Both keep the order of `rows`. Which rows are drawn depends on their number and on the seed, not
    on what they hold.

        >>> hold_out("abcdefghij", 2, seed=0)
        (['a', 'b', 'c', 'e', 'g', 'h', 'i', 'j'], ['d', 'f'])

    Raises:
        ValueError: There are fewer rows than `count`.
    """
    chosen = set(random.Random(f"{seed}/split").sample(range(len(rows)), count))
    kept = [row for place, row in enumerate(rows) if place not in chosen]
    return kept, [row for place, row in enumerate(rows) if place in chosen]


def split_fold(
    sets: Mapping[str, Sequence[str]], folds: int, fold: int, seed: int
) -> dict[str, Parts]:
    """Split every set for one fold; each row is tested in exactly one of the folds.

    Let `g` be the rows of a set's largest group plus its rows whose text is in another set too.
    The sizes of the set's test parts differ by `g` rows at most. They differ by 1 at most if the
    set has `g` times `folds` - 1 rows whose text is in all sets only once. Training and validation
    miss 7:2 by `g` rows at most, and by less than 1 row if 5 `g` such rows are left of those that
    the fold does not test.

        >>> split_fold({"letters": "abcdefghijk"}, folds=5, fold=0, seed=0)["letters"].test
        (2, 3, 6)

    Args:
        sets: By name, the texts that identify the rows: instruction and input.
        folds: How many folds there are.
        fold: The one to split for, from 0.
        seed: Another seed gives another split.

    Raises:
        ValueError: There is no such fold.
    """
    if not 0 <= fold < folds:
        raise ValueError(f"There is no fold {fold}: the {folds} folds count from 0.")
    groups = _groups(sets, seed)
    dealt = _deal(groups, (1,) * folds)
    rest = {text: rows for text, rows in groups.items() if dealt[text] != fold}
    parts = dict.fromkeys(groups, TEST) | _deal(rest, TRAIN_TO_VALIDATION)
    return {name: _parts(texts, parts) for name, texts in sets.items()}


def _same(text: str) -> str:
    r"""Write alike what differs in case and white space only.

    >>> _same("Name\n the  TWO"), _same("name the two ")
    ('name the two', 'name the two')
    """
    return " ".join(text.casefold().split())


def _groups(sets: Mapping[str, Sequence[str]], seed: int) -> Groups:
    groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, texts in sets.items():
        for text in texts:
            groups[_same(text)][name] += 1

    def rank(text: str) -> tuple[int, bytes]:
        # Large groups first: the single rows that follow even out what these leave uneven.
        return -groups[text].total(), sha256(f"{seed}\n{text}".encode()).digest()

    return {text: groups[text] for text in sorted(groups, key=rank)}


def _deal(groups: Groups, weights: Sequence[int]) -> dict[str, int]:
    """Deal each group in turn to the part which is then the least full for its weight."""
    filled: Counter[tuple[int, str]] = Counter()
    dealt = {}
    for text, rows in groups.items():
        fullness = [
            max((filled[part, name] + count) / weight for name, count in rows.items())
            for part, weight in enumerate(weights)
        ]
        part = fullness.index(min(fullness))
        filled.update({(part, name): count for name, count in rows.items()})
        dealt[text] = part
    return dealt


def _parts(texts: Sequence[str], parts: Mapping[str, int]) -> Parts:
    places: tuple[list[int], ...] = ([], [], [])
    for place, text in enumerate(texts):
        places[parts[_same(text)]].append(place)
    return Parts(*map(tuple, places))
