"""What a visitor looks at, as the address says it: a frozen value, from a query and to a query."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, get_args
from urllib.parse import urlencode

from results.errors import ResultsError, unknown

Recipes = Literal["shared", "own", "validation"]
"""Whether the methods of a table share a recipe, each has its own, or the best of its own."""

SEVERAL = ("backbones", "methods", "columns")
"""Fields that an address may give more than once."""


@dataclass(frozen=True)
class View:
    """A view of the ranking; empty fields are left to the newest run, or pass everything.

    Methods, columns and search hide rows and columns. They change no rank and no test, which are
    always among all methods of a table.
    """

    group: str = ""
    backbones: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    protocol: str = ""
    recipes: Recipes = "shared"
    era: str = ""
    """The first digits of the id of an environment: scores of two stacks are never compared."""
    sort: str = ""
    """A column, or one of `rank.FACTS`; empty for the first average, the best first."""
    reverse: bool = False
    search: str = ""

    def to_query(self) -> str:
        """Write the view as the query of an address, without what is empty.

        >>> View(group="math", backbones=("a b", "c"), reverse=True).to_query()
        'group=math&backbones=a+b&backbones=c&reverse=1'
        """
        return urlencode(self.pairs())

    def pairs(self) -> list[tuple[str, str]]:
        """List name and value of what is not empty."""
        default = View()
        return [
            (field.name, "1" if one is True else one)
            for field in fields(self)
            if (value := getattr(self, field.name)) != getattr(default, field.name)
            for one in (value if isinstance(value, tuple) else (value,))
        ]


def from_query(pairs: Iterable[tuple[str, str]]) -> View:
    """Read the view of an address; names that are no field of it are ignored.

    Raises:
        ResultsError: There is no such policy of recipes.

    >>> from_query([("group", "math"), ("columns", "a"), ("columns", "b"), ("x", "2")]).to_query()
    'group=math&columns=a&columns=b'
    """
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        if value:
            found.setdefault(name, []).append(value)
    policy = _last(found, "recipes") or "shared"
    if policy not in get_args(Recipes):
        raise ResultsError(unknown("policy of recipes", policy, get_args(Recipes)))
    several = {name: tuple(dict.fromkeys(found.get(name, ()))) for name in SEVERAL}
    return View(
        **several,
        group=_last(found, "group"),
        protocol=_last(found, "protocol"),
        recipes=_policy(policy),
        era=_last(found, "era"),
        sort=_last(found, "sort"),
        reverse=_last(found, "reverse") in ("1", "true"),
        search=_last(found, "search"),
    )


def _policy(text: str) -> Recipes:
    return next(one for one in get_args(Recipes) if one == text)


def _last(found: Mapping[str, Sequence[str]], name: str) -> str:
    return found.get(name, [""])[-1]
