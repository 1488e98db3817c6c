"""What a visitor looks at, as the address says it: a frozen value, from a query and to a query."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args
from urllib.parse import quote, unquote, urlencode

from results.errors import ResultsError, nearest, unknown

Recipes = Literal["shared", "own", "validation"]
"""Whether the methods of a table share a recipe, each has its own, or the best of its own."""

Against = Literal["parameters", "time", "memory", "size"]
"""What a score is set against: trainable parameters, training time, peak memory, adapter size."""

Chart = Literal["trade-off", "scale", "training"]

DIGITS = 9
"""The most of the number of a page."""

SEVERAL = ("backbones", "methods", "columns")
"""Fields that an address may give more than once."""


def spelled(name: str) -> str:
    r"""Write a name so that a form and a script give it back: HTML has no control characters.

    `unquote` reads it; only names with such a character or % are changed.

    >>> spelled("lora[r=8]"), spelled("a\x00\n%")
    ('lora[r=8]', 'a%00%0A%25')
    """
    return "".join(one if one.isprintable() and one != "%" else quote(one) for one in name)


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
    published: str = ""
    """The name of a paper whose printed numbers stand below the rows; empty for none."""
    sort: str = ""
    """A column, or one of `rows.FACTS`; empty for the first average, the best first."""
    reverse: bool = False
    search: str = ""
    page: int = 1
    """Of its tables; 0 for all of them on one page, as files have them."""

    def to_query(self) -> str:
        """Write the view as the query of an address, without what is empty.

        >>> View(group="math", backbones=("a b", "c"), reverse=True).to_query()
        'group=math&backbones=a+b&backbones=c&reverse=1'
        """
        return urlencode(self.pairs())

    def shows(self, method: str, title: str) -> bool:
        """Say whether it shows a method; what it hides changes nothing of the others."""
        named = not self.methods or method in self.methods
        return named and self.search.casefold() in f"{title}\n{method}".casefold()

    def pairs(self) -> list[tuple[str, str]]:
        """List name and value of what is not empty."""
        default = View()
        return [
            (field.name, "1" if one is True else spelled(str(one)))
            for field in fields(self)
            if (value := getattr(self, field.name)) != getattr(default, field.name)
            for one in (value if isinstance(value, tuple) else (value,))
        ]


NAMES = {
    "group": "group",
    "backbones": "backbone of this group",
    "recipes": "policy of recipes",
    "methods": "method",
    "columns": "column",
    "protocol": "protocol of these tables",
    "era": "environment of these tables",
    "published": "paper with numbers in these columns",
    "sort": "column to sort by",
}
"""What a field of a view names."""


class WrongView(ResultsError):  # noqa: N818 (a mistake of the user, as its parent is)
    """An address that names what there is not."""

    def __init__(self, message: str, instead: View) -> None:
        super().__init__(message)
        self.instead = instead
        """The nearest view that there is."""


def check(view: View, known: Mapping[str, Collection[str]]) -> None:
    """Compare fields of a view with what they may name.

    Raises:
        WrongView: A field names something else; the message has all of them.
    """
    faults: list[str] = []
    right: dict[str, Any] = {}
    for field, names in known.items():
        value = getattr(view, field)
        asked = [value] if isinstance(value, str) else value
        wrong = [one for one in asked if one and one not in names]
        faults += [unknown(NAMES[field], one, names) for one in wrong]
        kept = tuple(nearest(one, names) or "" if one in wrong else one for one in asked)
        right[field] = kept[0] if isinstance(value, str) else tuple(filter(None, kept))
    if faults:
        raise WrongView("\n".join(faults), replace(view, **right))


@dataclass(frozen=True)
class Axes:
    """What a trade-off sets a score against, and which score; the default is the first average."""

    against: Against = "parameters"
    score: str = ""

    def pairs(self) -> list[tuple[str, str]]:
        """List name and value of what is not the default."""
        against = [("against", str(self.against))] if self.against != Axes.against else []
        return against + ([("score", spelled(self.score))] if self.score else [])


def axes_from_query(pairs: Iterable[tuple[str, str]]) -> Axes:
    """Read the axes of an address.

    Raises:
        ResultsError: A score is set against no such thing.

    >>> axes_from_query([("against", "time"), ("group", "math")])
    Axes(against='time', score='')
    """
    found = {name: value for name, value in pairs if value}
    asked = found.get("against", Axes.against)
    for against in get_args(Against):
        if against == asked:
            return Axes(against, unquote(found.get("score", "")))
    raise ResultsError(unknown("thing to set a score against", asked, get_args(Against)))


@dataclass(frozen=True)
class Versus:
    """Which two a comparison is of; what is empty of the second is that of the first."""

    group: str = ""
    backbone: str = ""
    protocol: str = ""
    recipes: Literal["shared", "own"] = "shared"
    first: str = ""
    second: str = ""
    """The methods, by the labels of tables."""
    second_backbone: str = ""
    second_protocol: str = ""

    def swapped(self) -> "Versus":
        """Put the second first."""
        return replace(
            self,
            first=self.second or self.first,
            second=self.first,
            backbone=self.second_backbone or self.backbone,
            second_backbone=self.second_backbone and self.backbone,
            protocol=self.second_protocol or self.protocol,
            second_protocol=self.second_protocol and self.protocol,
        )

    def to_query(self) -> str:
        """Write it as the query of an address, without what is empty.

        >>> Versus(group="math", first="lora", second="dypam").to_query()
        'group=math&first=lora&second=dypam'
        """
        default = Versus()
        pairs = ((field.name, getattr(self, field.name)) for field in fields(self))
        return urlencode([(k, spelled(v)) for k, v in pairs if v != getattr(default, k)])


def from_query(pairs: Iterable[tuple[str, str]]) -> View:
    """Read the view of an address; names that are no field of it are ignored.

    Raises:
        WrongView: There is no such policy of recipes, or a page is not a number.

    >>> from_query([("group", "math"), ("columns", "a"), ("columns", "b"), ("x", "2")]).to_query()
    'group=math&columns=a&columns=b'
    """
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        if value:
            found.setdefault(name, []).append(unquote(value))
    policies = get_args(Recipes)
    policy = _last(found, "recipes") or "shared"
    meant = policy if policy in policies else nearest(policy, policies)
    several = {name: tuple(dict.fromkeys(found.get(name, ()))) for name in SEVERAL}
    page = _last(found, "page") or "1"
    view = View(
        **several,
        group=_last(found, "group"),
        protocol=_last(found, "protocol"),
        recipes=next((one for one in policies if one == meant), "shared"),
        era=_last(found, "era"),
        published=_last(found, "published"),
        sort=_last(found, "sort"),
        reverse=_last(found, "reverse") in ("1", "true"),
        search=_last(found, "search"),
        page=int(page) if _is_number(page) else 1,
    )
    if policy not in policies:
        raise WrongView(unknown(NAMES["recipes"], policy, policies), view)
    if not _is_number(page):
        raise WrongView(f"{page[:20]!r} is not a page: please give a number.", view)
    return view


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= DIGITS


def _last(found: Mapping[str, Sequence[str]], name: str) -> str:
    return found.get(name, [""])[-1]
