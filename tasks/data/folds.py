"""The split of sets that are trained together: in folds, 7:2 within, duplicates kept together.

HyCAM states a split of 7:2:1 into training, validation and test, and five-fold cross-validation.
Where every row is tested exactly once, one of five folds tests a fifth, not a tenth. So fold k
tests its fifth, and the other four fifths are divided 7:2 into training and validation.

Rows of the same text, but for case and white space, are a group. A group lies in one part, also
where its rows are in several sets. The split depends on the texts of each set and on the seed, not
on the order of rows or sets.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

TRAIN_TO_VALIDATION = (7, 2)
TEST = 2  # The part after train and validation.

Groups = dict[str, Counter[str]]
"""How many rows each set has of a text, by text, in the order of dealing."""


@dataclass(frozen=True)
class Parts:
    """The rows of one set in each part of a fold, by their place in the set, ascending."""

    train: tuple[int, ...]
    validation: tuple[int, ...]
    test: tuple[int, ...]


def split(sets: Mapping[str, Sequence[str]], folds: int, fold: int, seed: int) -> dict[str, Parts]:
    """Split every set for one fold; a row is tested in exactly one of the folds.

    Sizes of a set's test parts differ by `g` rows at most, where `g` is the rows of its largest
    group and, above these, its rows with a text that another set has too. They differ by 1 at most
    where the set has `g` times `folds` - 1 rows with a text of their own. Training and validation
    miss 7:2 by `g` rows at most, and by less than 1 row where 5 `g` of the rows that the fold does
    not test have a text of their own.

        >>> split({"letters": "abcdefghijk"}, folds=5, fold=0, seed=0)["letters"].test
        (2, 3, 6)

    Args:
        sets: By name, the texts that identify the rows: instruction and input.
        folds: How many folds there are.
        fold: Which of them, from 0.
        seed: Another seed is another split.

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
