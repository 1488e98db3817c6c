"""A method's own training recipe: which runs have one, and how a row names what differs in it."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from results.record import Run


@dataclass(frozen=True)
class Try:
    """One recipe that a choice was made from; its test scores are not told."""

    recipe: str
    """The fields in which tries differ, as the command line writes them."""
    validation_loss: float | None
    """Mean over the seeds and folds that all tries have, in nats; None if it did not finish."""


@dataclass(frozen=True)
class Choice:
    """How the recipe of a row was chosen."""

    tries: int
    seeds: tuple[int, ...]
    """Those whose validation losses were compared."""
    tried: tuple[Try, ...]
    """The chosen one first, then by validation loss; fewer than `tries` where some were not run."""


_SETTING = re.compile(r",?train\.\w+=(?:\[[^\]]*\]|[^,\]]*)")


def is_trained(run: Run) -> bool:
    """Tell whether a run trained anything; the bare backbone, method `base`, did not.

    A run that ended before it counted its parameters tells by its method, which has fields.
    """
    if run.status == "finished":
        return run.trainable_parameters > 0
    return bool(run.spec.get("method", {}).get("fields", True))


def recipe(run: Run) -> str:
    """Give the hash of a run's recipe; an untrained run has none, whatever it was given."""
    return run.recipe if is_trained(run) else ""


def differing_fields(recipes: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Name the fields in which recipes differ, in the order of the first recipe.

    >>> differing_fields([{"lr": 0.001, "epochs": 3}, {"lr": 0.0002, "epochs": 3}])
    ('lr',)
    """
    found = list(recipes)
    names = dict.fromkeys(name for one in found for name in one)
    return tuple(name for name in names if len({written(one.get(name)) for one in found}) > 1)


def without_recipe(method: str) -> str:
    """Remove the settings of the recipe from the label of a method.

    >>> without_recipe("lora[r=64,train.lr=0.0002]"), without_recipe("lora[train.betas=[0.9,0.95]]")
    ('lora[r=64]', 'lora')
    """
    return _SETTING.sub("", method).replace("[,", "[").replace("[]", "")


def with_recipe(method: str, recipe: Mapping[str, Any], fields: Iterable[str]) -> str:
    """Add fields of the recipe to the label of a method, as the command line writes them.

    >>> with_recipe("lora[r=64]", {"lr": 0.0002, "schedule": "cosine"}, ["lr", "schedule"])
    'lora[r=64,train.lr=0.0002,train.schedule=cosine]'
    """
    name, _, rest = without_recipe(method).partition("[")
    settings = [*filter(None, [rest.removesuffix("]"), fields_written(recipe, fields)])]
    return f"{name}[{','.join(settings)}]" if settings else name


def fields_written(recipe: Mapping[str, Any], fields: Iterable[str]) -> str:
    """Write fields of a recipe as the command line does, as far as it has them."""
    return ",".join(
        f"train.{field}={written(recipe[field])}" for field in fields if field in recipe
    )


def written(value: Any) -> str:
    """Write a value as the command line reads it."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
