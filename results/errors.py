"""Mistakes of the user, and how an unknown name is reported."""

import stat
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path


class ResultsError(Exception):
    """A mistake of the user; its message is the whole answer, without a traceback."""


KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def stands_in(path: Path) -> str | None:
    """Say what stands in the place of a file, such as "a FIFO"; None for a file, or for nothing.

    To open a FIFO would never return.

    Raises:
        OSError: The place cannot be looked at: the name is too long, or a folder is closed to you.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return "a link to nothing" if path.is_symlink() else None
    return KINDS.get(stat.S_IFMT(mode))


SYNONYMS = {
    "rank": "r",
    "alpha": "lora_alpha",
    "dropout": "lora_dropout",
    "learning_rate": "lr",
    "num_train_epochs": "epochs",
    "gradient_accumulation_steps": "accumulation_steps",
}
"""What other programs and papers call a field, by the name that it has here."""


def unknown(
    kind: str, name: str, known: Iterable[str], to_do: str = "", also: Iterable[str] = ()
) -> str:
    """Describe a name that is not one of the known ones, and suggest the one that is meant.

    The suggestion ignores case and the section of a setting, and knows synonyms. It may be one of
    `also`, names of another kind or files, which are not listed.

    >>> print(unknown("method", "LoRRA", ["dypam", "lora"]))
    'LoRRA' is not a known method. Did you mean 'lora'?
      Known: dypam, lora
    >>> print(unknown("setting", "learning_rate", ["train.epochs", "train.lr"]))
    'learning_rate' is not a known setting. Did you mean 'train.lr'?
      Known: train.epochs, train.lr
    """
    names = sorted(known)
    near = nearest(name, [*names, *also])
    suggestion = f" Did you mean {near!r}?" if near else ""
    lines = [
        f"{name!r} is not a known {kind}.{suggestion}",
        f"  Known: {', '.join(names) or 'none'}",
    ]
    if to_do:
        lines.append(f"  {to_do}")
    return "\n".join(lines)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Find the known name that was probably meant; letters that changed places come first.

    >>> nearest("Rank", ["r", "target_modules"]), nearest("pdf", ["csv", "latex"])
    ('r', None)
    >>> nearest("lroa", ["lora", "rosa"])  # which difflib finds equally near
    'lora'
    >>> nearest("legs", ["logs", "legs.py"])
    'legs.py'
    """
    by_lower = {one.lower(): one for one in sorted(known)}
    by_field = {lower.rpartition(".")[2]: one for lower, one in by_lower.items()}
    field = name.lower().rpartition(".")[2]
    for spelling in (name.lower(), field, SYNONYMS.get(field, field), f"{name.lower()}.py"):
        if found := by_lower.get(spelling) or by_field.get(spelling):
            return found
    # A long name that a stranger sends would take seconds to swap.
    is_as_long = len(name) in set(map(len, by_lower))
    swapped = [one for one in _swapped(name.lower()) if one in by_lower] if is_as_long else []
    close = swapped or get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[close[0]] if close else None


def _swapped(name: str) -> Iterator[str]:
    """Give the names in which two neighbouring letters have changed places."""
    for place in range(len(name) - 1):
        yield name[:place] + name[place + 1] + name[place] + name[place + 2 :]
